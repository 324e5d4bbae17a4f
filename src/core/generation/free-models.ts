import type { Principal } from "../accounts/records.ts";
import { isFreeId } from "../catalog/is-free-id.ts";
import type { Deployment } from "../deployments/served-models.ts";
import type { LimitVerdict } from "../limits/sliding-window.ts";
import type { Candidate, SkippedCandidate } from "../routing/plan.ts";
import type { GenerationDeps } from "./call.ts";

/** The deployments of a request, without free models where the account has used its limit up. */
export interface AllowedDeployments {
  readonly deployments: readonly (readonly Deployment[])[];
  readonly skipped: readonly SkippedCandidate[];
  /** The limit, where it left something out. */
  readonly freeLimit: LimitVerdict | null;
}

/**
 * Leaves free models out for an account that has used its hourly limit on them up. What the account's own provider keys
 * serve is not limited.
 */
export function leaveOutFree(
  { freeLimit, clock }: Pick<GenerationDeps, "freeLimit" | "clock">,
  principal: Principal,
  deployments: readonly (readonly Deployment[])[],
): AllowedDeployments {
  const all = { deployments, skipped: NONE, freeLimit: null };
  // Most requests name no free model.
  if (!deployments.some(([first]) => first !== undefined && isFreeId(first.model.id))) return all;
  const verdict = freeLimit.peek(principal, clock.now());
  if (verdict === null || verdict.allowed) return all;
  const skipped: SkippedCandidate[] = [];
  const keep = (deployment: Deployment): boolean => {
    const isLimited = deployment.keys.every((key) => countsAsFree({ ...deployment, key }));
    if (isLimited) skipped.push({ deployment, key: null, why: "free_limit", waitMs: verdict.retryAfterMs });
    return !isLimited;
  };
  const kept = deployments.map((ofModel) => ofModel.filter(keep)).filter((ofModel) => ofModel.length > 0);
  return skipped.length === 0 ? all : { deployments: kept, skipped, freeLimit: verdict };
}

const NONE: readonly SkippedCandidate[] = [];

/** Whether a request counts for the limit on free models once it is sent to a candidate. */
export function countsAsFree({ model, key }: Pick<Candidate, "model" | "key">): boolean {
  return key.byokId === null && isFreeId(model.id);
}
