import type { Database } from "bun:sqlite";
import { createTurnLine } from "../../base/time/next-turn.ts";
import type { KeyRateLimit } from "../../core/accounts/fields/rate-limit.ts";
import type { KeyRecord } from "../../core/accounts/records/records.ts";
import type { KeyQuery, KeyStore, KeyUse } from "../../core/accounts/stores/key-store.ts";
import { describeConditions } from "./describe-conditions.ts";
import { findNames } from "./find-names.ts";
import { Revision } from "./revision.ts";

interface KeyRow {
  id: string;
  kind: KeyRecord["kind"];
  account_id: string;
  user_id: string | null;
  name: string;
  hash: string;
  hint: string;
  spend_limit: number | null;
  spend_limit_period: KeyRecord["spendLimitPeriod"];
  models: string | null;
  rate_limit: string | null;
  prompt_log_seconds: number | null;
  cache_seconds: number | null;
  created_at: number;
  expires_at: number | null;
  revoked_at: number | null;
  used_at: number | null;
}

/** API keys in SQLite. Every change raises the revision in the same transaction. */
export class SqliteKeyStore implements KeyStore {
  private readonly revision: Revision;
  private readonly turn = createTurnLine();
  private readonly byId;
  private readonly byHash;

  constructor(private readonly database: Database) {
    this.revision = new Revision(database, "key_revision");
    this.byId = database.query<KeyRow, [string]>("SELECT * FROM api_keys WHERE id = ?");
    this.byHash = database.query<KeyRow, [string]>("SELECT * FROM api_keys WHERE hash = ?");
  }

  async insertKey(key: KeyRecord) {
    this.inTransaction(() => {
      const fields = { ...key, models: encode(key.models), rateLimit: encode(key.rateLimit) };
      this.database.query(INSERT_KEY).run(fields);
      this.revision.raise();
    });
  }

  async findKey(id: string) {
    return readRow(this.byId.get(id));
  }

  async findKeyByHash(hash: string) {
    return readRow(this.byHash.get(hash));
  }

  async findKeyNames(ids: readonly string[]) {
    return findNames(this.database, "api_keys", ids);
  }

  async listKeys({ accountId, userId, name, afterId, limit }: KeyQuery = {}) {
    const { where, values } = describeConditions({
      "account_id = $accountId": accountId,
      "user_id = $userId": userId,
      "lower(name) = lower($name)": name,
      "id < $afterId": afterId,
    });
    // Ids rise with time. SQLite reads a limit of -1 as none.
    const page = this.database.query<KeyRow, Record<string, string | number>>(
      `SELECT * FROM api_keys ${where} ORDER BY id DESC LIMIT $limit`,
    );
    return page.all({ ...values, limit: limit ?? -1 }).map(readKey);
  }

  async listExpiringKeys(after: number, until: number, limit: number) {
    const end = this.database.query<{ id: string }, [string, number]>(
      "SELECT id FROM api_keys WHERE id > ? ORDER BY id LIMIT 1 OFFSET ? - 1",
    );
    const keys = this.database.query<KeyRow, (string | number)[]>(
      `SELECT * FROM api_keys WHERE id > ? AND id <= ? AND expires_at > ? AND expires_at <= ? AND revoked_at IS NULL
       ORDER BY expires_at, id LIMIT ?`,
    );
    let found: KeyRecord[] = [];
    for (let from: string | null = ""; from !== null; ) {
      const to: string | null = end.get(from, SLICE)?.id ?? null;
      found.push(...keys.all(from, to ?? LAST_ID, after, until, limit).map(readKey));
      if (found.length > limit) found = sortByExpiry(found).slice(0, limit);
      from = to;
      if (from !== null) await this.turn();
    }
    return sortByExpiry(found).slice(0, limit);
  }

  async changeKey(id: string, change: (key: KeyRecord) => KeyRecord) {
    return this.inTransaction(() => {
      const key = readRow(this.byId.get(id));
      if (key === null) return null;
      const { name, spendLimit, spendLimitPeriod, models, rateLimit, promptLog, cache, expiresAt } =
        change(key);
      const fields = {
        id,
        name,
        spendLimit,
        spendLimitPeriod,
        models: encode(models),
        rateLimit: encode(rateLimit),
        promptLog,
        cache,
        expiresAt,
      };
      this.database.query(UPDATE_KEY).run(fields);
      this.revision.raise();
      return readRow(this.byId.get(id));
    });
  }

  async revokeKey(id: string, revokedAt: number) {
    return this.inTransaction(() => {
      const revoke = this.database.query(
        "UPDATE api_keys SET revoked_at = coalesce(revoked_at, $at) WHERE id = $id",
      );
      revoke.run({ id, at: revokedAt });
      this.revision.raise();
      return readRow(this.byId.get(id));
    });
  }

  async recordKeyUses(uses: readonly KeyUse[]) {
    const record = this.database.query(
      "UPDATE api_keys SET used_at = $usedAt WHERE id = $id AND coalesce(used_at, 0) < $usedAt",
    );
    this.inTransaction(() => {
      for (const { id, usedAt } of uses) record.run({ id, usedAt });
    });
  }

  async keyRevision() {
    return this.revision.read();
  }

  /** Begins with the write lock, so that no other process changes what the work reads. */
  private inTransaction<Result>(work: () => Result): Result {
    return this.database.transaction(work).immediate();
  }
}

/** Keys that one slice of a search through all of them reads. Each slice has a turn of the event loop of its own. */
const SLICE = 2_000;
/** Follows every id. */
const LAST_ID = "\u{10ffff}";

function sortByExpiry(keys: KeyRecord[]): KeyRecord[] {
  return keys.sort((a, b) => (a.expiresAt ?? 0) - (b.expiresAt ?? 0) || (a.id < b.id ? -1 : 1));
}

const INSERT_KEY = `INSERT INTO api_keys
    (id, kind, account_id, user_id, name, hash, hint, spend_limit, models, rate_limit, prompt_log_seconds, cache_seconds,
     created_at, expires_at, revoked_at, used_at, spend_limit_period)
  VALUES
    ($id, $kind, $accountId, $userId, $name, $hash, $hint, $spendLimit, $models, $rateLimit, $promptLog,
     $cache, $createdAt, $expiresAt, $revokedAt, $lastUsedAt, $spendLimitPeriod)`;

const UPDATE_KEY = `UPDATE api_keys SET name = $name, spend_limit = $spendLimit, models = $models,
    rate_limit = $rateLimit, prompt_log_seconds = $promptLog, cache_seconds = $cache, expires_at = $expiresAt,
    spend_limit_period = $spendLimitPeriod WHERE id = $id`;

function encode(value: object | null): string | null {
  return value === null ? null : JSON.stringify(value);
}

function readRow(row: KeyRow | null): KeyRecord | null {
  return row === null ? null : readKey(row);
}

function readKey(row: KeyRow): KeyRecord {
  return {
    id: row.id,
    kind: row.kind,
    accountId: row.account_id,
    userId: row.user_id,
    name: row.name,
    hash: row.hash,
    hint: row.hint,
    spendLimit: row.spend_limit,
    spendLimitPeriod: row.spend_limit_period,
    models: row.models === null ? null : (JSON.parse(row.models) as string[]),
    rateLimit: row.rate_limit === null ? null : (JSON.parse(row.rate_limit) as KeyRateLimit),
    promptLog: row.prompt_log_seconds,
    cache: row.cache_seconds,
    createdAt: row.created_at,
    expiresAt: row.expires_at,
    revokedAt: row.revoked_at,
    lastUsedAt: row.used_at,
  };
}
