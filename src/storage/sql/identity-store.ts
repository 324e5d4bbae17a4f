import type { Identity, IdentityStore } from "../../core/console/identity-store.ts";
import type { SqlDatabase } from "./statements/database.ts";
import { sql } from "./statements/statement.ts";
import { type Integer, readInteger } from "./statements/values.ts";

interface IdentityRow {
  issuer: string;
  subject: string;
  user_id: string;
  created_at: Integer;
}

/** Identities of OpenID Connect providers. */
export class SqlIdentityStore implements IdentityStore {
  constructor(private readonly database: SqlDatabase) {}

  async findIdentity(issuer: string, subject: string) {
    const [row] = await this.database.run(
      sql<IdentityRow>`SELECT * FROM identities WHERE issuer = ${issuer} AND subject = ${subject}`,
    );
    return row === undefined ? null : readIdentity(row);
  }

  async addIdentity({ issuer, subject, userId, createdAt }: Identity) {
    const added = await this.database.run(
      sql`INSERT INTO identities (issuer, subject, user_id, created_at)
        VALUES (${issuer}, ${subject}, ${userId}, ${createdAt}) ON CONFLICT DO NOTHING RETURNING subject`,
    );
    return added.length === 1;
  }

  async listIdentities(limit: number) {
    const rows = await this.database.run(
      sql<IdentityRow>`SELECT * FROM identities ORDER BY created_at, subject LIMIT ${limit}::bigint`,
    );
    return rows.map(readIdentity);
  }

  async removeIdentity(issuer: string, subject: string) {
    const removed = await this.database.run(
      sql`DELETE FROM identities WHERE issuer = ${issuer} AND subject = ${subject} RETURNING subject`,
    );
    return removed.length === 1;
  }
}

function readIdentity({ issuer, subject, user_id, created_at }: IdentityRow): Identity {
  return { issuer, subject, userId: user_id, createdAt: readInteger(created_at) };
}
