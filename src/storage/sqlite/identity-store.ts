import type { Database } from "bun:sqlite";
import type { Identity, IdentityStore } from "../../core/console/identity-store.ts";

interface IdentityRow {
  issuer: string;
  subject: string;
  user_id: string;
  created_at: number;
}

/** Identities of OpenID Connect providers in SQLite. */
export function createSqliteIdentityStore(database: Database): IdentityStore {
  const find = database.query<IdentityRow, [string, string]>(
    "SELECT * FROM identities WHERE issuer = ? AND subject = ?",
  );
  const list = database.query<IdentityRow, [number]>(
    "SELECT * FROM identities ORDER BY created_at, subject LIMIT ?",
  );
  const insert = database.query(
    "INSERT INTO identities (issuer, subject, user_id, created_at) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING",
  );
  const remove = database.query("DELETE FROM identities WHERE issuer = ? AND subject = ?");
  return {
    async findIdentity(issuer, subject) {
      const row = find.get(issuer, subject);
      return row === null ? null : readIdentity(row);
    },
    async addIdentity({ issuer, subject, userId, createdAt }) {
      return insert.run(issuer, subject, userId, createdAt).changes === 1;
    },
    async listIdentities(limit) {
      return list.all(limit).map(readIdentity);
    },
    async removeIdentity(issuer, subject) {
      return remove.run(issuer, subject).changes === 1;
    },
  };
}

function readIdentity({ issuer, subject, user_id, created_at }: IdentityRow): Identity {
  return { issuer, subject, userId: user_id, createdAt: created_at };
}
