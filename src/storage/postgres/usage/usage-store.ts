import { RejectedRecordError } from "../../../base/failures/store-error.ts";
import { type DayRange, dayOf } from "../../../base/time/time.ts";
import type { GatewayIdentity } from "../../../core/gateways/gateway-identity.ts";
import type {
  CountQuery,
  GenerationList,
  GenerationQuery,
} from "../../../core/usage/generations/generation-list.ts";
import type { RecordEntry, UsageRecord } from "../../../core/usage/records/records.ts";
import type { UsageQuery } from "../../../core/usage/reports/report.ts";
import { TagNames } from "../../../core/usage/reports/tag-names.ts";
import type { UsageReports, UsageStore, UsageTimeStore } from "../../../core/usage/reports/usage-store.ts";
import type { HourTimes } from "../../../core/usage/reports/usage-times.ts";
import { listQuarantined } from "../../sql/quarantined.ts";
import { dayOfId, UNDATED } from "../../sql/statements/day-of-id.ts";
import { cleanText, readInteger } from "../../sql/statements/values.ts";
import { type Postgres, type SqlRunner, sqlStateOf } from "../connection/client.ts";
import { createPostgresDatabase } from "../connection/sql-database.ts";
import { requireEpoch } from "../gateways/require-epoch.ts";
import { LEDGER_TABLES, Partitions } from "../tables/partitions.ts";
import { countGenerations } from "./generation-counts.ts";
import { findByRequest, findGenerations, listGenerations, listStates } from "./generation-list.ts";
import { type DatedEntry, foldVersions, writeUsage } from "./save-usage.ts";
import { hasWholeDays, raiseTimes, reportTimes, reportUsage } from "./usage-sums.ts";

interface RecordRow {
  readonly record: string;
}

/** The dependencies of the stores of generations and of the ledger. */
interface LedgerDatabase {
  readonly database: Postgres;
  /** Returns the identity under which a gateway writes; null, or absent: a command, which is not bound to an epoch. */
  readonly identity?: () => GatewayIdentity | null;
}

/** The generation records in PostgreSQL. */
export class PostgresUsageStore implements UsageStore, UsageReports, UsageTimeStore, GenerationList {
  private readonly database: Postgres;
  private readonly identity: () => GatewayIdentity | null;
  private readonly partitions: Partitions;
  private readonly tagNames = new TagNames();

  constructor({ database, identity = () => null }: LedgerDatabase) {
    this.database = database;
    this.identity = identity;
    this.partitions = new Partitions(database, LEDGER_TABLES);
  }

  async saveUsage(entries: readonly RecordEntry[]) {
    if (entries.length === 0) return;
    const folded = foldVersions(entries);
    const days = [...new Set(folded.map(({ day }) => day))];
    try {
      await this.save(folded, days);
    } catch (error) {
      if (sqlStateOf(error) !== CHECK_VIOLATION) throw rejectedIfContent(error);
      // PostgreSQL reports a partition that was dropped meanwhile in the same way as a value that a check forbids.
      this.partitions.forget(days);
      await this.save(folded, days).catch((again) => {
        throw rejectedIfContent(again);
      });
    }
  }

  async quarantineUsage(entry: RecordEntry, reason: string, at: number) {
    await this.database.transaction(async (sql) => {
      const identity = this.identity();
      if (identity !== null) await requireEpoch(sql, identity);
      await addQuarantined(sql, entry, { reason, at });
    });
  }

  listQuarantined(limit: number) {
    return listQuarantined(createPostgresDatabase(this.database), limit);
  }

  async findUsage(id: string) {
    const rows = await this.database.run<RecordRow>(
      "SELECT record FROM generations WHERE day = $1 AND id = $2",
      [dayOfId(id), id],
    );
    return rows.map(readRecord)[0] ?? null;
  }

  sumUsage(query: UsageQuery) {
    return reportUsage(this.database, query);
  }

  hasWholeDays(days: DayRange) {
    return hasWholeDays(this.database, days);
  }

  addTimes(sums: readonly HourTimes[]) {
    return raiseTimes(this.database, sums);
  }

  readTimes(query: UsageQuery, only: readonly (string | null)[] | null) {
    return reportTimes(this.database, query, only);
  }

  listGenerations(query: GenerationQuery) {
    return listGenerations(this.database, query);
  }

  findGenerations(ids: readonly string[]) {
    return findGenerations(this.database, ids);
  }

  findByRequest(requestId: string) {
    return findByRequest(this.database, requestId);
  }

  listStates(fromMs: number, limit: number) {
    return listStates(this.database, fromMs, limit);
  }

  countGenerations(query: CountQuery) {
    return countGenerations(this.database, query);
  }

  async findOpenUsage() {
    const rows = await this.database.run<RecordRow>("SELECT record FROM generations WHERE outcome = 'open'");
    return rows.map(readRecord);
  }

  /** The journal of another registered gateway may have the end of its record, even if the gateway is gone. */
  async findAbandonedUsage(gatewayId: string, now: number) {
    const rows = await this.database.run<RecordRow>(
      `SELECT record FROM generations
       WHERE outcome = 'open' AND (gateway_id IS NULL OR gateway_id = $1
         OR (lease_ends_at <= $2 AND NOT EXISTS (SELECT FROM gateways WHERE id = gateway_id)))`,
      [gatewayId, now],
    );
    return rows.map(readRecord);
  }

  async findAnonymousSince(since: number) {
    const rows = await this.database.run<{ address_hash: string; created_at: string }>(
      `SELECT address_hash, created_at FROM generations
       WHERE ${FROM_DAY} AND address_hash IS NOT NULL AND created_at > $3 ORDER BY created_at`,
      daysSince(since),
    );
    return rows.map((row) => ({ addressHash: row.address_hash, createdAt: readInteger(row.created_at) }));
  }

  async findFreeSince(since: number) {
    const rows = await this.database.run<{ account_id: string; created_at: string }>(
      `SELECT account_id, created_at FROM generations
       WHERE ${FROM_DAY} AND is_free AND created_at > $3 ORDER BY created_at`,
      daysSince(since),
    );
    return rows.map((row) => ({ accountId: row.account_id, createdAt: readInteger(row.created_at) }));
  }

  private async save(entries: readonly DatedEntry[], days: readonly number[]): Promise<void> {
    await this.partitions.ensure(days);
    await this.database.transaction((sql) =>
      writeUsage(sql, entries, { identity: this.identity(), tagNames: this.tagNames }),
    );
  }
}

/** The partitions that can have generations of requests since a day. */
const FROM_DAY = "(day = $1 OR day >= $2)";

/** The values of `FROM_DAY` and of the time itself. The times of a generation's id and of its request are close together. */
function daysSince(since: number): number[] {
  return [UNDATED, dayOf(since) - 1, since];
}

function readRecord({ record }: RecordRow): UsageRecord {
  return JSON.parse(record) as UsageRecord;
}

const CHECK_VIOLATION = "23514";

/** Classes of SQLSTATE whose reason is in the written values: data, integrity constraints, limits of the program. */
const CONTENT_CLASSES = new Set(["22", "23", "54"]);

function rejectedIfContent(error: unknown): unknown {
  const isContent = CONTENT_CLASSES.has(sqlStateOf(error)?.slice(0, 2) ?? "");
  return isContent ? new RejectedRecordError(error) : error;
}

/** Adds a record to the quarantine and removes its open version, in the transaction of the caller. */
async function addQuarantined(
  sql: SqlRunner,
  { record, json }: RecordEntry,
  { reason, at }: { readonly reason: string; readonly at: number },
): Promise<void> {
  const id = cleanText(record.id);
  await sql.run(
    `INSERT INTO quarantined_records (id, reason, quarantined_at, record) VALUES ($1, $2, $3, $4)
     ON CONFLICT (id) DO UPDATE SET reason = excluded.reason, record = excluded.record`,
    [id, cleanText(reason), at, cleanText(json)],
  );
  await sql.run("DELETE FROM generations WHERE day = $1 AND id = $2 AND outcome = 'open'", [dayOfId(id), id]);
}
