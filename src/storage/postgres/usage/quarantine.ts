import type { RecordEntry } from "../../../core/usage/records/records.ts";
import { cleanText } from "../../sql/statements/values.ts";
import type { SqlRunner } from "../connection/client.ts";
import { dayOfId } from "../ledger/partitions.ts";

/** Adds a record to the quarantine and removes its open version, in the transaction of the caller. */
export async function addQuarantined(
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
