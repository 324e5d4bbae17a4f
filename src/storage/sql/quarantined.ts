import type { UsageRecord } from "../../core/usage/records/records.ts";
import type { QuarantinedRecord } from "../../core/usage/reports/usage-store.ts";
import type { SqlDatabase } from "./statements/database.ts";
import { sql } from "./statements/statement.ts";

interface QuarantinedRow {
  id: string;
  reason: string;
  record: string;
}

/** Returns the oldest records in quarantine. */
export async function listQuarantined(
  database: SqlDatabase,
  limit: number,
): Promise<readonly QuarantinedRecord[]> {
  const rows = await database.run(
    sql<QuarantinedRow>`SELECT id, reason, record FROM quarantined_records
      ORDER BY quarantined_at, id LIMIT ${limit}`,
  );
  return rows.map(({ id, reason, record }) => ({ id, reason, costNanodollars: readCost(record) }));
}

function readCost(json: string): number {
  const { costNanodollars } = JSON.parse(json) as Partial<UsageRecord>;
  return Number.isSafeInteger(costNanodollars) ? (costNanodollars as number) : 0;
}
