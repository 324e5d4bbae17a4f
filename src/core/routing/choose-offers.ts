import type { InferenceAction } from "../../wire/client-apis/inference-request.ts";
import type { Caller } from "../accounts/records.ts";
import {
  isReachable,
  type Offer,
  type ProviderKey,
  type Roster,
  type ServedProvider,
} from "../deployments/served-models.ts";
import { findUsable, type OwnKey, type OwnKeys } from "../provider-keys/own-keys.ts";

/** Whose keys may serve a request. */
export interface KeyChoice {
  /** The account's own, by provider; null without any. */
  readonly own: OwnKeys | null;
  /** Whom they must serve; null for a service key. */
  readonly userId: string | null;
  /** Who wants the gateway's keys left out; null: nobody does. */
  readonly ownOnly: "account" | "request" | null;
}

/** The gateway's keys alone. */
const HOUSE_KEYS: KeyChoice = { own: null, userId: null, ownOnly: null };

/** The choice for a caller whose account has `own` keys; `ownOnly` is what the request wants. */
export function chooseKeys(caller: Caller, own: OwnKeys | null, ownOnly: boolean): KeyChoice {
  if (caller.kind === "anonymous") return ownOnly ? { ...HOUSE_KEYS, ownOnly: "request" } : HOUSE_KEYS;
  const level = caller.account.policy.ownKeysOnly ? "account" : ownOnly ? "request" : null;
  return own === null && level === null ? HOUSE_KEYS : { own, userId: caller.key.userId, ownOnly: level };
}

/**
 * Who could answer for a model, those of the account's own keys first. A provider for which the account has a key that serves
 * the request is called with the account's own keys and never with the gateway's (docs/contract.md, "Own provider keys");
 * where none of them can be used, its offer says so in `unusableKey`.
 */
export function chooseOffers(
  roster: Roster,
  modelId: string,
  action: InferenceAction,
  choice: KeyChoice,
): readonly Offer[] {
  const { own, userId, ownOnly } = choice;
  if (own === null) return ownOnly === null ? roster.offersFor(modelId) : [];
  const [mine, house]: [Offer[], Offer[]] = [[], []];
  for (const offer of roster.allOffersFor(modelId)) {
    const { provider, endpoint } = offer;
    const usable = findUsable(own, provider.record.slug, modelId, userId);
    if (usable.length === 0) {
      if (ownOnly === null && offer.keys.length > 0) house.push(offer);
      continue;
    }
    const ready = usable.flatMap((key) => readyKey(provider, key) ?? []);
    const keys = ready.filter((key) => isReachable(key, provider, endpoint, action));
    if (keys.length > 0) mine.push({ ...offer, keys });
    else if (ready.length === 0) mine.push({ ...offer, keys, unusableKey: whyUnusable(usable) });
  }
  return [...mine, ...house];
}

function whyUnusable(keys: readonly OwnKey[]): "sealed" | "unfit" {
  return keys.some(({ secret }) => secret !== null) ? "unfit" : "sealed";
}

/** Made once for a key, and again when the catalog was replaced. Gone with the key. */
const ready = new WeakMap<ServedProvider, WeakMap<OwnKey, ProviderKey | null>>();

function readyKey(provider: ServedProvider, own: OwnKey): ProviderKey | null {
  const ofProvider = ready.get(provider) ?? new WeakMap<OwnKey, ProviderKey | null>();
  ready.set(provider, ofProvider);
  let key = ofProvider.get(own);
  if (key === undefined) {
    key = makeReady(provider, own);
    ofProvider.set(own, key);
  }
  return key;
}

function makeReady({ readOwnKey }: ServedProvider, { id, label, secret }: OwnKey): ProviderKey | null {
  if (secret === null || readOwnKey === null) return null;
  const reading = readOwnKey({ id, label, secret });
  return reading.kind === "key" ? reading.key : null;
}
