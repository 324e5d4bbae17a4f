import type { Clock } from "../../base/clock.ts";
import type { IdSource } from "../../base/ids.ts";
import { toDollars } from "../../base/money.ts";
import type { Random } from "../../base/random.ts";
import type { KeyStore } from "../ports/key-store.ts";
import { DEFAULT_ACCOUNT_ID, type KeyRecord } from "./records.ts";
import { createSecret, hashSecret, hintOf } from "./secrets.ts";

/** What making a key takes. */
export interface KeyMaker {
  readonly keys: KeyStore;
  readonly clock: Clock;
  readonly ids: IdSource;
  readonly random: Random;
}

/** What a new key is to be. */
export interface NewKey {
  readonly name: string;
  readonly kind: KeyRecord["kind"];
  /** Milliseconds since the epoch; null: never. */
  readonly expiresAt: number | null;
  /** Left out: the operator's own. */
  readonly accountId?: string;
  readonly userId?: string | null;
  readonly spendLimit?: number | null;
  readonly models?: readonly string[] | null;
}

/** Makes and stores a key. The secret is in this answer and nowhere else. */
export async function createKey(
  maker: KeyMaker,
  wanted: NewKey,
): Promise<{ secret: string; key: KeyRecord }> {
  const secret = createSecret(maker.random);
  const key: KeyRecord = {
    id: maker.ids.next("key"),
    kind: wanted.kind,
    accountId: wanted.accountId ?? DEFAULT_ACCOUNT_ID,
    userId: wanted.userId ?? null,
    name: wanted.name,
    hash: hashSecret(secret),
    hint: hintOf(secret),
    spendLimit: wanted.spendLimit ?? null,
    models: wanted.models ?? null,
    createdAt: maker.clock.now(),
    expiresAt: wanted.expiresAt,
    revokedAt: null,
  };
  await maker.keys.insertKey(key);
  return { secret, key };
}

/** A key as the management API and the command show it. */
export function describeKey(key: KeyRecord): Record<string, unknown> {
  return {
    id: key.id,
    name: key.name,
    kind: key.kind,
    hint: key.hint,
    account_id: key.accountId,
    user_id: key.userId,
    spend_limit: key.spendLimit === null ? null : toDollars(key.spendLimit),
    models: key.models,
    created_at: isoTime(key.createdAt),
    expires_at: isoTime(key.expiresAt),
    revoked_at: isoTime(key.revokedAt),
  };
}

function isoTime(ms: number | null): string | null {
  return ms === null ? null : new Date(ms).toISOString();
}
