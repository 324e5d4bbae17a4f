import { expect, test } from "bun:test";
import { firstDayOf, spentInPeriod } from "../../../../src/console/screens/keys/spent-in-period.ts";

/** A Wednesday. */
const NOW = Date.parse("2026-11-04T12:00:00Z");
const days = [
  { day: "2026-10-31", cost_nanodollars: 1 },
  { day: "2026-11-01", cost_nanodollars: 10 },
  { day: "2026-11-02", cost_nanodollars: 100 },
  { day: "2026-11-04", cost_nanodollars: 1_000 },
];

test("what was spent with a key is that of the day, the week from Monday, the month, or its lifetime, in UTC", () => {
  const spent = (spend_limit_period: "day" | "week" | "month" | "total") =>
    spentInPeriod({ spend_limit_period, usage_nanodollars: 7 }, days, NOW);
  expect([spent("day"), spent("week"), spent("month"), spent("total")]).toEqual([1_000, 1_100, 1_110, 7]);
  expect(firstDayOf("week", Date.parse("2026-11-01T23:59:59Z"))).toBe("2026-10-26");
});

test("what was spent in a period is not known before the usage is there", () => {
  expect(spentInPeriod({ spend_limit_period: "day", usage_nanodollars: 7 }, null, NOW)).toBeNull();
});
