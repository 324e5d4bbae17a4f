import type { ProviderPreferences } from "../../wire/conversation/preferences.ts";
import type { Health } from "./health.ts";
import { healthTargetOf } from "./health-target.ts";
import { byPrice, type Offer, type ProviderKey } from "./roster.ts";

/** One way to answer: an offer and the key to take it up with. */
export interface Candidate extends Offer {
  readonly key: ProviderKey;
}

/** Candidates in the order they are tried, or why there is none. */
export type Plan =
  | { readonly kind: "candidates"; readonly candidates: readonly Candidate[] }
  /** All are set aside; the first is back in `retryAfterMs`. */
  | {
      readonly kind: "cooling";
      readonly retryAfterMs: number;
      /** All of them are the account's own. */
      readonly areOwn: boolean;
    };

/**
 * Orders the ways to answer a request: its models in turn, for each the providers, `order` first, then as offered or
 * by `sort`; for each provider its keys. Keys that were set aside are left out. Pure but for the clock in `now`.
 */
export function planRoute(
  offers: readonly (readonly Offer[])[],
  preferences: ProviderPreferences,
  health: Health,
  now: number,
): Plan {
  const ordered = offers.flatMap((ofModel) => orderOffers(ofModel, preferences));
  const all = ordered.flatMap((offer): Candidate[] => offer.keys.map((key) => ({ ...offer, key })));
  const waits = all.map((candidate) => {
    const wait = health.waitMs(healthTargetOf(candidate), now);
    return wait?.why === "out_of_credit" ? wait.ms : 0;
  });
  const candidates = all.filter((_, at) => waits[at] === 0);
  if (candidates.length > 0) return { kind: "candidates", candidates };
  return {
    kind: "cooling",
    retryAfterMs: Math.min(...waits),
    areOwn: all.every(({ key }) => key.ownId !== null),
  };
}

function orderOffers(
  offers: readonly Offer[],
  { order, allowFallbacks, sort }: ProviderPreferences,
): Offer[] {
  const named = order.flatMap((slug) => offers.filter(({ provider }) => provider.record.slug === slug));
  const rest = offers.filter((offer) => !named.includes(offer));
  const others = sort === "price" ? rest.toSorted(byPrice) : rest;
  if (allowFallbacks) return [...named, ...others];
  return named.length > 0 ? named : others.slice(0, 1);
}
