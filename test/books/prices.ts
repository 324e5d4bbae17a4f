import type { TokenUsage } from "../../src/wire/conversation/usage.ts";

type Counted = Pick<TokenUsage, "promptTokens" | "completionTokens">;

/** Tenths of nanodollars per token: finer than the unit of money, so that rounding is tested too. */
const TENTHS = {
  "vendor-a": { prompt: 13_705n, completion: 29_103n },
  "vendor-b": { prompt: 41_117n, completion: 87_309n },
  "vendor-h": { prompt: 2_003n, completion: 6_007n },
} as const;

/** The names of the simulated vendor, each with its own prices; under one of them it is hostile. */
export type ProviderSlug = keyof typeof TENTHS;
export const PROVIDERS = ["vendor-a", "vendor-b"] as const;

/** The name under which the vendor is hostile. */
export const HOSTILE = "vendor-h" as const;

/** A provider's prices in the form of the configuration. */
export function describePrices(provider: ProviderSlug): string {
  const { prompt, completion } = TENTHS[provider];
  return `{prompt: "${inDollars(prompt)}", completion: "${inDollars(completion)}"}`;
}

/** The cost of usage in nanodollars, rounded once, half up: computed independently of the gateway. */
export function priceOf(provider: ProviderSlug, { promptTokens, completionTokens }: Counted): number {
  const { prompt, completion } = TENTHS[provider];
  return Number((BigInt(promptTokens) * prompt + BigInt(completionTokens) * completion + 5n) / 10n);
}

function inDollars(tenths: bigint): string {
  return `0.${String(tenths).padStart(10, "0")}`;
}
