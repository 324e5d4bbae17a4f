import type { Clock } from "../../base/clock.ts";
import type { KeyStore } from "../ports/key-store.ts";
import { DEFAULT_ACCOUNT_ID, type KeyRecord } from "./records.ts";
import { hashSecret, hintOf, isWellFormedSecret } from "./secrets.ts";

/** Keys that may be remembered at once, known and unknown ones apart. */
const MAX_REMEMBERED = 50_000;

/** Finds the key behind a secret, from memory on the hot path. */
export interface KeyRing {
  /** The valid key, or null; a promise only where memory does not know. */
  identify(secret: string): KeyRecord | null | Promise<KeyRecord | null>;
  /** Forgets what it remembers, if any key has changed in the store since it last looked. */
  refresh(): Promise<void>;
  /** Forgets at once; called where this process changes a key. */
  forget(): void;
}

/**
 * A ring over a store. `adminSecret` is the operator's own management key, valid beside those in the store.
 * What other processes change is seen with the next `refresh`.
 */
export function createKeyRing(store: KeyStore, clock: Clock, adminSecret: string | null): KeyRing {
  const remembered = new Map<string, KeyRecord | null>();
  const operatorKey = adminSecret === null ? null : describeOperatorKey(adminSecret);
  let revision = -1;
  /** Counts how often everything was forgotten. */
  let epoch = 0;

  const validNow = (key: KeyRecord | null): KeyRecord | null =>
    key !== null && key.revokedAt === null && (key.expiresAt === null || key.expiresAt > clock.now())
      ? key
      : null;

  const look = async (hash: string): Promise<KeyRecord | null> => {
    const epochBefore = epoch;
    const key = await store.findKeyByHash(hash);
    // What was read before a key changed may be what it was before; it is not remembered.
    if (epoch === epochBefore) {
      if (remembered.size >= MAX_REMEMBERED) remembered.clear();
      remembered.set(hash, key);
    }
    return validNow(key);
  };

  const forget = (): void => {
    epoch += 1;
    remembered.clear();
  };

  return {
    identify(secret) {
      const hash = hashSecret(secret);
      const known = remembered.get(hash);
      if (known !== undefined) return validNow(known);
      if (operatorKey !== null && hash === operatorKey.hash) return operatorKey;
      return isWellFormedSecret(secret) ? look(hash) : null;
    },
    async refresh() {
      const current = await store.keyRevision();
      if (current !== revision) forget();
      revision = current;
    },
    forget,
  };
}

function describeOperatorKey(secret: string): KeyRecord {
  return {
    id: "key_operator",
    kind: "management",
    accountId: DEFAULT_ACCOUNT_ID,
    name: "GATEWAY_ADMIN_KEY",
    hash: hashSecret(secret),
    hint: hintOf(secret),
    createdAt: 0,
    expiresAt: null,
    revokedAt: null,
  };
}
