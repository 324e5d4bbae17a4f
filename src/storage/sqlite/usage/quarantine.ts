import type { Database } from "bun:sqlite";
import type { RecordEntry } from "../../../core/usage/records/records.ts";

/** The table of usage records that the store rejects. */
export class Quarantine {
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
