import { expect, test } from "bun:test";
import { nextTurn } from "../../src/base/time/next-turn.ts";
import { afterTurn, endOfTurn } from "../../src/base/time/turn-end.ts";

test("requests that wait for the end of a turn go on together, and what they ask for follows in the same turn", async () => {
  const steps: string[] = [];
  const request = async (name: string) => {
    await endOfTurn();
    steps.push(`${name} begins`);
    await null;
    steps.push(`${name} goes on`);
    afterTurn(() => steps.push(`written for ${name}`));
  };
  void request("a");
  void request("b");
  // Behind both in the same turn, because it was asked for later.
  await nextTurn();
  expect(steps).toEqual(["a begins", "b begins", "a goes on", "b goes on", "written for a", "written for b"]);
});

test("a request that waits again while others go on does so at the end of the next turn, and what it asks for follows it", async () => {
  const steps: string[] = [];
  const first = endOfTurn();
  await first;
  afterTurn(() => steps.push("written in the first turn"));
  const second = endOfTurn();
  expect(second).not.toBe(first);
  await second;
  steps.push("goes on in the second");
  afterTurn(() => steps.push("written in the second"));
  await nextTurn();
  expect(steps).toEqual(["written in the first turn", "goes on in the second", "written in the second"]);
});

test("work is done at the end of the turn also if no request waits", async () => {
  let isDone = false;
  afterTurn(() => {
    isDone = true;
  });
  expect(isDone).toBe(false);
  await nextTurn();
  expect(isDone).toBe(true);
});
