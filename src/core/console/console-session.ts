import { DAY_MS, HOUR_MS } from "../../base/time/time.ts";

/** How long a session lasts without a request. Milliseconds. */
export const SESSION_IDLE_MS = 12 * HOUR_MS;
/** The maximum duration of a session. Milliseconds. */
export const SESSION_MAX_MS = 7 * DAY_MS;
/** The time of the last use is saved at most once in this period. Milliseconds. */
export const SESSION_TOUCH_MS = 60_000;
/** The maximum number of concurrent sessions of one key. Another sign-in ends the oldest. */
export const MAX_SESSIONS_OF_KEY = 100;
/** The longest user agent that is stored. Characters. */
const MAX_USER_AGENT_CHARS = 256;

/** A stored console session: a browser that signed in with a management key. Only the browser's cookie has its secret. */
export interface ConsoleSession {
  /** `sess_…` */
  readonly id: string;
  /** SHA-256 of the secret, hex. */
  readonly hash: string;
  /** The key that the session acts as. It has the key's rights, and ends with the key. */
  readonly keyId: string;
  /** SHA-256 of the key's secret, hex. For the configured admin key, which may be easy to guess, combined with the session's secret. */
  readonly keyHash: string;
  /** The account of the key. */
  readonly accountId: string;
  /** The user of the key; null for a service key and for the operator's keys. */
  readonly userId: string | null;
  /** The browser, as it names itself; null if it does not. */
  readonly userAgent: string | null;
  /**
   * The time of the person's last sign-in at the OpenID Connect provider, in milliseconds since the epoch; 0 if the provider did not state
   * it. Null for a session by key or one-time code.
   */
  readonly authenticatedAt: number | null;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  /** Milliseconds since the epoch, up to a minute late. */
  readonly lastUsedAt: number;
  /** When the session ends however much it is used. Milliseconds since the epoch. */
  readonly expiresAt: number;
}

/** Returns whether a session has not ended by its age or by being idle. `now` is in milliseconds since the epoch. */
export function isLiveSession({ lastUsedAt, expiresAt }: ConsoleSession, now: number): boolean {
  return expiresAt > now && lastUsedAt + SESSION_IDLE_MS > now;
}

/** Returns the stored form of a request's user agent. */
export function shortenUserAgent(userAgent: string | null): string | null {
  return userAgent === null || userAgent === "" ? null : userAgent.slice(0, MAX_USER_AGENT_CHARS);
}
