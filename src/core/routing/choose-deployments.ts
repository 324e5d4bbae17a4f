import type { InferenceAction } from "../../wire/client-apis/inference-request.ts";
import type { InferencePrincipal } from "../accounts/principal.ts";
import {
  type Deployment,
  isReachable,
  type ProviderKey,
  type ServedModels,
  type ServedProvider,
} from "../deployments/served-models.ts";
import { type ByokKey, type ByokKeys, findUsable } from "../provider-keys/byok-keys.ts";

/** The keys that may serve a request. */
export interface KeyChoice {
  /** The account's own provider keys; null if it has none. */
  readonly own: ByokKeys | null;
  /** The user that they must serve; null for a service key. */
  readonly userId: string | null;
  /** What rules platform keys out: the account's policy or the request; null: nothing. */
  readonly ownOnly: "account" | "request" | null;
}

/** Platform keys only. */
const PLATFORM_KEYS: KeyChoice = { own: null, userId: null, ownOnly: null };

/** Returns the keys for a caller whose account has `own` keys; `ownOnly` is whether the request asks for BYOK keys only. */
export function chooseKeys(principal: InferencePrincipal, own: ByokKeys | null, ownOnly: boolean): KeyChoice {
  if (principal.kind === "anonymous")
    return ownOnly ? { ...PLATFORM_KEYS, ownOnly: "request" } : PLATFORM_KEYS;
  const level = principal.account.policy.ownKeysOnly ? "account" : ownOnly ? "request" : null;
  return own === null && level === null
    ? PLATFORM_KEYS
    : { own, userId: principal.key.userId, ownOnly: level };
}

/**
 * Returns the deployments of a model, those with BYOK keys first. A provider for which the account has a key that serves the
 * request is called with BYOK keys only, never with platform keys (docs/api/keys.md, "BYOK provider keys"); if none of them can
 * be used, the deployment has `unusableKey` set.
 */
export function chooseDeployments(
  servedModels: ServedModels,
  modelId: string,
  action: InferenceAction,
  choice: KeyChoice,
): readonly Deployment[] {
  const { own, userId, ownOnly } = choice;
  if (own === null) return ownOnly === null ? servedModels.deploymentsOf(modelId) : [];
  const [byok, platform]: [Deployment[], Deployment[]] = [[], []];
  for (const deployment of servedModels.allDeploymentsOf(modelId)) {
    const { provider, endpoint } = deployment;
    const usable = findUsable(own, provider.record.slug, modelId, userId);
    if (usable.length === 0) {
      if (ownOnly === null && deployment.keys.length > 0) platform.push(deployment);
      continue;
    }
    const ready = usable.flatMap((key) => readyKey(provider, key) ?? []);
    const keys = ready.filter((key) => isReachable(key, provider, endpoint, action));
    if (keys.length > 0) byok.push({ ...deployment, keys });
    else if (ready.length === 0) byok.push({ ...deployment, keys, unusableKey: whyUnusable(usable) });
  }
  return [...byok, ...platform];
}

function whyUnusable(keys: readonly ByokKey[]): "sealed" | "unfit" {
  return keys.some(({ secret }) => secret !== null) ? "unfit" : "sealed";
}

/** Keys ready for use, created once for each key and provider of a catalog. */
const ready = new WeakMap<ServedProvider, WeakMap<ByokKey, ProviderKey | null>>();

function readyKey(provider: ServedProvider, own: ByokKey): ProviderKey | null {
  const ofProvider = ready.get(provider) ?? new WeakMap<ByokKey, ProviderKey | null>();
  ready.set(provider, ofProvider);
  let key = ofProvider.get(own);
  if (key === undefined) {
    key = makeReady(provider, own);
    ofProvider.set(own, key);
  }
  return key;
}

function makeReady({ readByokKey }: ServedProvider, { id, label, secret }: ByokKey): ProviderKey | null {
  if (secret === null || readByokKey === null) return null;
  const reading = readByokKey({ id, label, secret });
  return reading.kind === "key" ? reading.key : null;
}
