import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { formatPrice, parsePrice } from "../../src/base/numbers/money.ts";
import { ExactCost, type MaxCost, QuickCost } from "../../src/core/catalog/prices/max-cost.ts";
import { priceAtMost } from "../../src/core/catalog/prices/price-usage.ts";
import type { Prices } from "../../src/core/catalog/records/records.ts";

const PICO = 1_000_000n;
/** The largest sum in picodollars. */
const MOST = 9_000_000_000_000_000;

/** Numbers of every magnitude up to a bound, and often the largest of its magnitude. */
function upTo(max: number): fc.Arbitrary<number> {
  return fc.integer({ min: 0, max: Math.ceil(Math.log2(max)) }).chain((bits) => {
    const most = Math.min(max, 2 ** bits);
    return fc.oneof(fc.integer({ min: 0, max: most }), fc.constantFrom(most, most - 1));
  });
}

const tokens = upTo(100_000_000);
/** Nanodollars. */
const amount = fc.oneof(upTo(Number.MAX_SAFE_INTEGER), fc.constantFrom(Number.POSITIVE_INFINITY, -5));
/** Prices of whole picodollars up to a thousand dollars, finer ones, and ones for which no sum of picodollars has room. */
const price = fc.oneof(
  { weight: 6, arbitrary: upTo(1e15).map((pico) => formatPrice(BigInt(pico) * PICO)) },
  { weight: 1, arbitrary: fc.bigInt({ min: 0n, max: 10n ** 19n }).map(formatPrice) },
  { weight: 1, arbitrary: fc.constantFrom("0", "999999999999", "0.000000000001", "0.000000000000000001") },
);
const prices = fc.record<Prices>(
  { prompt: price, completion: price, cacheWrite: price, audioIn: price, reasoning: price, request: price },
  { requiredKeys: ["prompt", "completion"] },
);

function highest(...texts: readonly (string | undefined)[]): bigint {
  const values = texts.map((text) => parsePrice(text ?? "0") as bigint);
  return values.reduce((a, b) => (b > a ? b : a));
}

/** Returns the maximum cost by the definition of its prices. */
function exactCost(
  { prompt, completion, cacheWrite, audioIn, reasoning, request }: Prices,
  counted: { readonly promptTokens: number; readonly fileTokens: number },
): ExactCost {
  const ofText = BigInt(counted.promptTokens) * highest(prompt, cacheWrite);
  const ofFiles = BigInt(counted.fileTokens) * highest(prompt, cacheWrite, audioIn);
  return new ExactCost(ofText + ofFiles + highest(request), highest(completion, reasoning));
}

function expectSame(one: MaxCost, other: MaxCost, most: number, amounts: readonly number[]): void {
  expect(one.at(most)).toBe(other.at(most));
  for (const paid of amounts) expect(one.tokensWithin(paid, most)).toBe(other.tokensWithin(paid, most));
}

describe("the maximum cost of a request", () => {
  test("is exact for any prices, and so are the tokens that an amount covers", () => {
    const counts = fc.record({ promptTokens: tokens, fileTokens: tokens });
    const cases = fc.array(fc.tuple(tokens, amount), { minLength: 1, maxLength: 5 });
    let quick = 0;
    fc.assert(
      fc.property(prices, counts, cases, (listed, counted, asked) => {
        const endpoint = {
          ...{ provider: "acme", name: "model", contextLength: 1, maxOutputTokens: null },
          prices: listed,
        };
        const prompt = { ...counted, images: 0, searches: 0, searchContext: null };
        const cost = priceAtMost(endpoint, prompt, 0);
        if (cost instanceof QuickCost) quick += 1;
        for (const [most, paid] of asked) expectSame(cost, exactCost(listed, counted), most, [paid]);
      }),
      { numRuns: 3_000 },
    );
    expect(quick).toBeGreaterThan(300);
  });

  test("is exact at every amount near what it costs", () => {
    fc.assert(
      fc.property(upTo(1e12), upTo(1e9), upTo(1_000_000), (fixed, perToken, most) => {
        const exact = new ExactCost(BigInt(fixed) * PICO, BigInt(perToken) * PICO);
        const near = exact.at(most);
        expectSame(new QuickCost(fixed, perToken), exact, most, [near - 1, near, near + 1]);
      }),
      { numRuns: 3_000 },
    );
  });

  test("is exact near and above the largest sum of picodollars", () => {
    const near = fc.integer({ min: 0, max: 5_000 }).map((less) => MOST - less);
    fc.assert(
      fc.property(near, upTo(10_000), upTo(10_000), (fixed, perToken, most) => {
        const exact = new ExactCost(BigInt(fixed) * PICO, BigInt(perToken) * PICO);
        const amounts = [MOST / 1_000, Math.floor(fixed / 1_000), Math.ceil(fixed / 1_000) + 1];
        expectSame(new QuickCost(fixed, perToken), exact, most, amounts);
      }),
      { numRuns: 3_000 },
    );
  });
});
