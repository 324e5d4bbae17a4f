import type { Clock } from "../../base/clock.ts";
import type { KeyStore } from "./key-store.ts";
import { DEFAULT_ACCOUNT_ID, type KeyRecord } from "./records.ts";
import { remember } from "./remembered.ts";
import { hashSecret, hintOf, isWellFormedSecret } from "./secrets.ts";

/** Finds the key behind a secret, from memory on the hot path. */
export interface KeyCache {
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
export function createKeyCache(store: KeyStore, clock: Clock, adminSecret: string | null): KeyCache {
  const known = remember((hash) => store.findKeyByHash(hash));
  const operatorKey = adminSecret === null ? null : describeOperatorKey(adminSecret);
  let revision = -1;

  const validNow = (key: KeyRecord | null): KeyRecord | null =>
    key !== null && key.revokedAt === null && (key.expiresAt === null || key.expiresAt > clock.now())
      ? key
      : null;

  return {
    identify(secret) {
      const hash = hashSecret(secret);
      const remembered = known.peek(hash);
      if (remembered !== undefined) return validNow(remembered);
      if (operatorKey !== null && hash === operatorKey.hash) return operatorKey;
      if (!isWellFormedSecret(secret)) return null;
      const found = known.get(hash);
      return found instanceof Promise ? found.then(validNow) : validNow(found);
    },
    async refresh() {
      const current = await store.keyRevision();
      if (current !== revision) known.forget();
      revision = current;
    },
    forget: known.forget,
  };
}

function describeOperatorKey(secret: string): KeyRecord {
  return {
    id: "key_operator",
    kind: "management",
    accountId: DEFAULT_ACCOUNT_ID,
    userId: null,
    spendLimit: null,
    models: null,
    rateLimit: null,
    name: "GATEWAY_ADMIN_KEY",
    hash: hashSecret(secret),
    hint: hintOf(secret),
    createdAt: 0,
    expiresAt: null,
    revokedAt: null,
  };
}
