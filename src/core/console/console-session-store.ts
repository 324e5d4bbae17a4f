import type { ConsoleSession } from "./console-session.ts";

/** Selects live sessions. A field that is null does not restrict the result. */
export interface SessionQuery {
  readonly accountId: string | null;
  readonly userId: string | null;
  /** Only sessions after this id in the order of the list. */
  readonly afterId: string | null;
  readonly limit: number;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** Stores console sessions and one-time codes. Several processes may share one. Times are milliseconds since the epoch. */
export interface ConsoleSessionStore {
  /** Inserts a session. Deletes sessions that have ended, and the oldest of the same key above `MAX_SESSIONS_OF_KEY`. */
  insertSession(session: ConsoleSession): Promise<void>;
  /** Returns the session with an id, even if it has ended and is not deleted yet. */
  findSession(id: string): Promise<ConsoleSession | null>;
  findSessionByHash(hash: string): Promise<ConsoleSession | null>;
  /** Returns sessions that have not ended and whose key is neither revoked nor expired, newest first. */
  listSessions(query: SessionQuery): Promise<readonly ConsoleSession[]>;
  /** Records that a session was used. An earlier time than the recorded one changes nothing. */
  touchSession(id: string, usedAt: number): Promise<void>;
  /** Deletes a session. Returns false if there was none. */
  deleteSession(id: string): Promise<boolean>;
  /** Inserts a one-time code by its SHA-256. Deletes codes that have expired by `now`. */
  insertCode(code: {
    readonly hash: string;
    readonly expiresAt: number;
    readonly now: number;
  }): Promise<void>;
  /** Deletes a code. Returns whether it was valid; of several callers at the same time only one gets true. */
  takeCode(hash: string, now: number): Promise<boolean>;
}
