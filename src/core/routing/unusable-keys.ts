import type { Failure } from "../../base/errors.ts";
import type { Offer } from "../deployments/served-models.ts";

/**
 * Says which offers remain where the account has own keys that cannot be used; null where all can. Those offers are left out,
 * and with them the offers of the gateway's keys that would answer in their place: for the same model and for the models
 * behind it. The account's other own keys remain.
 */
export function keepUsable(
  offers: readonly (readonly Offer[])[],
): ((offer: Offer, modelIndex: number) => boolean) | null {
  const firstUnusable = offers.findIndex((ofModel) =>
    ofModel.some(({ unusableKey }) => unusableKey !== undefined),
  );
  if (firstUnusable < 0) return null;
  return ({ keys: [key] }, modelIndex) =>
    modelIndex < firstUnusable || (key !== undefined && key.ownId !== null);
}

/** The failure of a request that only an unusable own key could have served. */
export function refuseUnusable(offers: readonly Offer[]): Failure {
  const { provider, unusableKey } = offers.find((offer) => offer.unusableKey !== undefined) as Offer;
  const { name, slug } = provider.record;
  return {
    code: "unavailable",
    message: `The account's own key for ${name} cannot be used: ${REASONS[unusableKey ?? "sealed"]}. The gateway's keys do not stand in for it. Store the key again, disable it, or name another model.`,
    metadata: { provider: slug, is_byok: true },
    retryAfterS: RETRY_AFTER_S,
  };
}

const REASONS: Readonly<Record<NonNullable<Offer["unusableKey"]>, string>> = {
  sealed: "the gateway cannot open it, because the master key that sealed it is missing or has changed",
  unfit: "the gateway cannot call the provider with it",
};

/** A missing key does not come back by itself. Seconds. */
const RETRY_AFTER_S = 60;
