import { describe, expect, test } from "bun:test";
import { loadShippedCatalog } from "../../src/app/catalog/load-catalog.ts";
import { roundToNanodollars } from "../../src/base/numbers/money.ts";
import { findPrices } from "../../src/core/catalog/prices/price-usage.ts";
import type { Deployment } from "../../src/core/deployments/served-models.ts";
import { checkUsage } from "../../src/core/generation/settle/check-usage.ts";
import { NO_CHARGES } from "../../src/wire/conversation/charges.ts";
import { NO_TOKENS, type TokenUsage } from "../../src/wire/conversation/usage.ts";
import { priceAt } from "../support/price-usage.ts";

const NOW = Date.parse("2026-07-01T12:00:00Z");
const MOST = Number.MAX_SAFE_INTEGER;
const IMPOSSIBLE: TokenUsage = {
  ...NO_TOKENS,
  promptTokens: MOST,
  completionTokens: MOST,
  cacheWriteTokens: MOST,
  cacheWrite1hTokens: MOST,
  reasoningTokens: MOST,
  searches: MOST,
  searchContext: "high",
};
/** The largest body of the default configuration, all text, with the most answers and tools of the vendor. */
const REQUEST = {
  action: "chat",
  prompt: { textBytes: 33_554_432 },
  maxTokens: null,
  answers: 128,
  demands: { listCharges: () => ({ ...NO_CHARGES, runsTools: true }) },
} as const;
const SEEN = { producedBytes: 64 * 1024 * 1024, searches: 0 };

function boundsAt(deployment: Deployment) {
  return { request: REQUEST, deployment, sentMaxTokens: null };
}

/** Finds the highest count that is accepted, by bisection. */
function highestOf(deployment: Deployment, name: "promptTokens" | "completionTokens" | "searches"): number {
  let [passes, fails] = [0, MOST];
  while (fails - passes > 1) {
    const count = Math.floor(passes + (fails - passes) / 2);
    const { rejected } = checkUsage({ ...NO_TOKENS, [name]: count }, boundsAt(deployment), SEEN);
    if (rejected.length === 0) passes = count;
    else fails = count;
  }
  return passes;
}

describe("the bound of a cost", () => {
  test("the highest cost is an exact integer of nanodollars at every endpoint of the shipped catalog, and a thousand of them fit a column", () => {
    let highest = 0;
    for (const model of loadShippedCatalog().models) {
      for (const endpoint of model.endpoints) {
        const deployment = { model, endpoint } as unknown as Deployment;
        const usage: TokenUsage = {
          ...NO_TOKENS,
          promptTokens: highestOf(deployment, "promptTokens"),
          completionTokens: highestOf(deployment, "completionTokens"),
          searches: highestOf(deployment, "searches"),
          images: 20_000,
          searchContext: "high",
        };
        const prices = findPrices(endpoint, usage.promptTokens, NOW);
        if (prices === null) continue;
        const dear = {
          ...usage,
          cacheWriteTokens: usage.promptTokens,
          cacheWrite1hTokens: usage.promptTokens,
        };
        const reasoned = { ...dear, reasoningTokens: usage.completionTokens };
        highest = Math.max(highest, ...[usage, dear, reasoned].map((one) => priceAt(prices, one)));
        expect(checkUsage(IMPOSSIBLE, boundsAt(deployment), SEEN).rejected.map(({ field }) => field)).toEqual(
          ["prompt_tokens", "completion_tokens", "searches"],
        );
      }
    }
    expect(highest).toBeGreaterThan(0);
    expect(Number.isSafeInteger(highest)).toBe(true);
    // The database adds in 64 bits.
    expect(BigInt(highest) * 1_000n).toBeLessThan(2n ** 63n);
  });

  test("the highest cost is limited to an exact integer at any configured prices", () => {
    expect(roundToNanodollars(10n ** 40n)).toBe(Number.MAX_SAFE_INTEGER);
    const prices = { prompt: "999999999999", completion: "999999999999" };
    expect(
      Number.isSafeInteger(priceAt(prices, { ...NO_TOKENS, promptTokens: 1e9, completionTokens: 1e9 })),
    ).toBe(true);
  });
});
