import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { roundToNanodollars } from "../../src/base/numbers/money.ts";
import { listPriceLines, priceTokens } from "../../src/core/catalog/prices/price-usage.ts";
import type { ModelEndpoint, Prices } from "../../src/core/catalog/records/records.ts";
import { NO_TOKENS, type TokenUsage } from "../../src/wire/conversation/usage.ts";
import { priceAt, priceUsage } from "../support/price-usage.ts";

const NOW = Date.parse("2026-07-01T12:00:00Z");

const PLAIN: ModelEndpoint = {
  provider: "acme",
  name: "model",
  contextLength: 100_000,
  maxOutputTokens: null,
  prices: { prompt: "0.000001", completion: "0.000004" },
};

const EVERY_KIND: ModelEndpoint = {
  ...PLAIN,
  prices: {
    prompt: "0.000001",
    completion: "0.000004",
    cacheRead: "0.0000001",
    cacheWrite: "0.00000125",
    cacheWrite1h: "0.000002",
    audioIn: "0.00001",
    audioOut: "0.00002",
    reasoning: "0.000003",
    request: "0.001",
  },
};

describe("the price of a generation, in nanodollars", () => {
  test("each kind of token is charged at its own price, and the request at its price", () => {
    const usage = {
      ...NO_TOKENS,
      promptTokens: 1000,
      cachedTokens: 400,
      cacheWriteTokens: 300,
      cacheWrite1hTokens: 100,
      audioPromptTokens: 50,
      completionTokens: 200,
      reasoningTokens: 80,
      audioCompletionTokens: 20,
    };
    const prompt = 400 * 100 + 100 * 2000 + 200 * 1250 + 50 * 10_000 + 250 * 1000;
    const completion = 80 * 3000 + 20 * 20_000 + 100 * 4000;
    expect(priceUsage(EVERY_KIND, usage, NOW)).toBe(prompt + completion + 1_000_000);
  });

  test("the parts of a cost are what the tokens of prompt, completion and advisors cost, without the price of the request", () => {
    const usage = {
      ...NO_TOKENS,
      promptTokens: 1000,
      cachedTokens: 400,
      completionTokens: 200,
      reasoningTokens: 80,
    };
    const advisor = {
      ...NO_TOKENS,
      model: "advisor",
      promptTokens: 10,
      completionTokens: 1,
      prices: PLAIN.prices,
    };
    const parts = priceTokens({ prices: EVERY_KIND.prices, usage, advisors: [advisor] });
    expect(parts).toEqual({
      prompt: 400 * 100 + 600 * 1000 + 10 * 1000,
      completion: 80 * 3000 + 120 * 4000 + 4000,
    });
  });

  test("a cost that the provider reported leaves the parts at the prices of its tokens", () => {
    const usage = { ...NO_TOKENS, promptTokens: 10, completionTokens: 2 };
    const prices = { prompt: "0.000001", completion: "0.000004", reported: "0.5" };
    expect(priceTokens({ prices, usage, advisors: [] })).toEqual({ prompt: 10_000, completion: 8_000 });
  });

  test("a kind of token without a price is charged as the kind that includes it", () => {
    const usage = {
      ...NO_TOKENS,
      promptTokens: 100,
      cachedTokens: 40,
      completionTokens: 10,
      reasoningTokens: 9,
    };
    expect(priceUsage(PLAIN, usage, NOW)).toBe(100 * 1000 + 10 * 4000);
  });

  test("no token is charged twice if the vendor's counters overlap", () => {
    const usage = {
      ...NO_TOKENS,
      promptTokens: 100,
      cachedTokens: 90,
      cacheWriteTokens: 90,
      audioPromptTokens: 90,
      completionTokens: 10,
      reasoningTokens: 20,
    };
    expect(priceUsage(EVERY_KIND, usage, NOW)).toBe(90 * 100 + 10 * 1250 + 10 * 3000 + 1_000_000);
  });
});

describe("prices that change", () => {
  const changing: ModelEndpoint = {
    ...PLAIN,
    priceTiers: [{ minPromptTokens: 1_000, prompt: "0.000002", completion: "0.000004" }],
    priceChanges: [
      { from: "2026-08-01", prices: { prompt: "0.000003", completion: "0.000004" } },
      {
        from: "2026-09-01",
        prices: { prompt: "0.000005", completion: "0.000004" },
        priceTiers: [{ minPromptTokens: 1_000, prompt: "0.000007", completion: "0.000004" }],
      },
    ],
  };
  const small = { ...NO_TOKENS, promptTokens: 10 };
  const large = { ...NO_TOKENS, promptTokens: 1_000 };

  test.each([
    ["2026-07-31T23:59:59.999Z", 10 * 1_000, 1_000 * 2_000],
    ["2026-08-01T00:00:00Z", 10 * 3_000, 1_000 * 3_000],
    ["2026-08-31T23:59:59.999Z", 10 * 3_000, 1_000 * 3_000],
    ["2026-09-01T00:00:00Z", 10 * 5_000, 1_000 * 7_000],
    ["2030-01-01T00:00:00Z", 10 * 5_000, 1_000 * 7_000],
  ])("a generation at %s is charged at the prices and price tiers of that time", (time, ofSmall, ofLarge) => {
    const at = Date.parse(time);
    expect([priceUsage(changing, small, at), priceUsage(changing, large, at)]).toEqual([ofSmall, ofLarge]);
  });
});

describe("charges other than tokens", () => {
  const prices = {
    prompt: "0",
    completion: "0.000001",
    imageOut: "0.00003",
    request: "0.005",
    requestHigh: "0.012",
    image: "0.002",
    search: "0.01",
    searchedRequest: "0.035",
  };
  const linesOf = (usage: Partial<TokenUsage>) =>
    listPriceLines(prices, { ...NO_TOKENS, ...usage }).map(({ kind, count, cost }) => [kind, count, cost]);
  const [MILLI, MICRO] = [1_000_000_000_000_000n, 1_000_000_000_000n];

  test.each<[string, Partial<TokenUsage>, (readonly [string, number, bigint])[]]>([
    ["a request without extras has its price", {}, [["request", 1, 5n * MILLI]]],
    [
      "a request with a high search context has the price for it",
      { searchContext: "high" },
      [["request", 1, 12n * MILLI]],
    ],
    [
      "a search context without a price has the next lower price",
      { searchContext: "medium" },
      [["request", 1, 5n * MILLI]],
    ],
    [
      "each image of the prompt has its price",
      { images: 3 },
      [
        ["request", 1, 5n * MILLI],
        ["image", 3, 6n * MILLI],
      ],
    ],
    [
      "each search has its price, and a request with searches an additional one",
      { searches: 2 },
      [
        ["request", 1, 5n * MILLI],
        ["search", 2, 20n * MILLI],
        ["searched_request", 1, 35n * MILLI],
      ],
    ],
    [
      "image tokens of the answer have their own price and are not charged twice",
      { completionTokens: 100, imageCompletionTokens: 90, reasoningTokens: 20 },
      [
        ["reasoning", 20, 20n * MICRO],
        ["image_completion", 80, 2_400n * MICRO],
        ["request", 1, 5n * MILLI],
      ],
    ],
  ])("%s", (_name, usage, lines) => {
    expect(linesOf(usage)).toEqual(lines as never);
  });
});

test("the price lines contain every kind of token once and add up to the cost", () => {
  const usage = {
    ...NO_TOKENS,
    promptTokens: 100,
    cachedTokens: 60,
    cacheWriteTokens: 60,
    completionTokens: 7,
  };
  const prices = EVERY_KIND.prices!;
  const lines = listPriceLines(prices, usage);
  expect(lines.map(({ kind, count }) => [kind, count])).toEqual([
    ["cache_read", 60],
    ["cache_write", 40],
    ["completion", 7],
    ["request", 1],
  ]);
  const sum = lines.reduce((total, { cost }) => total + cost, 0n);
  expect(roundToNanodollars(sum)).toBe(priceAt(prices, usage));
});

/** Prices of 0 to 18 places, and counts of up to all that a number holds: some sums are too fine or too large for whole picodollars. */
const price = fc
  .tuple(fc.nat(99), fc.integer({ min: 0, max: 18 }), fc.nat(999_999))
  .map(([whole, places, digits]) =>
    places === 0 ? String(whole) : `${whole}.${String(digits).padStart(places, "0").slice(0, places)}`,
  );
const count = fc.oneof(fc.nat(10_000), fc.nat(10_000_000), fc.maxSafeNat());

test("a cost is the exact sum of its price lines, rounded once, for prices of any fineness and counts of any size", () => {
  const anyPrices: fc.Arbitrary<Prices> = fc.record(
    { prompt: price, completion: price, cacheRead: price, reasoning: price, request: price, search: price },
    { requiredKeys: ["prompt", "completion"] },
  );
  const anyUsage = fc.record({
    promptTokens: count,
    completionTokens: count,
    cachedTokens: count,
    reasoningTokens: count,
    searches: count,
  });
  fc.assert(
    fc.property(anyPrices, anyUsage, (prices, counts) => {
      const usage = { ...NO_TOKENS, ...counts };
      const sum = listPriceLines(prices, usage).reduce((total, { cost }) => total + cost, 0n);
      expect(priceAt(prices, usage)).toBe(roundToNanodollars(sum));
    }),
    { numRuns: 2_000 },
  );
});

test("a cost of whole picodollars is rounded half up, also where it is close to what a number holds", () => {
  const costOf = (picodollars: number) =>
    priceAt({ prompt: "0.000000000001", completion: "0" }, { ...NO_TOKENS, promptTokens: picodollars });
  fc.assert(
    fc.property(fc.oneof(fc.nat(10_000), fc.maxSafeNat()), (picodollars) => {
      expect(costOf(picodollars)).toBe(roundToNanodollars(BigInt(picodollars) * 1_000_000n));
    }),
  );
  expect([499, 500, 1_499, 1_500, Number.MAX_SAFE_INTEGER].map(costOf)).toEqual([
    0, 1, 1, 2, 9_007_199_254_741,
  ]);
});

test("a count that is not a whole number has no cost", () => {
  const usage = { ...NO_TOKENS, promptTokens: 1.5 };
  expect(() => priceAt({ prompt: "0.000001", completion: "0" }, usage)).toThrow(RangeError);
});
