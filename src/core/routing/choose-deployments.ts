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

/** Whose keys may serve a request. */
export interface KeyChoice {
  /** The account's own, by provider; null without any. */
  readonly own: ByokKeys | null;
  /** Whom they must serve; null for a service key. */
  readonly userId: string | null;
  /** Who wants the gateway's keys left out; null: nobody does. */
  readonly ownOnly: "account" | "request" | null;
}

/** The gateway's keys alone. */
const HOUSE_KEYS: KeyChoice = { own: null, userId: null, ownOnly: null };

/** The choice for a caller whose account has `own` keys; `ownOnly` is what the request wants. */
export function chooseKeys(principal: InferencePrincipal, own: ByokKeys | null, ownOnly: boolean): KeyChoice {
  if (principal.kind === "anonymous") return ownOnly ? { ...HOUSE_KEYS, ownOnly: "request" } : HOUSE_KEYS;
  const level = principal.account.policy.ownKeysOnly ? "account" : ownOnly ? "request" : null;
  return own === null && level === null ? HOUSE_KEYS : { own, userId: principal.key.userId, ownOnly: level };
}

/**
 * Who could answer for a model, those of the account's own keys first. A provider for which the account has a key that serves
 * the request is called with the account's own keys and never with the gateway's (docs/api/keys.md, "BYOK provider keys");
 * where none of them can be used, its deployment says so in `unusableKey`.
 */
export function chooseDeployments(
  servedModels: ServedModels,
  modelId: string,
  action: InferenceAction,
  choice: KeyChoice,
): readonly Deployment[] {
  const { own, userId, ownOnly } = choice;
  if (own === null) return ownOnly === null ? servedModels.deploymentsOf(modelId) : [];
  const [mine, house]: [Deployment[], Deployment[]] = [[], []];
  for (const deployment of servedModels.allDeploymentsOf(modelId)) {
    const { provider, endpoint } = deployment;
    const usable = findUsable(own, provider.record.slug, modelId, userId);
    if (usable.length === 0) {
      if (ownOnly === null && deployment.keys.length > 0) house.push(deployment);
      continue;
    }
    const ready = usable.flatMap((key) => readyKey(provider, key) ?? []);
    const keys = ready.filter((key) => isReachable(key, provider, endpoint, action));
    if (keys.length > 0) mine.push({ ...deployment, keys });
    else if (ready.length === 0) mine.push({ ...deployment, keys, unusableKey: whyUnusable(usable) });
  }
  return [...mine, ...house];
}

function whyUnusable(keys: readonly ByokKey[]): "sealed" | "unfit" {
  return keys.some(({ secret }) => secret !== null) ? "unfit" : "sealed";
}

/** Made once for a key, and again when the catalog was replaced. Gone with the key. */
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
