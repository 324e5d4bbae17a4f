import type { InferenceAction } from "../../../wire/client-apis/request/inference-request.ts";
import type { InferencePrincipal } from "../../accounts/records/principal.ts";
import { type Deployment, isReachable, type ServedModels } from "../../deployments/served-models.ts";
import type { ProviderKey, ServedProvider } from "../../deployments/served-provider.ts";
import { type ByokKey, type ByokKeys, findUsable } from "../../provider-keys/byok-keys.ts";

/** The keys that may serve a request. */
export interface KeyChoice {
  /** The account's BYOK keys; null if it has none. */
  readonly byok: ByokKeys | null;
  /** The user for whom they must be enabled; null for a service key. */
  readonly userId: string | null;
  /** The team for which they must be enabled; null for a key without one. */
  readonly teamId: string | null;
  /** What excludes platform keys: the policy of the account or the team, or the request. Null if they may be used. */
  readonly byokOnly: "account" | "team" | "request" | null;
}

const PLATFORM_KEYS: KeyChoice = { byok: null, userId: null, teamId: null, byokOnly: null };

/** Returns the keys for a caller whose account has the keys `own`, if any. `byokOnly` is whether the request excludes platform keys. */
export function chooseKeys(
  principal: InferencePrincipal,
  own: ByokKeys | null,
  byokOnly: boolean,
): KeyChoice {
  if (principal.kind === "anonymous")
    return byokOnly ? { ...PLATFORM_KEYS, byokOnly: "request" } : PLATFORM_KEYS;
  const byok = own === null || own.size === 0 ? null : own;
  const { account, team, key } = principal;
  const ofTeam = team?.policy.ownKeysOnly === true ? "team" : byokOnly ? "request" : null;
  const level = account.policy.ownKeysOnly ? "account" : ofTeam;
  return byok === null && level === null
    ? PLATFORM_KEYS
    : { byok, userId: key.userId, teamId: key.teamId, byokOnly: level };
}

/**
 * Returns the deployments of a model for an action, those with BYOK keys first. If the account has a usable key for a provider, the
 * provider is called only with BYOK keys, never with platform keys (docs/api/keys.md, "BYOK provider keys"). If none of these keys can be
 * used, the deployment has `unusableKey` set. For a chat, deployments that only serve text completions are left out.
 */
export function chooseDeployments(
  servedModels: ServedModels,
  { modelId, action }: { readonly modelId: string; readonly action: InferenceAction },
  choice: KeyChoice,
): readonly Deployment[] {
  const found = findByKeys(servedModels, { modelId, action }, choice);
  return action === "chat" && found.some(isCompletionOnly)
    ? found.filter((deployment) => !isCompletionOnly(deployment))
    : found;
}

function isCompletionOnly(deployment: Deployment): boolean {
  return deployment.onlyCompletes === true;
}

function findByKeys(
  servedModels: ServedModels,
  { modelId, action }: { readonly modelId: string; readonly action: InferenceAction },
  { byok, byokOnly, ...caller }: KeyChoice,
): readonly Deployment[] {
  if (byok === null) return byokOnly === null ? servedModels.deploymentsOf(modelId) : [];
  const [withByok, withPlatform]: [Deployment[], Deployment[]] = [[], []];
  for (const deployment of servedModels.allDeploymentsOf(modelId)) {
    const { provider } = deployment;
    const usable = findUsable(byok.get(provider.record.slug) ?? NO_KEYS, modelId, caller);
    if (usable.length === 0) {
      if (byokOnly === null && deployment.keys.length > 0) withPlatform.push(deployment);
      continue;
    }
    const ready = usable.flatMap((key) => readReadyKey(provider, key) ?? []);
    const keys = ready.filter((key) => isReachable(key, deployment, action));
    if (keys.length > 0) withByok.push({ ...deployment, keys });
    else if (ready.length === 0) withByok.push({ ...deployment, keys, unusableKey: explainUnusable(usable) });
  }
  return [...withByok, ...withPlatform];
}

const NO_KEYS: readonly ByokKey[] = [];

function explainUnusable(keys: readonly ByokKey[]): "sealed" | "unfit" {
  return keys.some(({ secret }) => secret !== null) ? "unfit" : "sealed";
}

function readReadyKey({ readByokKey }: ServedProvider, key: ByokKey): ProviderKey | null {
  if (!isDecrypted(key) || readByokKey === null) return null;
  const reading = readByokKey(key);
  return reading.kind === "key" ? reading.key : null;
}

function isDecrypted(key: ByokKey): key is ByokKey & { readonly secret: string } {
  return key.secret !== null;
}
