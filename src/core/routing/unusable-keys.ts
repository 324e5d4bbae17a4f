import type { Failure } from "../../base/errors.ts";
import type { Deployment } from "../deployments/served-models.ts";

/**
 * Says which deployments remain where the account has own keys that cannot be used; null where all can. Those deployments are left out,
 * and with them the deployments of the gateway's keys that would answer in their place: for the same model and for the models
 * behind it. The account's other own keys remain.
 */
export function keepUsable(
  deployments: readonly (readonly Deployment[])[],
): ((deployment: Deployment, modelIndex: number) => boolean) | null {
  const firstUnusable = deployments.findIndex((ofModel) =>
    ofModel.some(({ unusableKey }) => unusableKey !== undefined),
  );
  if (firstUnusable < 0) return null;
  return ({ keys: [key] }, modelIndex) =>
    modelIndex < firstUnusable || (key !== undefined && key.byokId !== null);
}

/** The failure of a request that only an unusable own key could have served. */
export function rejectUnusable(deployments: readonly Deployment[]): Failure {
  const { provider, unusableKey } = deployments.find(
    (deployment) => deployment.unusableKey !== undefined,
  ) as Deployment;
  const { name, slug } = provider.record;
  return {
    code: "unavailable",
    message: `The account's own key for ${name} cannot be used: ${REASONS[unusableKey ?? "sealed"]}. The gateway's keys do not stand in for it. Store the key again, disable it, or name another model.`,
    metadata: { provider: slug, is_byok: true },
    retryAfterS: RETRY_AFTER_S,
  };
}

const REASONS: Readonly<Record<NonNullable<Deployment["unusableKey"]>, string>> = {
  sealed: "the gateway cannot open it, because the master key that sealed it is missing or has changed",
  unfit: "the gateway cannot call the provider with it",
};

/** A missing key does not come back by itself. Seconds. */
const RETRY_AFTER_S = 60;
