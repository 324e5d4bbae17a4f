import { describe, expect, test } from "bun:test";
import type { UsageLine } from "../../../src/console/api/schema.ts";
import {
  cachedShare,
  changeOf,
  sumLines,
  sumMargins,
  trendsOf,
  valuesByGroup,
  valuesByStep,
} from "../../../src/console/screens/usage/usage-lines.ts";
import {
  countDays,
  listSteps,
  parseUsageView,
  periodOf,
  previousPeriod,
  printPeriod,
  requestsLink,
} from "../../../src/console/screens/usage/usage-view.ts";

const NOW = Date.parse("2026-11-23T10:00:00Z");

const line = (changes: Partial<UsageLine>): UsageLine => ({
  requests: 0,
  errors: 0,
  tokens_prompt: 0,
  tokens_completion: 0,
  tokens_cached: 0,
  tokens_cache_write: 0,
  tokens_reasoning: 0,
  cost: 0,
  cost_nanodollars: 0,
  upstream_cost: 0,
  upstream_cost_nanodollars: 0,
  cache_saved: 0,
  cache_saved_nanodollars: 0,
  answers_saved: 0,
  answers_saved_nanodollars: 0,
  provider_cost: null,
  provider_cost_nanodollars: null,
  margin: null,
  margin_nanodollars: null,
  latency_ms: null,
  duration_ms: null,
  ...changes,
});

describe("the address of the usage screen", () => {
  test("an address without a query shows the cost of the last 30 days by model, compared with the days before", () => {
    expect(parseUsageView({}, NOW)).toEqual({
      range: "30d",
      period: { step: "day", from: "2026-10-25", to: "2026-11-23" },
      isRunning: true,
      by: "model",
      metric: "cost",
      isCompared: true,
      isSplit: false,
      filters: {},
      account: null,
      order: "-cost",
    });
  });

  test("values that do not exist count as absent", () => {
    const view = parseUsageView({ range: "own", by: "weather", metric: "mood", from: "x", to: "y" }, NOW);
    expect(view).toEqual(parseUsageView({}, NOW));
  });

  test("an own range is taken if its days exist, are in order, and are at most 366", () => {
    const own = (from: string, to: string) => parseUsageView({ from, to }, NOW).range;
    expect(own("2026-02-01", "2026-02-28")).toBe("own");
    expect(own("2026-02-01", "2026-02-30")).toBe("30d");
    expect(own("2026-02-02", "2026-02-01")).toBe("30d");
    expect(own("2024-01-01", "2024-12-31")).toBe("own");
    expect(own("2024-01-01", "2025-01-01")).toBe("30d");
  });

  test("the present month begins on its first day", () => {
    expect(periodOf("month", NOW)).toEqual({ step: "day", from: "2026-11-01", to: "2026-11-23" });
  });

  test("the last month has all of its days, also in January", () => {
    expect(periodOf("last-month", NOW)).toEqual({ step: "day", from: "2026-10-01", to: "2026-10-31" });
    const january = Date.parse("2027-01-05T12:00:00Z");
    expect(periodOf("last-month", january)).toEqual({ step: "day", from: "2026-12-01", to: "2026-12-31" });
  });

  test("the period before has as many days and ends the day before", () => {
    const range = { step: "day", from: "2026-03-01", to: "2026-03-31" } as const;
    const before = previousPeriod(range);
    expect(before).toEqual({ step: "day", from: "2026-01-29", to: "2026-02-28" });
    expect(countDays(before)).toBe(countDays(range));
    expect(listSteps(before).at(-1)).toBe("2026-02-28");
  });

  test("the range of 24 hours ends with the present hour, and is compared with the 24 hours before", () => {
    const { period } = parseUsageView({ range: "24h" }, NOW + 1_000);
    expect(period).toEqual({
      step: "hour",
      from: "2026-11-22T11:00:00.000Z",
      to: "2026-11-23T11:00:00.000Z",
    });
    expect(printPeriod(period)).toBe("22 Nov 2026, 11:00 – 23 Nov 2026, 11:00");
    const hours = listSteps(period);
    expect([hours.length, hours[0], hours.at(-1)]).toEqual([24, period.from, "2026-11-23T10:00:00.000Z"]);
    expect(previousPeriod(period)).toEqual({
      step: "hour",
      from: "2026-11-21T11:00:00.000Z",
      to: period.from,
    });
  });

  test("an outcome leads to the requests that ended so, and an error to those that failed with it", () => {
    const view = parseUsageView({ by: "outcome", range: "24h" }, NOW);
    const searchOf = (id: string) =>
      Object.fromEntries(new URL(requestsLink(view, id) ?? "", "http://localhost").searchParams);
    const range = { from: "2026-11-22T11:00:00.000Z", to: "2026-11-23T11:00:00.000Z" };
    expect(searchOf("cancelled")).toEqual({ ...range, outcome: "cancelled" });
    expect(searchOf("upstream_error")).toEqual({ ...range, error_type: "upstream_error" });
  });

  test("a line of the table leads to the requests of its group in the same days and account", () => {
    const view = parseUsageView({ by: "key", account: "org_1", from: "2026-11-01", to: "2026-11-02" }, NOW);
    const link = new URL(requestsLink(view, "key_1") ?? "", "http://localhost");
    expect(link.pathname).toBe("/console/requests");
    expect(Object.fromEntries(link.searchParams)).toEqual({
      from: "2026-11-01T00:00:00.000Z",
      to: "2026-11-03T00:00:00.000Z",
      account_id: "org_1",
      key_id: "key_1",
    });
    expect(requestsLink(view, null)).toBeNull();
  });

  test("a filter of the screen also holds for the requests that a line leads to", () => {
    const view = parseUsageView({ by: "provider", model: "openai/gpt-5", split: "yes" }, NOW);
    expect(view).toMatchObject({ filters: { model: "openai/gpt-5" }, isSplit: true });
    const link = new URL(requestsLink(view, "azure") ?? "", "http://localhost");
    expect(Object.fromEntries(link.searchParams)).toMatchObject({ model: "openai/gpt-5", provider: "azure" });
  });
});

describe("tags on the usage screen", () => {
  test("a line leads to the requests with its tag, except that of tags which are counted together", () => {
    const view = parseUsageView({ by: "tag", tag: "team a" }, NOW);
    expect(view).toMatchObject({ by: "tag", filters: { tag: "team a" } });
    const link = new URL(requestsLink(view, "job-7") ?? "", "http://localhost");
    expect(Object.fromEntries(link.searchParams)).toMatchObject({ tag: "job-7" });
    expect(requestsLink(view, "(other)")).toBeNull();
    expect(requestsLink(view, null)).toBeNull();
  });
});

describe("the numbers of the usage screen", () => {
  test("the margin is the sum of lines, and unknown if a line does not tell it", () => {
    expect(sumMargins([line({ margin_nanodollars: 5 }), line({ margin_nanodollars: -7 })])).toBe(-2);
    expect(sumMargins([line({ margin_nanodollars: 5 }), line({})])).toBeNull();
    expect(sumMargins([])).toBe(0);
  });

  test("lines add up, and the cached share is that of all prompt tokens", () => {
    const total = sumLines([
      line({ requests: 2, tokens_prompt: 100, tokens_cached: 50, cost_nanodollars: 7 }),
      line({ requests: 1, tokens_prompt: 300, tokens_cached: 0, cost_nanodollars: 5 }),
    ]);
    expect(total).toMatchObject({ requests: 3, cost_nanodollars: 12 });
    expect(cachedShare(total)).toBe(0.125);
    expect(cachedShare(sumLines([]))).toBeNull();
  });

  test("a day without requests has a cost of 0 and no cached share", () => {
    const lines = [line({ day: "2026-11-02", cost_nanodollars: 4, tokens_prompt: 10, tokens_cached: 5 })];
    const days = ["2026-11-01", "2026-11-02"];
    expect(valuesByStep(lines, days, "cost")).toEqual([0, 4]);
    expect(valuesByStep(lines, days, "cached")).toEqual([null, 0.5]);
  });

  test("the largest five groups have a line of their own, and all others one together", () => {
    const cells = Array.from({ length: 7 }, (_, i) =>
      line({ day: "2026-11-01", model: `m${i}`, requests: i + 1, cost_nanodollars: 10 * (i + 1) }),
    );
    const groups = valuesByGroup(cells, ["2026-11-01", "2026-11-02"], { by: "model", metric: "cost" });
    expect(groups.map(({ id, values }) => [id, values])).toEqual([
      ["m6", [70, 0]],
      ["m5", [60, 0]],
      ["m4", [50, 0]],
      ["m3", [40, 0]],
      ["m2", [30, 0]],
      [null, [30, 0]],
    ]);
    expect(groups.at(-1)?.isRest).toBe(true);
    expect(trendsOf(cells, ["2026-11-01", "2026-11-02"], "model").get("m6")).toEqual([70, 0]);
  });

  test("times are percentiles of their hour, and hours without requests have none", () => {
    const times = { p50: 10, p90: 20, p99: 30 };
    const [first, second] = ["2026-11-01T10:00:00.000Z", "2026-11-01T11:00:00.000Z"] as const;
    const lines = [line({ hour: second, model: "m", requests: 2, latency_ms: times, duration_ms: null })];
    expect(valuesByStep(lines, [first, second], "latency")).toEqual([null, 20]);
    expect(valuesByStep(lines, [first, second], "duration")).toEqual([null, null]);
    const cells = Array.from({ length: 7 }, (_, i) =>
      line({ hour: first, model: `m${i}`, requests: i + 1, latency_ms: { ...times, p90: i } }),
    );
    const groups = valuesByGroup(cells, [first], { by: "model", metric: "latency" });
    expect(groups.map(({ id, values }) => [id, ...values])).toEqual([6, 5, 4, 3, 2].map((i) => [`m${i}`, i]));
  });

  test("outcomes without errors have no line in a chart of errors", () => {
    const cells = [
      line({ day: "2026-11-01", outcome: "completed", requests: 9 }),
      line({ day: "2026-11-01", outcome: "upstream_error", requests: 2, errors: 2 }),
    ];
    const groups = valuesByGroup(cells, ["2026-11-01"], { by: "outcome", metric: "errors" });
    expect(groups.map(({ id, values }) => [id, values])).toEqual([["upstream_error", [2]]]);
  });

  test("a change is a share of what was before, and none if there was nothing", () => {
    expect(changeOf(10, 15)).toBe(0.5);
    expect(changeOf(10, 0)).toBe(-1);
    expect(changeOf(0, 5)).toBeNull();
    expect(changeOf(null, 5)).toBeNull();
  });
});
