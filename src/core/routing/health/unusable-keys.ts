import type { Failure } from "../../../base/failures/errors.ts";
import type { Deployment } from "../../deployments/served-models.ts";

/**
 * Returns a predicate for the deployments that remain if some BYOK keys cannot be used; null if all can. Excludes the deployments of these
 * keys, and those with platform keys that would replace them: of the same model and of the models after it. Deployments with the account's
 * other BYOK keys remain.
 */
export function keepUsable(
  deployments: readonly (readonly Deployment[])[],
): ((deployment: Deployment, modelIndex: number) => boolean) | null {
  const firstUnusable = deployments.findIndex((ofModel) => ofModel.some(isUnusable));
  if (firstUnusable < 0) return null;
  return ({ keys: [key] }, modelIndex) =>
    modelIndex < firstUnusable || (key !== undefined && key.byokId !== null);
}

function isUnusable({ unusableKey }: Deployment): boolean {
  return unusableKey !== undefined;
}

/** Returns the failure of a request that only an unusable BYOK key could have served. */
export function rejectUnusable(deployments: readonly Deployment[]): Failure {
  const { provider, unusableKey } = deployments.find(
    (deployment) => deployment.unusableKey !== undefined,
  ) as Deployment;
  const { name, slug } = provider.record;
  return {
    code: "unavailable",
    message: `The account's BYOK key for ${name} cannot be used: ${REASONS[unusableKey ?? "sealed"]}. Platform keys do not replace it. Store the key again, disable it, or request another model.`,
    metadata: { provider: slug, is_byok: true },
    retryAfterS: RETRY_AFTER_S,
  };
}

const REASONS: Readonly<Record<NonNullable<Deployment["unusableKey"]>, string>> = {
  sealed: "the gateway cannot decrypt it, because its master key is missing or has changed",
  unfit: "the gateway cannot call the provider with it",
};

/** Longer than for other failures, because an operator must act. Seconds. */
const RETRY_AFTER_S = 60;
