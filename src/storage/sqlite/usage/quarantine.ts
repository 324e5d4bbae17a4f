import type { Database } from "bun:sqlite";
import type { RecordEntry, UsageRecord } from "../../../core/usage/records.ts";
import type { QuarantinedRecord } from "../../../core/usage/usage-store.ts";

/** The table of usage records that the store rejects. */
export class Quarantine {
  readonly add: (entry: RecordEntry, reason: string, at: number) => void;

  constructor(private readonly database: Database) {
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

  /** Returns the oldest records in quarantine. */
  list(limit: number): readonly QuarantinedRecord[] {
    const oldest = this.database.query<{ id: string; reason: string; record: string }, [number]>(
      "SELECT id, reason, record FROM quarantined_records ORDER BY quarantined_at, id LIMIT ?",
    );
    return oldest
      .all(limit)
      .map(({ id, reason, record }) => ({ id, reason, costNanodollars: readCost(record) }));
  }
}

function readCost(json: string): number {
  const { costNanodollars } = JSON.parse(json) as Partial<UsageRecord>;
  return Number.isSafeInteger(costNanodollars) ? (costNanodollars as number) : 0;
}
