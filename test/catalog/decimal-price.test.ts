import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  compareDecimals,
  greatestDecimal,
  isZero,
  perToken,
} from "../../src/core/catalog/prices/decimal-price.ts";

describe("the price per token", () => {
  for (const [perMillion, expected] of [
    ["0", "0"],
    ["0.0", "0"],
    ["3.0", "0.000003"],
    ["2.50", "0.0000025"],
    ["0.15", "0.00000015"],
    ["30", "0.00003"],
    ["1000000", "1"],
    ["12345678.9", "12.3456789"],
    ["0.003625", "0.000000003625"],
    ["1e-7", "0.0000000000001"],
    ["2.5E1", "0.000025"],
    ["0.049999999999999996", "0.00000005"],
    ["0.09999999999999999", "0.0000001"],
    ["0.0000000000004", "0"],
  ] as const) {
    test(`is ${expected} for ${perMillion} per million tokens`, () =>
      expect(perToken(perMillion)).toBe(expected));
  }

  for (const wrong of ["", "-1", "1,5", "NaN", "1.", ".5", "0x10", " 1", "1e9999"]) {
    test(`is null for ${JSON.stringify(wrong)}, which is not a price`, () =>
      expect(perToken(wrong)).toBeNull());
  }

  test("times a million is exactly the price of the source", () => {
    const parts = fc.tuple(
      fc.bigInt({ min: 0n, max: 999_999n }),
      fc.bigInt({ min: 0n, max: 999_999_999_999n }),
    );
    fc.assert(
      fc.property(parts, ([whole, fraction]) => {
        const perMillion = `${whole}.${fraction.toString().padStart(12, "0")}`;
        const price = perToken(perMillion) as string;
        const [head = "", tail = ""] = price.split(".");
        expect(BigInt(head + tail.padEnd(18, "0"))).toBe(whole * 10n ** 12n + fraction);
        expect(price).toMatch(/^(?:0|[1-9]\d*)(?:\.\d*[1-9])?$/);
      }),
    );
  });
});

describe("decimal prices", () => {
  test("compare like the integers from which they are shifted", () => {
    const amount = fc.bigInt({ min: 0n, max: 10n ** 20n });
    fc.assert(
      fc.property(amount, amount, (a, b) => {
        const [x, y] = [perToken(a.toString()) as string, perToken(b.toString()) as string];
        expect(Math.sign(compareDecimals(x, y))).toBe(a < b ? -1 : a > b ? 1 : 0);
        expect(greatestDecimal([x, y])).toBe(a > b ? x : y);
      }),
    );
  });

  test("have no greatest one if there are none, and only 0 is zero", () => {
    expect(greatestDecimal([])).toBeNull();
    expect(isZero("0")).toBe(true);
    expect(isZero("0.000001")).toBe(false);
  });
});
