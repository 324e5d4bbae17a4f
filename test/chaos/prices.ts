import type { TokenUsage } from "../../src/wire/conversation/usage.ts";

type Counted = Pick<TokenUsage, "promptTokens" | "completionTokens">;

/** Tenths of nanodollars a token: finer than the money, so that rounding is tried too. */
const TENTHS = {
  "vendor-a": { prompt: 13_705n, completion: 29_103n },
  "vendor-b": { prompt: 41_117n, completion: 87_309n },
  "vendor-h": { prompt: 2_003n, completion: 6_007n },
} as const;

/** The simulated vendor under its names, each with prices of its own; under one of them it is hostile. */
export type ProviderSlug = keyof typeof TENTHS;
export const PROVIDERS = ["vendor-a", "vendor-b"] as const;

/** The name under which the vendor is hostile. */
export const HOSTILE = "vendor-h" as const;

/** A provider's prices as the configuration wants them. */
export function describePrices(provider: ProviderSlug): string {
  const { prompt, completion } = TENTHS[provider];
  return `{prompt: "${inDollars(prompt)}", completion: "${inDollars(completion)}"}`;
}

/** What a usage costs in nanodollars, rounded once and half up: reckoned here a second time, by other means. */
export function priceOf(provider: ProviderSlug, { promptTokens, completionTokens }: Counted): number {
  const { prompt, completion } = TENTHS[provider];
  return Number((BigInt(promptTokens) * prompt + BigInt(completionTokens) * completion + 5n) / 10n);
}

function inDollars(tenths: bigint): string {
  return `0.${String(tenths).padStart(10, "0")}`;
}
