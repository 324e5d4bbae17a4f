import {
  type ConsoleSession,
  MAX_SESSIONS_OF_KEY,
  SESSION_IDLE_MS,
} from "../../core/console/console-session.ts";
import type { ConsoleSessionStore, SessionQuery } from "../../core/console/console-session-store.ts";
import type { Postgres, SqlRunner } from "./client.ts";
import { readInteger, readNullableInteger } from "./values.ts";

interface SessionRow {
  id: string;
  hash: string;
  key_id: string;
  key_hash: string;
  account_id: string;
  user_id: string | null;
  user_agent: string | null;
  authenticated_at: string | null;
  created_at: string;
  last_used_at: string;
  expires_at: string;
}

/** Console sessions and one-time codes in PostgreSQL. */
export class PostgresConsoleSessionStore implements ConsoleSessionStore {
  constructor(private readonly database: Postgres) {}

  async insertSession(session: ConsoleSession) {
    const { id, hash, keyId, keyHash, accountId, userId, userAgent, authenticatedAt, createdAt } = session;
    const times = [createdAt, session.lastUsedAt, session.expiresAt];
    await this.database.transaction(async (sql) => {
      await sql.run(DELETE_ENDED, [createdAt, createdAt - SESSION_IDLE_MS]);
      await sql.run(DELETE_OLDEST, [keyId, MAX_SESSIONS_OF_KEY - 1]);
      const person = [accountId, userId, userAgent, authenticatedAt];
      await sql.run(INSERT, [id, hash, keyId, keyHash, ...person, ...times]);
    });
  }

  findSession(id: string) {
    return findOne(this.database, "SELECT * FROM console_sessions WHERE id = $1", id);
  }

  findSessionByHash(hash: string) {
    return findOne(this.database, "SELECT * FROM console_sessions WHERE hash = $1", hash);
  }

  async listSessions({ accountId, userId, afterId, limit, now }: SessionQuery) {
    const values = [accountId, userId, afterId, now, now - SESSION_IDLE_MS, limit];
    return (await this.database.run<SessionRow>(LIST, values)).map(readSession);
  }

  async touchSession(id: string, usedAt: number) {
    await this.database.run(
      "UPDATE console_sessions SET last_used_at = $2::bigint WHERE id = $1 AND last_used_at < $2::bigint",
      [id, usedAt],
    );
  }

  async deleteSession(id: string) {
    const deleted = await this.database.run("DELETE FROM console_sessions WHERE id = $1 RETURNING id", [id]);
    return deleted.length === 1;
  }

  async insertCode({ hash, expiresAt, now }: Parameters<ConsoleSessionStore["insertCode"]>[0]) {
    await this.database.run("DELETE FROM console_codes WHERE expires_at <= $1::bigint", [now]);
    await this.database.run("INSERT INTO console_codes (hash, expires_at) VALUES ($1, $2)", [
      hash,
      expiresAt,
    ]);
  }

  async takeCode(hash: string, now: number) {
    const taken = await this.database.run(
      "DELETE FROM console_codes WHERE hash = $1 AND expires_at > $2::bigint RETURNING hash",
      [hash, now],
    );
    return taken.length === 1;
  }
}

const DELETE_ENDED =
  "DELETE FROM console_sessions WHERE expires_at <= $1::bigint OR last_used_at <= $2::bigint";

const DELETE_OLDEST = `DELETE FROM console_sessions WHERE key_id = $1 AND id NOT IN
  (SELECT id FROM console_sessions WHERE key_id = $1 ORDER BY id DESC LIMIT $2::bigint)`;

const INSERT = `INSERT INTO console_sessions
    (id, hash, key_id, key_hash, account_id, user_id, user_agent, authenticated_at, created_at, last_used_at,
     expires_at)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`;

/** The configured admin key has no row, so that a session without a key's row is listed. */
const LIST = `SELECT console_sessions.* FROM console_sessions LEFT JOIN api_keys ON api_keys.id = key_id
  WHERE ($1::text IS NULL OR console_sessions.account_id = $1)
    AND ($2::text IS NULL OR console_sessions.user_id = $2)
    AND ($3::text IS NULL OR console_sessions.id < $3)
    AND console_sessions.expires_at > $4::bigint AND last_used_at > $5::bigint
    AND revoked_at IS NULL AND (api_keys.expires_at IS NULL OR api_keys.expires_at > $4::bigint)
  ORDER BY console_sessions.id DESC LIMIT $6::bigint`;

async function findOne(sql: SqlRunner, text: string, value: string): Promise<ConsoleSession | null> {
  const [row] = await sql.run<SessionRow>(text, [value]);
  return row === undefined ? null : readSession(row);
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
