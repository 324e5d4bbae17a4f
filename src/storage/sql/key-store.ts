import { HOUR_MS } from "../../base/time/time.ts";
import type { KeyRecord } from "../../core/accounts/records/records.ts";
import type {
  FormerSecretQuery,
  KeyOrder,
  KeyOwner,
  KeyQuery,
  KeyStore,
  KeyUse,
  NewSecret,
} from "../../core/accounts/stores/key-store.ts";
import { findNames } from "./find-names.ts";
import { contains } from "./statements/contains.ts";
import type { SqlDatabase } from "./statements/database.ts";
import { Revision } from "./statements/revision.ts";
import { type Sql, sql, type Work, where } from "./statements/statement.ts";
import { integer, json, named, Table, text } from "./statements/table.ts";
import { type Integer, readInteger } from "./statements/values.ts";

/** The table of keys. */
export const KEYS = new Table<KeyRecord>("api_keys", {
  id: text,
  kind: text,
  accountId: text,
  userId: text,
  teamId: text,
  name: text,
  hash: text,
  hint: text,
  rotatedAt: integer,
  previousHash: text,
  previousHint: text,
  previousUntil: integer,
  previousUsedAt: integer,
  spendLimit: integer,
  spendLimitPeriod: text,
  models: json,
  rateLimit: json,
  promptLog: named("prompt_log_seconds", integer),
  cache: named("cache_seconds", integer),
  tags: json,
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
  "tags",
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

  insertKeyWithin(key: KeyRecord, most: number) {
    return this.revision.change(
      () => insertWithin(key, most),
      (isInserted) => isInserted,
    );
  }

  async countValidKeys(owner: KeyOwner, now: number) {
    const [row] = await this.database.run(countValid(owner, now));
    return readInteger(row?.count ?? 0);
  }

  findKey(id: string) {
    return this.find(selectKey(id));
  }

  findKeyByHash(hash: string) {
    return this.find(KEYS.select(sql`WHERE hash = ${hash} OR previous_hash = ${hash}`));
  }

  findKeyNames(ids: readonly string[], accountId?: string) {
    const condition = accountId === undefined ? undefined : sql`account_id = ${accountId}`;
    return findNames(this.database, "api_keys", ids, condition);
  }

  async listKeys(query: KeyQuery = {}) {
    const { accountId, userId, teamId, seenBy, secretBefore, name, search, unused, order, limit } = query;
    const conditions = where(
      accountId == null ? null : sql`account_id = ${accountId}`,
      userId == null ? null : sql`user_id = ${userId}`,
      teamId == null ? null : sql`team_id = ${teamId}`,
      seenBy == null ? null : this.matchSeenBy(seenBy),
      secretBefore == null
        ? null
        : sql`coalesce(rotated_at, created_at) < ${secretBefore}::bigint AND revoked_at IS NULL`,
      name == null ? null : sql`lower(name) = lower(${name}::text)`,
      search == null ? null : contains(["name", "hint"], search),
      unused == null ? null : matchUnused(unused),
      matchAfter(query),
    );
    const page = limit === undefined ? sql`` : sql`LIMIT ${limit}::bigint`;
    const rows = await this.database.run(
      KEYS.select(sql`${conditions} ORDER BY ${ORDERS[order ?? "newest"]} ${page}`),
    );
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

  async claimFormerSecrets({ now, withinMs, limit }: FormerSecretQuery) {
    const halfway = sql`(rotated_at + previous_until) / 2`;
    const earliest = sql`previous_until - ${withinMs}::bigint`;
    // Uses have the begin of their hour.
    const lastUse = sql`previous_used_at + ${HOUR_MS}::bigint`;
    const rows = await this.database.run(
      sql`UPDATE api_keys SET previous_announced_at = ${now}::bigint WHERE id IN (
          SELECT id FROM api_keys WHERE previous_until > ${now}::bigint AND revoked_at IS NULL
            AND (expires_at IS NULL OR expires_at > ${now}::bigint) AND previous_announced_at IS NULL
            AND ${earliest} <= ${now}::bigint AND ${halfway} <= ${now}::bigint
            AND ${lastUse} > ${earliest} AND ${lastUse} > ${halfway}
          ORDER BY previous_until, id LIMIT ${limit}::bigint
        ) RETURNING *`,
    );
    return rows.map(KEYS.read);
  }

  changeKey(id: string, change: (key: KeyRecord) => KeyRecord) {
    return this.revision.change(
      () => changeKey(id, change),
      (key) => key !== null,
    );
  }

  async rotateKey(id: string, { hash, hint, at, previousUntil }: NewSecret) {
    const keeps = previousUntil !== null;
    const rotate = sql`UPDATE api_keys SET hash = ${hash}, hint = ${hint}, rotated_at = ${at}::bigint,
        previous_hash = ${keeps ? sql`hash` : sql`NULL`}, previous_hint = ${keeps ? sql`hint` : sql`NULL`},
        previous_until = ${previousUntil}::bigint, previous_used_at = NULL, previous_announced_at = NULL
      WHERE id = ${id} AND revoked_at IS NULL RETURNING *`;
    const rows = await this.revision.change(
      () => rotate,
      (changed) => changed.length > 0,
    );
    return KEYS.readFirst(rows);
  }

  async revokeKey(id: string, revokedAt: number) {
    const revoke = sql`UPDATE api_keys SET revoked_at = coalesce(revoked_at, ${revokedAt}::bigint)
      WHERE id = ${id} RETURNING *`;
    return KEYS.readFirst(await this.revision.change(() => revoke));
  }

  /** Locks the rows in the order of their ids, so that two processes that record uses of the same keys cannot deadlock. */
  async recordKeyUses(uses: readonly KeyUse[]) {
    await this.recordUses(uses, sql`used_at`);
    const previous = uses.filter(({ isPrevious }) => isPrevious === true);
    if (previous.length > 0) await this.recordUses(previous, sql`previous_used_at`);
  }

  private async recordUses(uses: readonly KeyUse[], column: Sql): Promise<void> {
    const rows = uses.map(({ id, usedAt }) => [id, usedAt]);
    const used = this.database.traits.listAs("used", { id: "text", at: "bigint" }, rows);
    await this.database.run(
      sql`WITH uses AS (SELECT used.id, max(used.at) AS at FROM ${used} GROUP BY used.id), held AS (
          SELECT id, at FROM api_keys JOIN uses USING (id) WHERE coalesce(${column}, 0) < at
            ORDER BY id FOR UPDATE OF api_keys
        )
        UPDATE api_keys SET ${column} = held.at FROM held WHERE api_keys.id = held.id`,
    );
  }

  keyRevision() {
    return this.revision.read();
  }

  listChangedKeys(cursor: string | null) {
    return this.revision.listChanged(cursor);
  }

  private matchSeenBy({ userId, teamIds }: NonNullable<KeyQuery["seenBy"]>): Sql {
    if (teamIds.length === 0) return sql`user_id = ${userId}`;
    const rows = teamIds.map((id) => [id]);
    const seen = this.database.traits.listAs("seen", { id: "text" }, rows);
    return sql`(user_id = ${userId} OR team_id IN (SELECT seen.id FROM ${seen}))`;
  }

  private async find(statement: Sql): Promise<KeyRecord | null> {
    return KEYS.readFirst(await this.database.run(statement));
  }
}

/** The orders of lists. Ids rise with time. */
const ORDERS: Readonly<Record<KeyOrder, Sql>> = {
  newest: sql`id DESC`,
  oldest_secret: sql`coalesce(rotated_at, created_at), id`,
  least_used: sql`coalesce(used_at, 0), id`,
};

/** Returns the condition that keys come after one in the order of a list; null from the beginning. */
function matchAfter({ afterId, order = "newest" }: KeyQuery): Sql | null {
  if (afterId == null) return null;
  if (order === "newest") return sql`id < ${afterId}`;
  const value = order === "oldest_secret" ? sql`coalesce(rotated_at, created_at)` : sql`coalesce(used_at, 0)`;
  return sql`(${value}, id) > (SELECT ${value}, id FROM api_keys WHERE id = ${afterId})`;
}

function* insertWithin(key: KeyRecord, most: number): Work<boolean> {
  const { accountId, userId, createdAt } = key;
  const [row] = yield* countValid({ accountId, userId: userId ?? "" }, createdAt);
  if (readInteger(row?.count ?? 0) >= most) return false;
  yield* KEYS.insert(key);
  return true;
}

function countValid({ accountId, userId }: KeyOwner, now: number): Sql<{ count: Integer }> {
  return sql<{ count: Integer }>`SELECT count(*) AS count FROM api_keys
    WHERE account_id = ${accountId} AND user_id = ${userId} AND kind = 'inference'
      AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > ${now}::bigint)`;
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
