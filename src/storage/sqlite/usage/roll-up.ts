import type { Database } from "bun:sqlite";
import type { StepReport, UsageRollUp } from "../../../core/usage/records/retention.ts";
import { SUM_TABLES, type SumTable } from "../../sql/usage/columns.ts";
import { describeHoursSearch, describeMerge } from "../../sql/usage/roll-up.ts";

/** The number of rows that one step merges: few, because saved groups wait for it. */
const STEP = 250;

/** Merges sums of hours in SQLite. */
export class SqliteRollUp implements UsageRollUp {
  private readonly merge;

  constructor(private readonly database: Database) {
    this.merge = database.transaction((table: SumTable<never, never>, day: number) => {
      const { merge, remove } = describeStep(table);
      database.query(merge).run(day);
      database.query(remove).run(day);
    });
  }

  async rollUpHours(day: number): Promise<StepReport> {
    for (const table of SUM_TABLES) {
      const found = this.database.query<{ day: number }, [number]>(describeHoursSearch(table, "?")).get(day);
      if (found === null) continue;
      this.merge.immediate(table, found.day);
      return { hasMore: true };
    }
    return { hasMore: false };
  }
}

/** Both statements find the same rows of a day: they use the same order, and skip rows that the first one adds. */
function describeStep(table: SumTable<never, never>) {
  const keys = table.keys.join(", ");
  const rows = (columns: string) => `SELECT ${columns} FROM ${table.name} WHERE day = ?1 AND hour >= 0
    ORDER BY ${table.byHour.join(", ")} LIMIT ${STEP}`;
  return {
    merge: describeMerge(table, `(${rows("*")})`),
    remove: `DELETE FROM ${table.name} WHERE (${keys}) IN (${rows(keys)})`,
  };
}
