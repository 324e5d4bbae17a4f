import type { KeyRecord } from "../../core/accounts/records/records.ts";
import type { KeyQuery, KeyStore, KeyUse } from "../../core/accounts/stores/key-store.ts";
import { findNames } from "./find-names.ts";
import { contains } from "./statements/contains.ts";
import type { SqlDatabase } from "./statements/database.ts";
import { Revision } from "./statements/revision.ts";
import { type Sql, sql, type Work, where } from "./statements/statement.ts";
import { integer, json, named, Table, text } from "./statements/table.ts";

/** The table of keys. */
export const KEYS = new Table<KeyRecord>("api_keys", {
  id: text,
  kind: text,
  accountId: text,
  userId: text,
  name: text,
  hash: text,
  hint: text,
  spendLimit: integer,
  spendLimitPeriod: text,
  models: json,
  rateLimit: json,
  promptLog: named("prompt_log_seconds", integer),
  cache: named("cache_seconds", integer),
  createdAt: integer,
  expiresAt: integer,
  revokedAt: integer,
  lastUsedAt: named("used_at", integer),
});

/** The columns of a key that can change. */
const CHANGING = [
  "name",
  "spendLimit",
  "spendLimitPeriod",
  "models",
  "rateLimit",
  "promptLog",
  "cache",
  "expiresAt",
] as const;

/** API keys. Every change raises the revision in the same transaction. */
export class SqlKeyStore implements KeyStore {
  private readonly revision: Revision;

  constructor(protected readonly database: SqlDatabase) {
    this.revision = new Revision(database, "keys");
  }

  async insertKey(key: KeyRecord) {
    await this.revision.change(() => KEYS.insert(key));
  }

  findKey(id: string) {
    return this.find(selectKey(id));
  }

  findKeyByHash(hash: string) {
    return this.find(KEYS.select(sql`WHERE hash = ${hash}`));
  }

  findKeyNames(ids: readonly string[]) {
    return findNames(this.database, "api_keys", ids);
  }

  async listKeys({ accountId, userId, name, search, unused, afterId, limit }: KeyQuery = {}) {
    const conditions = where(
      accountId == null ? null : sql`account_id = ${accountId}`,
      userId == null ? null : sql`user_id = ${userId}`,
      name == null ? null : sql`lower(name) = lower(${name}::text)`,
      search == null ? null : contains(["name", "hint"], search),
      unused == null ? null : matchUnused(unused),
      afterId == null ? null : sql`id < ${afterId}`,
    );
    const page = limit === undefined ? sql`` : sql`LIMIT ${limit}::bigint`;
    // Ids rise with time.
    const rows = await this.database.run(KEYS.select(sql`${conditions} ORDER BY id DESC ${page}`));
    return rows.map(KEYS.read);
  }

  async listExpiringKeys(after: number, until: number, limit: number) {
    const rows = await this.database.run(
      KEYS.select(
        sql`WHERE expires_at > ${after}::bigint AND expires_at <= ${until}::bigint AND revoked_at IS NULL
        ORDER BY expires_at, id LIMIT ${limit}::bigint`,
      ),
    );
    return rows.map(KEYS.read);
  }

  changeKey(id: string, change: (key: KeyRecord) => KeyRecord) {
    return this.revision.change(
      () => changeKey(id, change),
      (key) => key !== null,
    );
  }

  async revokeKey(id: string, revokedAt: number) {
    const revoke = sql`UPDATE api_keys SET revoked_at = coalesce(revoked_at, ${revokedAt}::bigint)
      WHERE id = ${id} RETURNING *`;
    return KEYS.readFirst(await this.revision.change(() => revoke));
  }

  /** Locks the rows in the order of their ids, so that two processes that record uses of the same keys cannot deadlock. */
  async recordKeyUses(uses: readonly KeyUse[]) {
    const rows = uses.map(({ id, usedAt }) => [id, usedAt]);
    const used = this.database.traits.listAs("used", { id: "text", at: "bigint" }, rows);
    await this.database.run(
      sql`WITH uses AS (SELECT used.id, max(used.at) AS at FROM ${used} GROUP BY used.id), held AS (
          SELECT id, at FROM api_keys JOIN uses USING (id) WHERE coalesce(used_at, 0) < at
            ORDER BY id FOR UPDATE OF api_keys
        )
        UPDATE api_keys SET used_at = held.at FROM held WHERE api_keys.id = held.id`,
    );
  }

  keyRevision() {
    return this.revision.read();
  }

  listChangedKeys(cursor: string | null) {
    return this.revision.listChanged(cursor);
  }

  private async find(statement: Sql): Promise<KeyRecord | null> {
    return KEYS.readFirst(await this.database.run(statement));
  }
}

function selectKey(id: string): Sql {
  return KEYS.select(sql`WHERE id = ${id}`);
}

function* changeKey(id: string, change: (key: KeyRecord) => KeyRecord): Work<KeyRecord | null> {
  const before = KEYS.readFirst(yield* selectKey(id));
  if (before === null) return null;
  const key = change(before);
  const changed = yield* sql`UPDATE api_keys ${KEYS.set(key, CHANGING)} WHERE id = ${id} RETURNING *`;
  return KEYS.readFirst(changed);
}

/** A revoked key is in use no more, and a new one may not be yet. */
function matchUnused({ before }: NonNullable<KeyQuery["unused"]>): Sql {
  if (before === null) return sql`used_at IS NULL AND revoked_at IS NULL`;
  return sql`coalesce(used_at, created_at) < ${before}::bigint AND revoked_at IS NULL`;
}
