import type { Identity, IdentityStore } from "../../core/console/identity-store.ts";
import type { SqlRunner } from "./client.ts";
import { readInteger } from "./values.ts";

interface IdentityRow {
  issuer: string;
  subject: string;
  user_id: string;
  created_at: string;
}

/** Identities of OpenID Connect providers in PostgreSQL. */
export class PostgresIdentityStore implements IdentityStore {
  constructor(private readonly database: SqlRunner) {}

  async findIdentity(issuer: string, subject: string) {
    const [row] = await this.database.run<IdentityRow>(
      "SELECT * FROM identities WHERE issuer = $1 AND subject = $2",
      [issuer, subject],
    );
    return row === undefined ? null : readIdentity(row);
  }

  async addIdentity({ issuer, subject, userId, createdAt }: Identity) {
    const added = await this.database.run(
      `INSERT INTO identities (issuer, subject, user_id, created_at) VALUES ($1, $2, $3, $4)
       ON CONFLICT DO NOTHING RETURNING subject`,
      [issuer, subject, userId, createdAt],
    );
    return added.length === 1;
  }

  async listIdentities(limit: number) {
    const rows = await this.database.run<IdentityRow>(
      "SELECT * FROM identities ORDER BY created_at, subject LIMIT $1::bigint",
      [limit],
    );
    return rows.map(readIdentity);
  }

  async removeIdentity(issuer: string, subject: string) {
    const removed = await this.database.run(
      "DELETE FROM identities WHERE issuer = $1 AND subject = $2 RETURNING subject",
      [issuer, subject],
    );
    return removed.length === 1;
  }
}

function readIdentity({ issuer, subject, user_id, created_at }: IdentityRow): Identity {
  return { issuer, subject, userId: user_id, createdAt: readInteger(created_at) };
}
