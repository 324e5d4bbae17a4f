import { describe, expect, test } from "bun:test";
import {
  addDays,
  DAY_MS,
  dateOf,
  dayOf,
  formatDay,
  formatTime,
  midnightOf,
  monthOf,
  parseDay,
  weekOf,
} from "../../src/base/time/time.ts";

const lastOfFebruary = Date.UTC(2028, 1, 29, 23, 59, 59, 999);

describe("days and dates", () => {
  test("change at midnight UTC", () => {
    expect(dateOf(lastOfFebruary)).toBe("2028-02-29");
    expect(dateOf(lastOfFebruary + 1)).toBe("2028-03-01");
    expect(dayOf(lastOfFebruary + 1)).toBe(dayOf(lastOfFebruary) + 1);
    expect(midnightOf("2028-03-01")).toBe(lastOfFebruary + 1);
  });

  test("a day and its date convert into each other", () => {
    const day = dayOf(lastOfFebruary);
    expect(formatDay(day)).toBe("2028-02-29");
    expect(parseDay("2028-02-29")).toBe(day);
    expect(midnightOf(formatDay(day))).toBe(day * DAY_MS);
  });

  test("text that is not a day of the calendar as YYYY-MM-DD is no date", () => {
    for (const text of ["2027-02-29", "2027-02-30", "2027-13-01", "2027-1-1", "2027-01-01T00:00:00Z", ""])
      expect(parseDay(text)).toBeNull();
  });

  test("adding days crosses the ends of months and years in both directions", () => {
    expect(addDays("2028-02-28", 2)).toBe("2028-03-01");
    expect(addDays("2027-01-01", -1)).toBe("2026-12-31");
  });

  test("a month runs from its first to its last day, also in December", () => {
    const named = (ms: number) => {
      const { from, to } = monthOf(ms);
      return [formatDay(from), formatDay(to)];
    };
    expect(named(lastOfFebruary)).toEqual(["2028-02-01", "2028-02-29"]);
    expect(named(Date.UTC(2027, 11, 31))).toEqual(["2027-12-01", "2027-12-31"]);
  });

  test("a week runs from Monday to Sunday, also over the ends of years", () => {
    for (const day of ["2026-12-28", "2026-12-31", "2027-01-01", "2027-01-03"]) {
      const { from, to } = weekOf(Date.parse(`${day}T23:59:59.999Z`));
      expect([formatDay(from), formatDay(to)]).toEqual(["2026-12-28", "2027-01-03"]);
    }
    expect(formatDay(weekOf(Date.parse("2027-01-04T00:00:00Z")).from)).toBe("2027-01-04");
  });

  test("a time is formatted as RFC 3339 in UTC, and null stays null", () => {
    expect(formatTime(lastOfFebruary)).toBe("2028-02-29T23:59:59.999Z");
    expect(formatTime(null)).toBeNull();
  });
});
