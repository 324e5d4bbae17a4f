import { call } from "../../api/client.ts";

interface PlaygroundKey {
  readonly key: string;
  readonly expiresAt: number;
  /** US dollars that may be spent with the key. */
  readonly limit: number;
}

/** A key is replaced this long before its end, so that an answer is not cut off. Milliseconds. */
const SPARE_MS = 2 * 60_000;

/** The key of this page. It is in memory only: a reload creates another one. */
let current: Promise<PlaygroundKey> | null = null;
let known: PlaygroundKey | null = null;

/**
 * Returns an inference key for the session. It is created with the first request and used until it ends.
 * @throws ApiError
 */
export async function getPlaygroundKey(): Promise<string> {
  if (known !== null && known.expiresAt - Date.now() < SPARE_MS) forgetPlaygroundKey();
  current ??= createKey();
  try {
    known = await current;
  } catch (error) {
    forgetPlaygroundKey();
    throw error;
  }
  return known.key;
}

/** Forgets the key, for example because it was revoked. */
export function forgetPlaygroundKey(): void {
  current = null;
  known = null;
}

async function createKey(): Promise<PlaygroundKey> {
  const { key, expires_at, limit } = await call("POST /api/console/playground-key", { body: {} });
  return { key, expiresAt: Date.parse(expires_at), limit };
}
