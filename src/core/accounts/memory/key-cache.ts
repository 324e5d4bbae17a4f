import type { StoreHealth } from "../../../base/failures/store-health.ts";
import type { Clock } from "../../../base/time/clock.ts";
import { ADMIN_KEY_ID, type ApiKeyPrincipal, type OperatorPrincipal } from "../records/principal.ts";
import { DEFAULT_ACCOUNT_ID, type KeyRecord } from "../records/records.ts";
import { hashSecret, isWellFormedSecret } from "../records/secrets.ts";
import { followChanges } from "../stores/follow-changes.ts";
import type { KeyStore } from "../stores/key-store.ts";
import { memoize } from "../stores/memoize.ts";
import { KeyUses } from "./key-uses.ts";

/** Identifies callers by the secret of their API key. Keys are cached in memory. Unknown secrets are cached as well. */
export interface KeyCache {
  /**
   * Returns the principal of a secret; null if it is unknown, revoked or expired. Rejects with a `StoreError` if the key is not in memory
   * while the store is unavailable.
   */
  identify(secret: string): Promise<ApiKeyPrincipal | OperatorPrincipal | null>;
  /** Like `identify`, for a stored key by the hash of its secret. Never returns the configured admin key. */
  identifyHash(hash: string): Promise<ApiKeyPrincipal | OperatorPrincipal | null>;
  /** Returns the stored key of a secret that was identified before, also if it is revoked or expired; null if none is in memory. */
  peekKey(secret: string): KeyRecord | null;
  /** The hash of the configured admin key; null if none is configured. */
  readonly adminHash: string | null;
  /** Replaces the configured admin key; null for none. The previous one becomes invalid. */
  setAdminSecret(secret: string | null): void;
  /** Reads keys again if a process has changed any of them since the last call. */
  refresh(): Promise<void>;
  /** Stores the times of last use that are not stored yet. */
  saveUses(): Promise<void>;
  /** Reads a key again. Call it after this process has created, changed or revoked one. */
  changed(key: Pick<KeyRecord, "hash" | "previousHash">): void;
}

/** The dependencies of a key cache. */
interface KeyCacheParts {
  readonly store: Pick<KeyStore, "findKeyByHash" | "keyRevision" | "listChangedKeys" | "recordKeyUses">;
  readonly health: StoreHealth;
  readonly clock: Clock;
  /** The configured admin key, which is valid in addition to the stored keys; null for none. */
  readonly adminSecret: string | null;
}

/** Returns a cache over a store. Changes by other processes take effect with the next `refresh`. */
export function createKeyCache({ store, health, clock, adminSecret }: KeyCacheParts): KeyCache {
  const keys = memoize((hash) => store.findKeyByHash(hash), health);
  const hashOf = (secret: string | null) => (secret === null ? null : hashSecret(secret));
  let adminHash = hashOf(adminSecret);
  const uses = new KeyUses(store);
  const principalOf = (key: KeyRecord | null, hash: string) => {
    const now = clock.now();
    if (key === null || !isValidAt(key, hash, now)) return null;
    uses.record(key.id, now, key.hash !== hash);
    return toPrincipal(key);
  };
  const refresh = followChanges({
    readRevision: () => store.keyRevision(),
    listChanged: store.listChangedKeys?.bind(store),
    caches: [keys],
  });
  const identifyHash: KeyCache["identifyHash"] = async (hash) => principalOf(await keys.get(hash), hash);
  return {
    identifyHash,
    get adminHash() {
      return adminHash;
    },
    setAdminSecret(secret) {
      adminHash = hashOf(secret);
    },
    identify(secret) {
      const hash = hashSecret(secret);
      if (hash === adminHash) return Promise.resolve({ kind: "operator", keyId: ADMIN_KEY_ID });
      // A malformed secret cannot be a stored key's: do not ask the store.
      if (keys.peek(hash) === undefined && !isWellFormedSecret(secret)) return Promise.resolve(null);
      return identifyHash(hash);
    },
    peekKey: (secret) => keys.peek(hashSecret(secret)) ?? null,
    refresh,
    saveUses: () => uses.save(),
    changed({ hash, previousHash }) {
      keys.forget(hash);
      if (previousHash !== null) keys.forget(previousHash);
    },
  };
}

/** Whether a key is valid with a secret, which may be the one before its last rotation. */
function isValidAt(key: KeyRecord, hash: string, now: number): boolean {
  const { revokedAt, expiresAt, previousUntil } = key;
  if (revokedAt !== null || (expiresAt !== null && expiresAt <= now)) return false;
  return key.hash === hash || (previousUntil !== null && previousUntil > now);
}

function toPrincipal(key: KeyRecord): ApiKeyPrincipal | OperatorPrincipal {
  const isOperators = key.kind === "management" && key.accountId === DEFAULT_ACCOUNT_ID;
  return isOperators ? { kind: "operator", keyId: key.id } : { kind: "key", key };
}
