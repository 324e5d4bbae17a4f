import type { StepReport, UsageRollUp } from "../../../core/usage/records/retention.ts";
import { SUM_TABLES, type SumTable } from "../../sql/usage/columns.ts";
import { describeHoursSearch, describeMerge } from "../../sql/usage/roll-up.ts";
import type { Postgres } from "../connection/client.ts";

/** The number of rows that one step merges. */
const STEP = 2_000;

/** Merges sums of hours in PostgreSQL. */
export class PostgresRollUp implements UsageRollUp {
  /** `maintenance`: connections whose statements may take minutes. */
  constructor(private readonly maintenance: Postgres) {}

  async rollUpHours(day: number): Promise<StepReport> {
    for (const table of SUM_TABLES) {
      const search = describeHoursSearch(table, "$");
      const [found] = await this.maintenance.run<{ day: number }>(search, [day]);
      if (found === undefined) continue;
      const merged = await this.maintenance.run(describeStep(table), [found.day]);
      // If others raise all of them now, none is merged, and a later sweep does it.
      if (merged.length > 0) return { hasMore: true };
    }
    return { hasMore: false };
  }
}

/** Describes a statement that removes rows and adds them to the sum of their day. Rows that another transaction raises now are skipped. */
function describeStep(table: SumTable<never, never>): string {
  const { name } = table;
  return `WITH chosen AS (
      SELECT ctid FROM ${name} WHERE day = $1 AND hour >= 0 LIMIT ${STEP} FOR UPDATE SKIP LOCKED
    ), hours AS (
      DELETE FROM ${name} USING chosen WHERE ${name}.ctid = chosen.ctid RETURNING ${name}.*
    )
    ${describeMerge(table, "hours")} RETURNING 1 AS one`;
}
