import {
  type ConsoleSession,
  MAX_SESSIONS_OF_KEY,
  SESSION_IDLE_MS,
} from "../../core/console/console-session.ts";
import type { ConsoleSessionStore, SessionQuery } from "../../core/console/console-session-store.ts";
import type { SqlDatabase } from "./statements/database.ts";
import { type Sql, sql, type Work, where } from "./statements/statement.ts";
import { type Integer, readInteger, readNullableInteger } from "./statements/values.ts";

interface SessionRow {
  id: string;
  hash: string;
  key_id: string;
  key_hash: string;
  account_id: string;
  user_id: string | null;
  user_agent: string | null;
  authenticated_at: Integer | null;
  created_at: Integer;
  last_used_at: Integer;
  expires_at: Integer;
}

/** Console sessions and one-time codes. */
export class SqlConsoleSessionStore implements ConsoleSessionStore {
  constructor(private readonly database: SqlDatabase) {}

  insertSession(session: ConsoleSession) {
    return this.database.transaction(() => insertSession(session));
  }

  findSession(id: string) {
    return this.find(sql`id = ${id}`);
  }

  findSessionByHash(hash: string) {
    return this.find(sql`hash = ${hash}`);
  }

  /** The configured admin key has no row, so that a session without a key's row is listed. */
  async listSessions({ accountId, userId, afterId, limit, now }: SessionQuery) {
    const conditions = where(
      accountId === null ? null : sql`console_sessions.account_id = ${accountId}`,
      userId === null ? null : sql`console_sessions.user_id = ${userId}`,
      afterId === null ? null : sql`console_sessions.id < ${afterId}`,
      sql`console_sessions.expires_at > ${now}::bigint AND last_used_at > ${now - SESSION_IDLE_MS}::bigint`,
      sql`revoked_at IS NULL AND (api_keys.expires_at IS NULL OR api_keys.expires_at > ${now}::bigint)`,
    );
    const rows = await this.database.run(
      sql<SessionRow>`SELECT console_sessions.* FROM console_sessions LEFT JOIN api_keys ON api_keys.id = key_id
        ${conditions} ORDER BY console_sessions.id DESC LIMIT ${limit}::bigint`,
    );
    return rows.map(readSession);
  }

  async touchSession(id: string, usedAt: number) {
    await this.database.run(
      sql`UPDATE console_sessions SET last_used_at = ${usedAt}::bigint
        WHERE id = ${id} AND last_used_at < ${usedAt}::bigint`,
    );
  }

  async deleteSession(id: string) {
    const deleted = await this.database.run(sql`DELETE FROM console_sessions WHERE id = ${id} RETURNING id`);
    return deleted.length === 1;
  }

  async insertCode({ hash, expiresAt, now }: Parameters<ConsoleSessionStore["insertCode"]>[0]) {
    await this.database.run(sql`DELETE FROM console_codes WHERE expires_at <= ${now}::bigint`);
    await this.database.run(sql`INSERT INTO console_codes (hash, expires_at) VALUES (${hash}, ${expiresAt})`);
  }

  async takeCode(hash: string, now: number) {
    const taken = await this.database.run(
      sql`DELETE FROM console_codes WHERE hash = ${hash} AND expires_at > ${now}::bigint RETURNING hash`,
    );
    return taken.length === 1;
  }

  private async find(condition: Sql): Promise<ConsoleSession | null> {
    const [row] = await this.database.run(sql<SessionRow>`SELECT * FROM console_sessions WHERE ${condition}`);
    return row === undefined ? null : readSession(row);
  }
}

/** Inserts a session. Deletes ended sessions, and the oldest ones of its key. */
function* insertSession(session: ConsoleSession): Work<void> {
  const { id, hash, keyId, keyHash, accountId, userId, userAgent, authenticatedAt, createdAt } = session;
  yield* sql`DELETE FROM console_sessions
    WHERE expires_at <= ${createdAt}::bigint OR last_used_at <= ${createdAt - SESSION_IDLE_MS}::bigint`;
  yield* sql`DELETE FROM console_sessions WHERE key_id = ${keyId} AND id NOT IN
    (SELECT id FROM console_sessions WHERE key_id = ${keyId}
      ORDER BY id DESC LIMIT ${MAX_SESSIONS_OF_KEY - 1}::bigint)`;
  yield* sql`INSERT INTO console_sessions
      (id, hash, key_id, key_hash, account_id, user_id, user_agent, authenticated_at, created_at, last_used_at,
       expires_at)
    VALUES (${id}, ${hash}, ${keyId}, ${keyHash}, ${accountId}, ${userId}, ${userAgent}, ${authenticatedAt},
      ${createdAt}, ${session.lastUsedAt}, ${session.expiresAt})`;
}

function readSession(row: SessionRow): ConsoleSession {
  return {
    id: row.id,
    hash: row.hash,
    keyId: row.key_id,
    keyHash: row.key_hash,
    accountId: row.account_id,
    userId: row.user_id,
    userAgent: row.user_agent,
    authenticatedAt: readNullableInteger(row.authenticated_at),
    createdAt: readInteger(row.created_at),
    lastUsedAt: readInteger(row.last_used_at),
    expiresAt: readInteger(row.expires_at),
  };
}
