import { sha256 } from "../../base/secrets/hash.ts";
import type { Random } from "../../base/secrets/random.ts";
import { createSecretText } from "../../base/secrets/secret-text.ts";
import type { Clock } from "../../base/time/clock.ts";
import { DEFAULT_ACCOUNT_ID, type KeyRecord } from "../accounts/records/records.ts";
import type { KeyStore } from "../accounts/stores/key-store.ts";
import type { ConsoleSessionStore } from "./console-session-store.ts";
import { createAdminSessionKey, type SessionKey } from "./console-sessions.ts";

/** How long a one-time code is valid. Milliseconds. */
export const CODE_MS = 3_600_000;

/** Creates a code that signs in one browser as the operator. Only its hash is stored. */
export async function createOneTimeCode({
  store,
  clock,
  random,
}: {
  readonly store: ConsoleSessionStore;
  readonly clock: Clock;
  readonly random: Random;
}): Promise<string> {
  const code = createSecretText(random);
  const now = clock.now();
  await store.insertCode({ hash: sha256(code, "hex"), expiresAt: now + CODE_MS, now });
  return code;
}

/** Uses up a code. Returns whether it was valid. `now` is in milliseconds since the epoch. */
export function takeOneTimeCode(store: ConsoleSessionStore, code: string, now: number): Promise<boolean> {
  return store.takeCode(sha256(code, "hex"), now);
}

/**
 * Returns the key that a session by one-time code acts as: the configured admin key, otherwise the operator's management key that is valid
 * for the longest time; null if there is none.
 */
export async function findOperatorKey(
  keys: KeyStore,
  adminHash: string | null,
  now: number,
): Promise<SessionKey | null> {
  if (adminHash !== null) return createAdminSessionKey(adminHash);
  const all = await keys.listKeys({ accountId: DEFAULT_ACCOUNT_ID });
  const valid = all.filter((key) => key.kind === "management" && key.revokedAt === null && endOf(key) > now);
  return valid.sort((a, b) => (endOf(b) > endOf(a) ? 1 : endOf(b) < endOf(a) ? -1 : 0))[0] ?? null;
}

function endOf({ expiresAt }: KeyRecord): number {
  return expiresAt ?? Number.POSITIVE_INFINITY;
}
