import type { Database } from "bun:sqlite";
import {
  type ConsoleSession,
  MAX_SESSIONS_OF_KEY,
  SESSION_IDLE_MS,
} from "../../core/console/console-session.ts";
import type { ConsoleSessionStore, SessionQuery } from "../../core/console/console-session-store.ts";

interface SessionRow {
  id: string;
  hash: string;
  key_id: string;
  key_hash: string;
  account_id: string;
  user_id: string | null;
  user_agent: string | null;
  authenticated_at: number | null;
  created_at: number;
  last_used_at: number;
  expires_at: number;
}

/** Console sessions and one-time codes in SQLite. */
export class SqliteConsoleSessionStore implements ConsoleSessionStore {
  constructor(private readonly database: Database) {}

  async insertSession(session: ConsoleSession) {
    const { keyId, createdAt: now } = session;
    const insert = this.database.transaction(() => {
      this.database.query(DELETE_ENDED).run({ now, idleAt: now - SESSION_IDLE_MS });
      this.database.query(DELETE_OLDEST).run({ keyId, kept: MAX_SESSIONS_OF_KEY - 1 });
      this.database.query(INSERT).run({ ...session });
    });
    insert.immediate();
  }

  async findSession(id: string) {
    return this.findOne("id", id);
  }

  async findSessionByHash(hash: string) {
    return this.findOne("hash", hash);
  }

  async listSessions({ accountId, userId, afterId, limit, now }: SessionQuery) {
    const values = { accountId, userId, afterId, limit, now, idleAt: now - SESSION_IDLE_MS };
    return this.database.query<SessionRow, typeof values>(LIST).all(values).map(readSession);
  }

  async touchSession(id: string, usedAt: number) {
    const touch = this.database.query(
      "UPDATE console_sessions SET last_used_at = $usedAt WHERE id = $id AND last_used_at < $usedAt",
    );
    touch.run({ id, usedAt });
  }

  async deleteSession(id: string) {
    return this.database.query("DELETE FROM console_sessions WHERE id = ?").run(id).changes === 1;
  }

  async insertCode({ hash, expiresAt, now }: Parameters<ConsoleSessionStore["insertCode"]>[0]) {
    this.database.query("DELETE FROM console_codes WHERE expires_at <= ?").run(now);
    this.database.query("INSERT INTO console_codes (hash, expires_at) VALUES (?, ?)").run(hash, expiresAt);
  }

  async takeCode(hash: string, now: number) {
    const take = this.database.query("DELETE FROM console_codes WHERE hash = ? AND expires_at > ?");
    return take.run(hash, now).changes === 1;
  }

  private findOne(column: "id" | "hash", value: string): ConsoleSession | null {
    const find = this.database.query<SessionRow, [string]>(
      `SELECT * FROM console_sessions WHERE ${column} = ?`,
    );
    const row = find.get(value);
    return row === null ? null : readSession(row);
  }
}

const DELETE_ENDED = "DELETE FROM console_sessions WHERE expires_at <= $now OR last_used_at <= $idleAt";

const DELETE_OLDEST = `DELETE FROM console_sessions WHERE key_id = $keyId AND id NOT IN
  (SELECT id FROM console_sessions WHERE key_id = $keyId ORDER BY id DESC LIMIT $kept)`;

const INSERT = `INSERT INTO console_sessions
    (id, hash, key_id, key_hash, account_id, user_id, user_agent, authenticated_at, created_at, last_used_at,
     expires_at)
  VALUES
    ($id, $hash, $keyId, $keyHash, $accountId, $userId, $userAgent, $authenticatedAt, $createdAt, $lastUsedAt,
     $expiresAt)`;

/** The configured admin key has no row, so that a session without a key's row is listed. */
const LIST = `SELECT console_sessions.* FROM console_sessions LEFT JOIN api_keys ON api_keys.id = key_id
  WHERE ($accountId IS NULL OR console_sessions.account_id = $accountId)
    AND ($userId IS NULL OR console_sessions.user_id = $userId)
    AND ($afterId IS NULL OR console_sessions.id < $afterId)
    AND console_sessions.expires_at > $now AND last_used_at > $idleAt
    AND revoked_at IS NULL AND (api_keys.expires_at IS NULL OR api_keys.expires_at > $now)
  ORDER BY console_sessions.id DESC LIMIT $limit`;

function readSession(row: SessionRow): ConsoleSession {
  return {
    id: row.id,
    hash: row.hash,
    keyId: row.key_id,
    keyHash: row.key_hash,
    accountId: row.account_id,
    userId: row.user_id,
    userAgent: row.user_agent,
    authenticatedAt: row.authenticated_at,
    createdAt: row.created_at,
    lastUsedAt: row.last_used_at,
    expiresAt: row.expires_at,
  };
}
