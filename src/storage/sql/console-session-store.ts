import {
  type ConsoleSession,
  MAX_SESSIONS_OF_KEY,
  SESSION_IDLE_MS,
} from "../../core/console/console-session.ts";
import type { ConsoleSessionStore, SessionQuery } from "../../core/console/console-session-store.ts";
import type { SqlDatabase } from "./statements/database.ts";
import { type Sql, sql, type Work, where } from "./statements/statement.ts";
import { integer, Table, text } from "./statements/table.ts";

const SESSIONS = new Table<ConsoleSession>("console_sessions", {
  id: text,
  hash: text,
  keyId: text,
  keyHash: text,
  accountId: text,
  userId: text,
  userAgent: text,
  authenticatedAt: integer,
  createdAt: integer,
  lastUsedAt: integer,
  expiresAt: integer,
});

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
      sql`SELECT console_sessions.* FROM console_sessions LEFT JOIN api_keys ON api_keys.id = key_id
        ${conditions} ORDER BY console_sessions.id DESC LIMIT ${limit}::bigint`,
    );
    return rows.map(SESSIONS.read);
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
    return SESSIONS.readFirst(await this.database.run(SESSIONS.select(sql`WHERE ${condition}`)));
  }
}

/** Inserts a session. Deletes ended sessions, and the oldest ones of its key. */
function* insertSession(session: ConsoleSession): Work<void> {
  const { keyId, createdAt } = session;
  yield* sql`DELETE FROM console_sessions
    WHERE expires_at <= ${createdAt}::bigint OR last_used_at <= ${createdAt - SESSION_IDLE_MS}::bigint`;
  yield* sql`DELETE FROM console_sessions WHERE key_id = ${keyId} AND id NOT IN
    (SELECT id FROM console_sessions WHERE key_id = ${keyId}
      ORDER BY id DESC LIMIT ${MAX_SESSIONS_OF_KEY - 1}::bigint)`;
  yield* SESSIONS.insert(session);
}
