import { formatTime } from "../../../base/time/time.ts";
import type { PriceTerms } from "../prices/price-row.ts";
import type { PriceTier } from "../records/records.ts";
import type { HeldChange } from "./merge-refresh.ts";

/** Presents a held change as the management API and the command show it. */
export function presentHeldChange({ id, model, provider, name, before, after, jumps, seenAt }: HeldChange) {
  return {
    id,
    model,
    provider,
    model_name: name,
    jumps: jumps.map((jump) => ({
      kind: jump.kind.replace(/[A-Z]|\d+/g, (part) => `_${part.toLowerCase()}`),
      before: jump.before,
      after: jump.after,
      min_prompt_tokens: jump.minPromptTokens ?? null,
      from: jump.from ?? null,
    })),
    before: presentTerms(before),
    after: presentTerms(after),
    seen_at: formatTime(seenAt),
  };
}

function presentTerms({ prices, priceTiers = [], priceChanges = [] }: PriceTerms) {
  return {
    prices,
    price_tiers: priceTiers.map(presentTier),
    price_changes: priceChanges.map((change) => ({
      from: change.from,
      prices: change.prices,
      price_tiers: (change.priceTiers ?? []).map(presentTier),
    })),
  };
}

function presentTier({ minPromptTokens, ...prices }: PriceTier) {
  return { min_prompt_tokens: minPromptTokens, ...prices };
}
