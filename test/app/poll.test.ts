import { expect, test } from "bun:test";
import { Poll } from "../../src/app/watch/poll.ts";
import { createTestClock } from "../support/test-clock.ts";

const PERIOD_MS = 500;

function startPoll() {
  const clock = createTestClock();
  const calls: PromiseWithResolvers<void>[] = [];
  const results: string[] = [];
  const poll = new Poll({
    clock,
    periodMs: PERIOD_MS,
    call() {
      const call = Promise.withResolvers<void>();
      calls.push(call);
      return call.promise;
    },
    onSuccess: () => results.push("success"),
    onFailure: (error) => results.push((error as Error).message),
  });
  return { clock, calls, results, poll };
}

test("a poll without a result counts as failed after two seconds, and in each period from then on", () => {
  const { clock, calls, results } = startPoll();
  clock.advance(PERIOD_MS);
  clock.advance(1_999);
  expect(results).toEqual([]);
  clock.advance(1);
  clock.advance(PERIOD_MS);
  expect(results).toEqual(["it has not answered for 2000 ms", "it has not answered for 2500 ms"]);
  expect(calls).toHaveLength(1);
});

test("a late result of a poll counts", async () => {
  const { clock, calls, results } = startPoll();
  clock.advance(PERIOD_MS + 2_000);
  calls[0]?.resolve();
  await calls[0]?.promise;
  await Promise.resolve();
  expect(results).toEqual(["it has not answered for 2000 ms", "success"]);
});

test("a poll that was in progress while the process was suspended is not late when the process wakes up", () => {
  const { clock, results } = startPoll();
  clock.advance(PERIOD_MS);
  clock.leap(3_600_000);
  expect(results).toEqual([]);
});

test("a poll that is asked for during a call is made once more after it", async () => {
  const { calls, poll } = startPoll();
  poll.callNow();
  poll.callNow();
  poll.callNow();
  expect(calls).toHaveLength(1);
  calls[0]?.resolve();
  await new Promise(setImmediate);
  expect(calls).toHaveLength(2);
});
