import { type Database, SQLiteError } from "bun:sqlite";
import { RejectedRecordError } from "../../base/store-error.ts";
import { type Transfer, transferOfUsage } from "../../core/ledger/records.ts";
import type { RecordEntry, UsageRecord } from "../../core/usage/records.ts";
import type { UsageReports, UsageStore } from "../../core/usage/usage-store.ts";
import { prepareTransfers } from "./transfers.ts";
import { prepareUsageDays } from "./usage-days.ts";

interface RecordRow {
  record: string;
}

interface AnonymousRow {
  addressHash: string;
  createdAt: number;
}

interface FreeRow {
  accountId: string;
  createdAt: number;
}

/** Usage records in SQLite. */
export function createSqliteUsageStore(database: Database): UsageStore & UsageReports {
  const save = database.query(
    `INSERT INTO generations
       (id, created_at, account_id, key_id, user_id, cost, finished_at, address_hash, outcome, record, free,
        gateway_id, lease_ends_at)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT (id) DO UPDATE SET
       outcome = excluded.outcome, cost = excluded.cost, finished_at = excluded.finished_at, record = excluded.record,
       free = excluded.free, gateway_id = excluded.gateway_id, lease_ends_at = excluded.lease_ends_at
     WHERE generations.outcome = 'open'`,
  );
  const byId = database.query<RecordRow, [string]>("SELECT record FROM generations WHERE id = ?");
  const open = database.query<RecordRow, []>("SELECT record FROM generations WHERE outcome = 'open'");
  const abandoned = database.query<RecordRow, [string, number]>(
    `SELECT record FROM generations
     WHERE outcome = 'open' AND (gateway_id IS NULL OR gateway_id = ? OR lease_ends_at <= ?)`,
  );
  const anonymous = database.query<AnonymousRow, [number]>(
    `SELECT address_hash AS addressHash, created_at AS createdAt FROM generations
     WHERE address_hash IS NOT NULL AND created_at > ? ORDER BY created_at`,
  );
  const free = database.query<FreeRow, [number]>(
    `SELECT account_id AS accountId, created_at AS createdAt FROM generations
     WHERE free = 1 AND created_at > ? ORDER BY created_at`,
  );

  const transfers = prepareTransfers(database);
  const days = prepareUsageDays(database);
  const saveAll = database.transaction((entries: readonly RecordEntry[]) => {
    const costs: Transfer[] = [];
    const ended: UsageRecord[] = [];
    for (const { record, json } of entries) {
      const { id, createdAt, accountId, keyId, userId, finishedAt, addressHash, outcome } = record;
      const cost = outcome === "open" ? null : record.costNanodollars;
      const { changes } = save.run(
        id,
        createdAt,
        accountId,
        keyId,
        userId,
        cost,
        finishedAt,
        addressHash,
        outcome,
        json,
        record.usesFreeModel === true ? 1 : null,
        record.lease?.gatewayId ?? null,
        record.lease?.endsAt ?? null,
      );
      // A record that has ended already stays as it is, and was counted then.
      if (outcome !== "open" && changes > 0) ended.push(record);
      const transfer = cost === null ? null : transferOfUsage(record);
      if (transfer !== null) costs.push(transfer);
    }
    // A record that is saved again, as after a crash, has its transfer already.
    transfers.add(costs);
    days.add(ended);
  });

  const quarantine = prepareQuarantine(database);

  return {
    async saveUsage(entries) {
      try {
        saveAll(entries);
      } catch (error) {
        throw isOfContent(error) ? new RejectedRecordError(error) : error;
      }
    },
    async quarantineUsage(entry, reason, at) {
      quarantine.add(entry, reason, at);
    },
    async listQuarantined(limit) {
      return quarantine.list(limit);
    },
    async findUsage(id) {
      const row = byId.get(id);
      return row === null ? null : (JSON.parse(row.record) as UsageRecord);
    },
    async sumUsage(query) {
      return days.sum(query);
    },
    async findOpenUsage() {
      return open.all().map((row) => JSON.parse(row.record) as UsageRecord);
    },
    async findAbandonedUsage(gatewayId, now) {
      return abandoned.all(gatewayId, now).map((row) => JSON.parse(row.record) as UsageRecord);
    },
    async findAnonymousSince(since) {
      return anonymous.all(since);
    },
    async findFreeSince(since) {
      return free.all(since);
    },
  };
}

/** Errors that come back however often the same values are written. Others say that the database is away, full or broken. */
function isOfContent(error: unknown): boolean {
  if (error instanceof SQLiteError) return CONTENT_ERROR.test(error.code ?? "");
  // A value that cannot be bound, as in a record of another version.
  return error instanceof TypeError;
}

const CONTENT_ERROR = /^SQLITE_(?:CONSTRAINT|MISMATCH|TOOBIG|RANGE)/;

/** The statements by which records are quarantined. */
function prepareQuarantine(database: Database) {
  const insert = database.query(
    `INSERT INTO quarantined_records (id, reason, quarantined_at, record) VALUES (?, ?, ?, ?)
     ON CONFLICT (id) DO UPDATE SET reason = excluded.reason, record = excluded.record`,
  );
  const forget = database.query("DELETE FROM generations WHERE id = ? AND outcome = 'open'");
  const all = database.query<{ id: string; reason: string; record: string }, [number]>(
    "SELECT id, reason, record FROM quarantined_records ORDER BY quarantined_at, id LIMIT ?",
  );
  return {
    add: database.transaction(({ record, json }: RecordEntry, reason: string, at: number) => {
      insert.run(record.id, reason, at, json);
      forget.run(record.id);
    }),
    list: (limit: number) =>
      all.all(limit).map(({ id, reason, record }) => ({ id, reason, costNanodollars: readCost(record) })),
  };
}

function readCost(json: string): number {
  const { costNanodollars } = JSON.parse(json) as Partial<UsageRecord>;
  return Number.isSafeInteger(costNanodollars) ? (costNanodollars as number) : 0;
}
