import { describe, expect, test } from "bun:test";
import { WaitList } from "../../src/base/collections/wait-list.ts";
import { createTestClock } from "../support/test-clock.ts";

function createList() {
  const clock = createTestClock();
  const expired: string[] = [];
  const list = new WaitList(clock, 1_000);
  return { clock, expired, list, begin: (name: string) => list.begin(() => expired.push(name)) };
}

describe("a list of waits", () => {
  test("expires the waits whose time is over, and no other", () => {
    const { clock, expired, begin } = createList();
    begin("first");
    clock.advance(400);
    begin("second").end();
    begin("third");
    clock.advance(600);
    expect(expired).toEqual(["first"]);
    clock.advance(399);
    expect(expired).toEqual(["first"]);
    clock.advance(1);
    expect(expired).toEqual(["first", "third"]);
  });

  test("counts the time of a restarted wait from its restart", () => {
    const { clock, expired, begin } = createList();
    const wait = begin("restarted");
    begin("other");
    clock.advance(999);
    wait.restart();
    clock.advance(1);
    expect(expired).toEqual(["other"]);
    clock.advance(999);
    expect(expired).toEqual(["other", "restarted"]);
  });

  test("runs one timer however many waits there are, and none once they have ended", () => {
    const { clock, begin } = createList();
    const waits = Array.from({ length: 100 }, (_, i) => begin(String(i)));
    expect(clock.pendingTimers).toBe(1);
    for (const wait of waits) wait.end();
    clock.advance(1_000);
    expect(clock.pendingTimers).toBe(0);
  });

  test("expires its longest wait on request", () => {
    const { expired, list, begin } = createList();
    const first = begin("first");
    begin("second");
    first.restart();
    list.expireLongest();
    expect(expired).toEqual(["second"]);
    expect(list.size).toBe(1);
  });
});
