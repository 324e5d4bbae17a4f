import type { Caller } from "../accounts/records.ts";
import { isFreeId } from "../catalog/is-free-id.ts";
import type { Offer } from "../deployments/served-models.ts";
import type { LimitVerdict } from "../limits/sliding-window.ts";
import type { Candidate, SetAside } from "../routing/plan.ts";
import type { GenerationDeps } from "./call.ts";

/** The deployments of a request, without free models where the account has used its limit up. */
export interface AllowedOffers {
  readonly offers: readonly (readonly Offer[])[];
  readonly setAside: readonly SetAside[];
  /** The limit, where it left something out. */
  readonly freeLimit: LimitVerdict | null;
}

/**
 * Leaves free models out for an account that has used its hourly limit on them up. What the account's own provider keys
 * serve is not limited.
 */
export function leaveOutFree(
  { freeLimit, clock }: Pick<GenerationDeps, "freeLimit" | "clock">,
  caller: Caller,
  offers: readonly (readonly Offer[])[],
): AllowedOffers {
  const all = { offers, setAside: NONE, freeLimit: null };
  // Most requests name no free model.
  if (!offers.some(([first]) => first !== undefined && isFreeId(first.model.id))) return all;
  const verdict = freeLimit.peek(caller, clock.now());
  if (verdict === null || verdict.allowed) return all;
  const setAside: SetAside[] = [];
  const keep = (offer: Offer): boolean => {
    const isLimited = offer.keys.every((key) => countsAsFree({ ...offer, key }));
    if (isLimited) setAside.push({ offer, key: null, why: "free_limit", waitMs: verdict.retryAfterMs });
    return !isLimited;
  };
  const kept = offers.map((ofModel) => ofModel.filter(keep)).filter((ofModel) => ofModel.length > 0);
  return setAside.length === 0 ? all : { offers: kept, setAside, freeLimit: verdict };
}

const NONE: readonly SetAside[] = [];

/** Whether a request counts for the limit on free models once it is sent to a candidate. */
export function countsAsFree({ model, key }: Pick<Candidate, "model" | "key">): boolean {
  return key.ownId === null && isFreeId(model.id);
}
