import { describe, expect, test } from "bun:test";
import type { ProviderHealth, ProviderHistory } from "../../../src/console/api/schema.ts";
import {
  describeCounts,
  describeFailures,
  divideBar,
  fillBuckets,
  type History,
  listHistoryRows,
  printLasted,
  printSucceeded,
} from "../../../src/console/screens/health/history-rows.ts";

const counts = (succeeded: number, failed = 0, rate_limited = 0) => ({
  attempts: succeeded + failed + rate_limited,
  ...{ succeeded, failed, rate_limited, key_refused: 0, state: "ok" as const },
});

const outcomes = (provider: string, ...begins: readonly string[]): ProviderHistory => ({
  provider,
  total: counts(begins.length),
  buckets: begins.map((began_at) => ({ began_at, ...counts(1) })),
});

const history = (...data: ProviderHistory[]): History => ({
  ...{ range: "hour", from: "2026-11-30T10:00:00.000Z", to: "2026-11-30T10:03:30.000Z" },
  ...{ bucket_s: 60, bucket_count: 4, data },
});

describe("the history of providers on the health screen", () => {
  test("has the shown providers in their order, and then those that are no longer known", () => {
    const shown = [
      { provider: "openai", name: "OpenAI" },
      { provider: "groq", name: "Groq" },
    ] as ProviderHealth[];
    const rows = listHistoryRows(shown, history(outcomes("former"), outcomes("groq")));
    expect(rows.map(({ name, outcomes }) => [name, outcomes !== null])).toEqual([
      ["OpenAI", false],
      ["Groq", true],
      ["former", true],
    ]);
  });

  test("puts each bucket at its time, and leaves the others empty", () => {
    const one = outcomes("groq", "2026-11-30T10:01:00.000Z", "2026-11-30T10:03:00.000Z");
    expect(fillBuckets(history(one), one).map(({ attempts }) => attempts)).toEqual([0, 1, 0, 1]);
    expect(fillBuckets(history(), null).map(({ attempts }) => attempts)).toEqual([0, 0, 0, 0]);
  });
});

describe("the bar of a bucket", () => {
  test("has nothing without attempts, and only one part if all attempts ended in the same way", () => {
    expect(divideBar(counts(0))).toEqual({ succeeded: 0, limited: 0, failed: 0 });
    expect(divideBar(counts(9))).toEqual({ succeeded: 1, limited: 0, failed: 0 });
    expect(divideBar(counts(0, 9))).toEqual({ succeeded: 0, limited: 0, failed: 1 });
    expect(divideBar(counts(0, 0, 9))).toEqual({ succeeded: 0, limited: 1, failed: 0 });
  });

  test("shows one failure among many attempts", () => {
    const { succeeded, failed } = divideBar(counts(9_999, 1));
    expect(failed).toBeGreaterThan(0.1);
    expect(succeeded + failed).toBe(1);
  });
});

test("counts are described with the outcomes that occurred", () => {
  expect(describeCounts(counts(0))).toBe("No attempts");
  expect(describeCounts(counts(1))).toBe("1 attempt: 1 succeeded");
  expect(describeCounts(counts(1_200, 3, 4))).toBe(
    "1,207 attempts: 1,200 succeeded, 3 failed, 4 rate limited",
  );
});

test("only a provider without any failure has succeeded in 100 % of its attempts", () => {
  const print = (succeeded: number, failed: number) =>
    printSucceeded({ ...outcomes("x"), total: counts(succeeded, failed) });
  expect([print(5, 0), print(99_999, 1), print(94, 6), print(0, 3)]).toEqual([
    "100 %",
    "99.9 %",
    "94 %",
    "0 %",
  ]);
  expect(printSucceeded(null)).toBe("–");
});

test("an incident is described by its duration with units, and by what failed", () => {
  expect([45, 125, 11_880].map((duration_s) => printLasted({ duration_s }))).toEqual([
    "45 s",
    "2 min 5 s",
    "3 h 18 min",
  ]);
  const failures = [
    { error_type: "unavailable", status: 529, count: 1_240 },
    { error_type: "unavailable", status: null, count: 2 },
  ];
  expect(describeFailures({ failures })).toBe("1,240 × 529 unavailable, 2 × unavailable");
});
