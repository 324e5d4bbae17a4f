import type { Identity, IdentityStore } from "../../core/console/identity-store.ts";
import type { SqlDatabase } from "./statements/database.ts";
import { sql } from "./statements/statement.ts";
import { integer, Table, text } from "./statements/table.ts";

const IDENTITIES = new Table<Identity>("identities", {
  issuer: text,
  subject: text,
  userId: text,
  createdAt: integer,
});

/** Identities of OpenID Connect providers. */
export class SqlIdentityStore implements IdentityStore {
  constructor(private readonly database: SqlDatabase) {}

  async findIdentity(issuer: string, subject: string) {
    const statement = IDENTITIES.select(sql`WHERE issuer = ${issuer} AND subject = ${subject}`);
    return IDENTITIES.readFirst(await this.database.run(statement));
  }

  async addIdentity(identity: Identity) {
    const added = await this.database.run(
      sql`${IDENTITIES.insert(identity)} ON CONFLICT DO NOTHING RETURNING subject`,
    );
    return added.length === 1;
  }

  async listIdentities(limit: number) {
    const rows = await this.database.run(
      IDENTITIES.select(sql`ORDER BY created_at, subject LIMIT ${limit}::bigint`),
    );
    return rows.map(IDENTITIES.read);
  }

  async removeIdentity(issuer: string, subject: string) {
    const removed = await this.database.run(
      sql`DELETE FROM identities WHERE issuer = ${issuer} AND subject = ${subject} RETURNING subject`,
    );
    return removed.length === 1;
  }
}
