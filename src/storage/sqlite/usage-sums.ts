import type { Database } from "bun:sqlite";
import type { UsageQuery, UsageSum } from "../../core/usage/report.ts";
import type { HourSum, UsageSumKey } from "../../core/usage/usage-sums.ts";
import type { HourTimes, TimesLine } from "../../core/usage/usage-times.ts";
import { describeRaise, KEYS, type SumTable, USAGE_SUMS, USAGE_TIMES } from "../usage-sql/columns.ts";
import { describeReport, describeTimes, readSum, readTimes } from "../usage-sql/report.ts";

/** The tables `usage_sums` and `usage_times`. The caller begins and commits transactions. */
export class UsageSums {
  private readonly raiseSum;
  private readonly raiseTimes;

  constructor(private readonly database: Database) {
    this.raiseSum = createRaise(database, USAGE_SUMS);
    this.raiseTimes = createRaise(database, USAGE_TIMES);
  }

  /** Adds sums to the stored sums of their hours. */
  add(sums: readonly HourSum[]): void {
    for (const { key, counters } of sums) this.raiseSum(key, counters);
  }

  /** Adds times to the stored times of their hours. */
  addTimes(sums: readonly HourTimes[]): void {
    for (const { key, times } of sums) this.raiseTimes(key, times);
  }

  report(query: UsageQuery): readonly UsageSum[] {
    const { text, values } = describeReport(query, "?");
    return this.database
      .query<Row, typeof values>(text)
      .all(...values)
      .map((row) => readSum(row, query, Number));
  }

  readTimes(query: UsageQuery): readonly TimesLine[] {
    const { text, values } = describeTimes(query, "?");
    return this.database
      .query<Row, typeof values>(text)
      .all(...values)
      .map((row) => readTimes(row, query, Number));
  }
}

type Row = Record<string, string | number | null>;

function createRaise<Value>(database: Database, table: SumTable<Value>) {
  const values = [...KEYS, ...table.columns].map(() => "?").join(", ");
  const statement = database.query(describeRaise(table, `VALUES (${values})`));
  return (key: UsageSumKey, value: Value) =>
    statement.run(...KEYS.map((name) => key[name]), ...table.read(value));
}
