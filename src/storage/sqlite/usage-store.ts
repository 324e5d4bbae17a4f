import type { Database } from "bun:sqlite";
import type { UsageStore } from "../../core/ports/usage-store.ts";
import type { RecordEntry, UsageRecord } from "../../core/usage/records.ts";

interface RecordRow {
  record: string;
}

interface AnonymousRow {
  addressHash: string;
  createdAt: number;
}

/** Usage records in SQLite. */
export function createSqliteUsageStore(database: Database): UsageStore {
  const save = database.query(
    `INSERT INTO generations (id, account_id, key_id, address_hash, requested_model, model, provider, outcome,
       prompt_tokens, completion_tokens, cost_nanodollars, created_at, finished_at, record)
     VALUES ($id, $accountId, $keyId, $addressHash, $requestedModel, $model, $provider, $outcome,
       $promptTokens, $completionTokens, $costNanodollars, $createdAt, $finishedAt, $record)
     ON CONFLICT (id) DO UPDATE SET model = $model, provider = $provider, outcome = $outcome,
       prompt_tokens = $promptTokens, completion_tokens = $completionTokens, cost_nanodollars = $costNanodollars,
       finished_at = $finishedAt, record = $record
     WHERE generations.outcome = 'open' OR excluded.outcome <> 'open'`,
  );
  const byId = database.query<RecordRow, [string]>("SELECT record FROM generations WHERE id = ?");
  const open = database.query<RecordRow, []>("SELECT record FROM generations WHERE outcome = 'open'");
  const anonymous = database.query<AnonymousRow, [number]>(
    `SELECT address_hash AS addressHash, created_at AS createdAt FROM generations
     WHERE address_hash IS NOT NULL AND created_at > ? ORDER BY created_at`,
  );

  const saveAll = database.transaction((entries: readonly RecordEntry[]) => {
    for (const entry of entries) save.run(toRow(entry));
  });

  return {
    async saveUsage(entries) {
      saveAll(entries);
    },
    async findUsage(id) {
      const row = byId.get(id);
      return row === null ? null : (JSON.parse(row.record) as UsageRecord);
    },
    async findOpenUsage() {
      return open.all().map((row) => JSON.parse(row.record) as UsageRecord);
    },
    async findAnonymousSince(since) {
      return anonymous.all(since);
    },
  };
}

function toRow({ record, json }: RecordEntry) {
  return {
    id: record.id,
    accountId: record.accountId,
    keyId: record.keyId,
    addressHash: record.addressHash,
    requestedModel: record.requestedModel,
    model: record.model,
    provider: record.provider,
    outcome: record.outcome,
    promptTokens: record.promptTokens,
    completionTokens: record.completionTokens,
    costNanodollars: record.costNanodollars,
    createdAt: record.createdAt,
    finishedAt: record.finishedAt,
    record: json,
  };
}
