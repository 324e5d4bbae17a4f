import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  formatDollars,
  formatNanodollars,
  parseDollars,
  printDollars,
} from "../../src/base/numbers/money.ts";

describe("an amount of dollars", () => {
  test.each<[string | number, number]>([
    ["12.50", 12_500_000_000],
    [12.5, 12_500_000_000],
    ["0.000000001", 1],
    [1e-9, 1],
    [1.5e-8, 15],
    [0.1, 100_000_000],
    [0.3, 300_000_000],
    ["-3", -3_000_000_000],
    [-0.25, -250_000_000],
    ["0", 0],
    ["9000000", 9_000_000_000_000_000],
    ["007", 7_000_000_000],
  ])("%p is read to the nanodollar", (amount, nanodollars) => {
    expect(parseDollars(amount)).toBe(nanodollars);
  });

  test.each<[string | number]>([
    ["0.0000000001"],
    [1e-10],
    [0.1 + 0.2],
    ["1e3"],
    [1e21],
    ["9999999.999999999"],
    ["10000000"],
    [""],
    [" 1"],
    ["1."],
    [".5"],
    ["+1"],
    ["--1"],
    ["1,50"],
    ["0x10"],
    [Number.NaN],
    [Number.POSITIVE_INFINITY],
  ])("%p is none that can be kept exactly", (amount) => {
    expect(parseDollars(amount)).toBeNull();
  });

  test("is formatted as it was parsed", () => {
    fc.assert(
      fc.property(fc.integer({ min: -9e15, max: 9e15 }), (nanodollars) => {
        expect(parseDollars(formatDollars(nanodollars))).toBe(nanodollars === 0 ? 0 : nanodollars);
      }),
    );
  });

  test("in a sentence has all digits, and at least two places", () => {
    expect([0, 5e9, 1.5e9, 30_000, 1, -2_250_000_000].map(printDollars)).toEqual([
      "$0.00",
      "$5.00",
      "$1.50",
      "$0.00003",
      "$0.000000001",
      "-$2.25",
    ]);
  });

  test("in attodollars is formatted with all digits", () => {
    expect(formatNanodollars(1_500_000_000n)).toBe("1.5");
    expect(formatNanodollars(3n)).toBe("0.000000003");
    expect(formatNanodollars(7_000_000_000n)).toBe("7");
  });
});
