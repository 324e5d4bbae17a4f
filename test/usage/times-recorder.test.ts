import { describe, expect, test } from "bun:test";
import type { UsageRecord } from "../../src/core/usage/records/records.ts";
import { TimesRecorder } from "../../src/core/usage/reports/times-recorder.ts";
import type { HourTimes } from "../../src/core/usage/reports/usage-times.ts";
import { openUsageOf, usageOf } from "../storage/contracts/samples.ts";
import { turnEventLoop } from "../support/event-loop.ts";
import { createTestClock } from "../support/test-clock.ts";

function start() {
  const clock = createTestClock();
  const groups: (readonly HourTimes[])[] = [];
  let failure: Error | null = null;
  const store = {
    async addTimes(sums: readonly HourTimes[]) {
      if (failure !== null) throw failure;
      groups.push(sums);
    },
    readTimes: async () => [],
  };
  const fail = (error: Error | null) => {
    failure = error;
  };
  /** The saved number of times. */
  const countSaved = () =>
    groups.flat().reduce((sum, { times }) => sum + times.latency.reduce((all, one) => all + one, 0), 0);
  return { clock, recorder: new TimesRecorder({ store, clock }), groups, fail, countSaved };
}

const timedOf = (fields: Partial<UsageRecord> = {}) =>
  usageOf("gen_1", { createdAt: 1_000, firstTokenAt: 1_500, finishedAt: 3_000, ...fields }).record;

describe("the recorder of times", () => {
  test("saves the times of many records as one sum for each key and hour, a few seconds later", async () => {
    const { clock, recorder, groups, countSaved } = start();
    for (let n = 0; n < 50; n++) recorder.add([timedOf(), timedOf({ keyId: "key_b" })]);
    await turnEventLoop();
    expect(groups).toEqual([]);
    clock.advance(10_000);
    await turnEventLoop();
    expect(groups.map((group) => group.length)).toEqual([2]);
    expect(countSaved()).toBe(100);
    expect(clock.pendingTimers).toBe(0);
  });

  test("ignores open records and those without a first token, and the end of interrupted ones", async () => {
    const { recorder, groups } = start();
    recorder.add([openUsageOf("gen_2", { firstTokenAt: 1_500 }).record, timedOf({ firstTokenAt: null })]);
    await recorder.flush();
    expect(groups).toEqual([]);
    recorder.add([timedOf({ outcome: "interrupted" })]);
    await recorder.flush();
    const sums = groups
      .flat()
      .map(({ times }) => [times.latency, times.duration].map((all) => Math.max(...all)));
    expect(sums).toEqual([[1, 0]]);
  });

  test("keeps what the store does not take, together with what comes in the meantime", async () => {
    const { clock, recorder, fail, countSaved } = start();
    fail(new Error("away"));
    recorder.add([timedOf()]);
    clock.advance(10_000);
    await turnEventLoop();
    recorder.add([timedOf()]);
    expect(await recorder.flush().catch(String)).toContain("away");
    fail(null);
    clock.advance(10_000);
    await turnEventLoop();
    expect(countSaved()).toBe(2);
  });

  test("saves many sums in groups, and drops the times of further keys when it has too many", async () => {
    const { recorder, groups, countSaved } = start();
    recorder.add(Array.from({ length: 20_500 }, (_, n) => timedOf({ keyId: `key_${n}` })));
    recorder.add([timedOf({ keyId: "key_7" })]);
    await recorder.flush();
    expect(Math.max(...groups.map((group) => group.length))).toBe(100);
    expect(countSaved()).toBe(20_001);
  });
});
