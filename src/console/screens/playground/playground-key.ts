import { call } from "../../api/client.ts";

interface PlaygroundKey {
  readonly key: string;
  readonly expiresAt: number;
}

/** A key is replaced this long before its end, so that an answer is not cut off. Milliseconds. */
const SPARE_MS = 2 * 60_000;

/** The keys of this page by the account that pays; null is the own one. They are in memory only: a reload creates others. */
const keys = new Map<string | null, Promise<PlaygroundKey>>();

/**
 * Returns an inference key for the session. It is created with the first request and used until it ends. Only the operator may name
 * an account that pays.
 * @throws ApiError
 */
export async function getPlaygroundKey(accountId: string | null): Promise<string> {
  const before = keys.get(accountId) ?? replaceKey(accountId);
  const { key, expiresAt } = await before;
  if (expiresAt - Date.now() >= SPARE_MS) return key;
  // Another lane may have replaced it meanwhile.
  const latest = keys.get(accountId);
  const next = latest === undefined || latest === before ? replaceKey(accountId) : latest;
  return (await next).key;
}

function replaceKey(accountId: string | null): Promise<PlaygroundKey> {
  const created = createKey(accountId);
  keys.set(accountId, created);
  created.catch(() => keys.delete(accountId));
  return created;
}

/** Forgets the keys, for example because one was revoked. */
export function forgetPlaygroundKey(): void {
  keys.clear();
}

async function createKey(accountId: string | null): Promise<PlaygroundKey> {
  const body = accountId === null ? {} : { account_id: accountId };
  const { key, expires_at } = await call("POST /api/console/playground-key", { body });
  return { key, expiresAt: Date.parse(expires_at) };
}
