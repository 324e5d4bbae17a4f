import { type Database, SQLiteError } from "bun:sqlite";
import { RejectedRecordError } from "../../../base/failures/store-error.ts";
import type { DayRange } from "../../../base/time/time.ts";
import { type Transfer, transferOfUsage } from "../../../core/ledger/records/records.ts";
import type {
  CountQuery,
  GenerationList,
  GenerationQuery,
  ListBounds,
} from "../../../core/usage/generations/generation-list.ts";
import type { RecordEntry, UsageRecord } from "../../../core/usage/records/records.ts";
import type { UsageQuery } from "../../../core/usage/reports/report.ts";
import type { UsageReports, UsageStore, UsageTimeStore } from "../../../core/usage/reports/usage-store.ts";
import type { HourTimes } from "../../../core/usage/reports/usage-times.ts";
import { listQuarantined } from "../../sql/quarantined.ts";
import { createSqliteDatabase } from "../connection/sql-database.ts";
import { DroppedGenerations } from "../ledger/dropped-generations.ts";
import { TransferWriter } from "../ledger/transfers.ts";
import { BudgetSums } from "./budget-sums.ts";
import { countGenerations } from "./generation-counts.ts";
import {
  ENTRY_BOUNDS,
  findByRequest,
  findGenerations,
  type ListSource,
  listGenerations,
  listStates,
} from "./generation-list.ts";
import { GenerationTags } from "./generation-tags.ts";
import { UsageSums } from "./usage-sums.ts";

interface RecordRow {
  record: string;
}

/** The generation records in SQLite. Fields that queries use have columns; the whole record is JSON. */
export class SqliteUsageStore implements UsageStore, UsageReports, UsageTimeStore, GenerationList {
  private readonly transfers: TransferWriter;
  private readonly sums: UsageSums;
  private readonly tags: GenerationTags;
  private readonly budgets: BudgetSums;
  private readonly quarantine: Quarantine;
  private readonly dropped: DroppedGenerations;
  private readonly save;
  private readonly saveAll;
  private readonly source: ListSource;
  private readonly saveTimes;

  /** `bounds`: how many generations lists and counts read together. */
  constructor(
    private readonly database: Database,
    bounds: ListBounds = ENTRY_BOUNDS,
  ) {
    this.source = { database, bounds };
    this.transfers = new TransferWriter(database);
    this.sums = new UsageSums(database);
    this.tags = new GenerationTags(database);
    this.budgets = new BudgetSums(database);
    this.quarantine = new Quarantine(database);
    this.dropped = new DroppedGenerations(database);
    this.save = database.query(SAVE);
    this.saveAll = database.transaction((entries: readonly RecordEntry[]) => this.saveEntries(entries));
    this.saveTimes = database.transaction((sums: readonly HourTimes[]) => this.sums.addTimes(sums));
  }

  async saveUsage(entries: readonly RecordEntry[]) {
    try {
      this.saveAll(entries);
    } catch (error) {
      throw isContentError(error) ? new RejectedRecordError(error) : error;
    }
  }

  async quarantineUsage(entry: RecordEntry, reason: string, at: number) {
    this.quarantine.add(entry, reason, at);
  }

  async listQuarantined(limit: number) {
    return listQuarantined(createSqliteDatabase(this.database), limit);
  }

  async findUsage(id: string) {
    const row = this.database
      .query<RecordRow, [string]>("SELECT record FROM generations WHERE id = ?")
      .get(id);
    return row === null ? null : readRecord(row);
  }

  async sumUsage(query: UsageQuery) {
    return this.sums.report(query);
  }

  async hasWholeDays(days: DayRange) {
    return this.sums.hasWholeDays(days);
  }

  async addTimes(sums: readonly HourTimes[]) {
    this.saveTimes(sums);
  }

  async readTimes(query: UsageQuery, only: readonly (string | null)[] | null) {
    return this.sums.readTimes(query, only);
  }

  async listGenerations(query: GenerationQuery) {
    return listGenerations(this.source, query);
  }

  async findGenerations(ids: readonly string[]) {
    return findGenerations(this.database, ids);
  }

  async findByRequest(requestId: string) {
    return findByRequest(this.database, requestId);
  }

  async listStates(fromMs: number, limit: number) {
    return listStates(this.database, fromMs, limit);
  }

  async countGenerations(query: CountQuery) {
    return countGenerations(this.source, query);
  }

  async findOpenUsage() {
    const open = "SELECT record FROM generations WHERE outcome = 'open'";
    return this.database.query<RecordRow, []>(open).all().map(readRecord);
  }

  async findAbandonedUsage(gatewayId: string, now: number) {
    const abandoned = this.database.query<RecordRow, [string, number]>(
      `SELECT record FROM generations
       WHERE outcome = 'open' AND (gateway_id IS NULL OR gateway_id = ? OR lease_ends_at <= ?)`,
    );
    return abandoned.all(gatewayId, now).map(readRecord);
  }

  async findAnonymousSince(since: number) {
    const anonymous = this.database.query<{ addressHash: string; createdAt: number }, [number]>(
      `SELECT address_hash AS addressHash, created_at AS createdAt FROM generations
       WHERE address_hash IS NOT NULL AND created_at > ? ORDER BY created_at`,
    );
    return anonymous.all(since);
  }

  async findFreeSince(since: number) {
    const free = this.database.query<{ accountId: string; createdAt: number }, [number]>(
      `SELECT account_id AS accountId, created_at AS createdAt FROM generations
       WHERE free = 1 AND created_at > ? ORDER BY created_at`,
    );
    return free.all(since);
  }

  /** Saves records. Writes the transfers of records that end now, and adds them to the sums of their hours. */
  private saveEntries(entries: readonly RecordEntry[]): void {
    this.dropped.check(entries);
    const costs: Transfer[] = [];
    const ended: UsageRecord[] = [];
    const tagged: UsageRecord[] = [];
    for (const entry of entries) {
      const { record } = entry;
      const isSaved = this.save.run(...columnsOf(entry)).changes > 0;
      if (record.tags !== undefined && isSaved) this.tags.add(record);
      if (record.outcome === "open") continue;
      // A record that had ended before is not replaced, and was counted then.
      if (isSaved) {
        ended.push(record);
        if (record.tags !== undefined) tagged.push(record);
      }
      const transfer = transferOfUsage(record);
      if (transfer !== null) costs.push(transfer);
    }
    // A record that is saved again, as after a crash, has its transfer already.
    this.transfers.add(costs);
    this.sums.add(ended);
    if (tagged.length > 0) this.sums.addTags(tagged);
    this.budgets.add(ended);
  }
}

/** The columns of the table of generations, in the order of `columnsOf`. */
export const GENERATION_COLUMNS: readonly string[] = [
  "id",
  "created_at",
  "account_id",
  "key_id",
  "user_id",
  "cost",
  "finished_at",
  "address_hash",
  "outcome",
  "record",
  "free",
  "gateway_id",
  "lease_ends_at",
  "model",
  "provider",
  "error_type",
  "session_id",
  "replay_of",
];

const SAVE = `INSERT INTO generations (${GENERATION_COLUMNS.join(", ")})
  VALUES (${GENERATION_COLUMNS.map(() => "?").join(", ")})
  ON CONFLICT (id) DO UPDATE SET
    outcome = excluded.outcome, cost = excluded.cost, finished_at = excluded.finished_at, record = excluded.record,
    free = excluded.free, gateway_id = excluded.gateway_id, lease_ends_at = excluded.lease_ends_at,
    model = excluded.model, provider = excluded.provider, error_type = excluded.error_type
  WHERE generations.outcome = 'open'`;

/** Returns the values of a row of generations, in the order of `GENERATION_COLUMNS`. */
export function columnsOf({ record, json }: RecordEntry) {
  return [
    record.id,
    record.createdAt,
    record.accountId,
    record.keyId,
    record.userId,
    record.outcome === "open" ? null : record.costNanodollars,
    record.finishedAt,
    record.addressHash,
    record.outcome,
    json,
    record.usesFreeModel === true ? 1 : null,
    record.lease?.gatewayId ?? null,
    record.lease?.endsAt ?? null,
    record.model ?? record.requestedModel ?? "",
    record.provider ?? "",
    record.error ?? "",
    record.sessionId ?? null,
    record.replayBy === undefined ? null : (record.replayOf ?? null),
  ];
}

function readRecord({ record }: RecordRow): UsageRecord {
  return JSON.parse(record) as UsageRecord;
}

/** Returns whether the written values are the reason of an error. Other errors mean that the database is unavailable. */
function isContentError(error: unknown): boolean {
  if (error instanceof SQLiteError) return CONTENT_ERROR.test(error.code ?? "");
  // A value that SQLite cannot bind, as in a record of another version.
  return error instanceof TypeError;
}

const CONTENT_ERROR = /^SQLITE_(?:CONSTRAINT|MISMATCH|TOOBIG|RANGE)/;

/** The table of usage records that the store rejects. */
class Quarantine {
  readonly add: (entry: RecordEntry, reason: string, at: number) => void;

  constructor(database: Database) {
    const insert = database.query(
      `INSERT INTO quarantined_records (id, reason, quarantined_at, record) VALUES (?, ?, ?, ?)
       ON CONFLICT (id) DO UPDATE SET reason = excluded.reason, record = excluded.record`,
    );
    const removeOpen = database.query("DELETE FROM generations WHERE id = ? AND outcome = 'open'");
    this.add = database.transaction(({ record, json }: RecordEntry, reason: string, at: number) => {
      insert.run(record.id, reason, at, json);
      removeOpen.run(record.id);
    });
  }
}
