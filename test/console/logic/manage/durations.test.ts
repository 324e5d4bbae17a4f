import { describe, expect, test } from "bun:test";
import { chooseUnit, fromUnit, toUnit } from "../../../../src/console/parts/values/duration-units.ts";
import { printSeconds } from "../../../../src/console/parts/values/print-seconds.ts";

describe("a duration with a unit", () => {
  test.each([
    ["2592000", "days", "30"],
    ["5400", "minutes", "90"],
    ["7200", "hours", "2"],
    ["61", "seconds", "61"],
    ["", "days", ""],
  ] as const)("%p seconds are shown in %p as %p, and read back", (seconds, unit, shown) => {
    expect(chooseUnit(seconds)).toBe(unit);
    expect(toUnit(seconds, unit)).toBe(shown);
    expect(fromUnit(shown, unit)).toBe(seconds);
  });

  test("a fraction of a unit is a whole number of seconds, and what is no number stays as typed", () => {
    expect(fromUnit("1.5", "hours")).toBe("5400");
    expect(fromUnit("0.1", "minutes")).toBe("6");
    expect(fromUnit(" soon ", "days")).toBe("soon");
  });

  test("seconds are printed in their largest whole unit", () => {
    expect([86_400, 172_800, 3_600, 90, 1].map(printSeconds)).toEqual([
      "1 day",
      "2 days",
      "1 hour",
      "90 seconds",
      "1 second",
    ]);
  });
});
