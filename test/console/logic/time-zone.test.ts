import { afterEach, describe, expect, test } from "bun:test";
import {
  formatAxisTime,
  formatDate,
  formatExactTime,
  formatIsoTime,
  formatListTime,
  formatMinute,
  formatSpan,
} from "../../../src/console/parts/values/format.ts";
import {
  beginOfDay,
  browserZone,
  chooseZone,
  dateOf,
  nameOffset,
  offsetOf,
} from "../../../src/console/state/time-zone.ts";

const NOON = Date.UTC(2026, 6, 1, 12);
const HOUR_MS = 3_600_000;

afterEach(() => chooseZone("browser"));

describe("the time zone of the console", () => {
  test("the distance from UTC follows summer time, half hours and zones behind UTC", () => {
    const winter = Date.UTC(2026, 0, 1);
    expect(
      [
        ["Europe/Berlin", winter],
        ["Europe/Berlin", NOON],
        ["Asia/Kolkata", NOON],
        ["America/St_Johns", winter],
        ["UTC", NOON],
      ].map(([name, at]) => offsetOf(at as number, name as string)),
    ).toEqual([60, 120, 330, -210, 0]);
  });

  test("every text of a time is in UTC after UTC is chosen, and names it", () => {
    chooseZone("utc");
    expect(nameOffset(NOON)).toBe("UTC");
    expect(formatExactTime(NOON + 45)).toBe("1 Jul 2026, 12:00:00.045 UTC");
    expect(formatMinute(NOON)).toBe("1 Jul 2026, 12:00");
    expect(formatListTime(NOON, NOON + HOUR_MS)).toBe("12:00:00");
    expect(formatListTime(NOON, NOON + 13 * HOUR_MS)).toBe("1 Jul 12:00");
    expect(formatListTime(NOON, Date.UTC(2027, 6, 1, 13))).toBe("1 Jul 12:00");
    expect(formatSpan(NOON, NOON + HOUR_MS)).toBe("1 Jul, 12:00 – 13:00");
    expect(formatSpan(NOON, NOON + 13 * HOUR_MS)).toBe("1 Jul, 12:00 – 2 Jul, 01:00");
    expect(formatAxisTime(NOON, HOUR_MS)).toBe("12:00");
    expect(formatIsoTime(NOON)).toBe("2026-07-01T12:00:00.000Z");
  });

  test("a time for a file is the same moment in every zone", () => {
    for (const zone of ["browser", "utc"] as const) {
      chooseZone(zone);
      expect(Date.parse(formatIsoTime(NOON + 7))).toBe(NOON + 7);
    }
    expect(browserZone).not.toBe("");
  });

  test("a date of a report is the same date in every zone", () => {
    expect(formatDate(Date.UTC(2026, 6, 1))).toBe("1 Jul");
    expect(dateOf(NOON)).toBe("2026-07-01");
    expect(beginOfDay(dateOf(NOON))).toBeLessThanOrEqual(NOON);
  });
});
