import type { Deployment } from "../../deployments/served-models.ts";
import type { LimitVerdict } from "../../limits/rate-limiter.ts";
import type { Candidate, SkippedCandidate } from "../../routing/plan/plan.ts";

type DeploymentsByModel = readonly (readonly Deployment[])[];

/** The deployments that may answer a request, without free models if the account has used up its limit on them. */
export interface AllowedDeployments {
  readonly deployments: DeploymentsByModel;
  readonly skipped: readonly SkippedCandidate[];
  /** The limit, if it removed a deployment. */
  readonly freeLimit: LimitVerdict | null;
}

/** Returns whether the limit on free models may apply to a request. */
export function namesFreeModel(deployments: DeploymentsByModel): boolean {
  for (const [first] of deployments) if (first?.served.isFree) return true;
  return false;
}

/**
 * Removes free models if the account has used up its hourly limit on them. Models that the account's own provider keys serve are
 * not limited. `limit` is null if no limit applies.
 */
export function removeFreeModels(
  deployments: DeploymentsByModel,
  limit: LimitVerdict | null,
): AllowedDeployments {
  if (limit === null || limit.allowed) return { deployments, skipped: NO_SKIPPED, freeLimit: null };
  return removeFree(deployments, limit);
}

function removeFree(deployments: DeploymentsByModel, limit: LimitVerdict): AllowedDeployments {
  const skipped: SkippedCandidate[] = [];
  const keep = (deployment: Deployment): boolean => {
    const isLimited = deployment.keys.every((key) => countsAsFree({ ...deployment, key }));
    if (isLimited) skipped.push({ deployment, key: null, why: "free_limit", waitMs: limit.retryAfterMs });
    return !isLimited;
  };
  const kept = deployments.map((ofModel) => ofModel.filter(keep)).filter((ofModel) => ofModel.length > 0);
  if (skipped.length === 0) return { deployments, skipped, freeLimit: null };
  return { deployments: kept, skipped, freeLimit: limit };
}

const NO_SKIPPED: readonly SkippedCandidate[] = [];

/** Returns whether a request counts for the limit on free models once it is sent to a candidate. */
export function countsAsFree({ served, key }: Pick<Candidate, "served" | "key">): boolean {
  return key.byokId === null && served.isFree;
}
