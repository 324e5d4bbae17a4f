import { describe, expect, test } from "bun:test";
import { HOUR_MS, parseDay } from "../../src/base/time/time.ts";
import { TimeZone } from "../../src/base/time/time-zone.ts";

const zoneOf = (name: string) => TimeZone.find(name) as TimeZone;
const dayOf = (date: string) => parseDay(date) ?? Number.NaN;
const startOf = (name: string, date: string) => new Date(zoneOf(name).startOf(dayOf(date))).toISOString();

describe("a time zone", () => {
  test.each([
    ["Europe/Berlin", "2027-01-31", "2027-01-30T23:00:00.000Z"],
    ["Europe/Berlin", "2027-07-01", "2027-06-30T22:00:00.000Z"],
    // Summer time begins in the night of the 28th.
    ["Europe/Berlin", "2027-03-28", "2027-03-27T23:00:00.000Z"],
    ["Europe/Berlin", "2027-03-29", "2027-03-28T22:00:00.000Z"],
    ["America/Los_Angeles", "2027-11-07", "2027-11-07T07:00:00.000Z"],
    ["America/Los_Angeles", "2027-11-08", "2027-11-08T08:00:00.000Z"],
    ["Asia/Kolkata", "2027-01-31", "2027-01-30T18:30:00.000Z"],
    ["Pacific/Kiritimati", "2027-01-31", "2027-01-30T10:00:00.000Z"],
    ["UTC", "2027-01-31", "2027-01-31T00:00:00.000Z"],
  ])("%s begins the day %s at %s", (name, date, time) => {
    expect(startOf(name, date)).toBe(time);
    const ms = Date.parse(time);
    expect([zoneOf(name).dayOf(ms), zoneOf(name).dayOf(ms - 1)]).toEqual([dayOf(date), dayOf(date) - 1]);
  });

  test("lists the offsets of a year, with the hours in which they change", () => {
    const from = Date.parse("2027-01-01T00:00:00Z");
    const to = Date.parse("2028-01-01T00:00:00Z");
    expect(zoneOf("Europe/Berlin").listOffsets(from, to)).toEqual([
      { fromMs: from, minutes: 60 },
      { fromMs: Date.parse("2027-03-28T01:00:00Z"), minutes: 120 },
      { fromMs: Date.parse("2027-10-31T01:00:00Z"), minutes: 60 },
    ]);
    expect(zoneOf("Asia/Kolkata").listOffsets(from + 1, to)).toEqual([{ fromMs: from, minutes: 330 }]);
    expect(zoneOf("America/St_Johns").listOffsets(from, from + HOUR_MS)).toEqual([
      { fromMs: from, minutes: -210 },
    ]);
  });

  test("is not found by a name that is none", () => {
    for (const name of ["", "Nowhere/Here", "+02:00", "Europe/Berlin; DROP", "x".repeat(80)])
      expect(TimeZone.find(name)).toBeNull();
  });
});
