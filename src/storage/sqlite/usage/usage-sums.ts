import type { Database } from "bun:sqlite";
import type { DayRange } from "../../../base/time/time.ts";
import type { UsageRecord } from "../../../core/usage/records/records.ts";
import { sumByClient } from "../../../core/usage/reports/client-sums.ts";
import type { UsageQuery, UsageSum } from "../../../core/usage/reports/report.ts";
import { TagNames } from "../../../core/usage/reports/tag-names.ts";
import { sumByTag } from "../../../core/usage/reports/tag-sums.ts";
import type { UsageSumKey } from "../../../core/usage/reports/usage-sum-key.ts";
import { sumByHour } from "../../../core/usage/reports/usage-sums.ts";
import type { HourTimes, TimesLine } from "../../../core/usage/reports/usage-times.ts";
import {
  describeRaise,
  type SumTable,
  USAGE_CLIENTS,
  USAGE_SUMS,
  USAGE_TAGS,
  USAGE_TIMES,
} from "../../sql/usage/columns.ts";
import {
  describeReport,
  describeTimes,
  describeWholeDays,
  readSum,
  readTimes,
} from "../../sql/usage/report.ts";

/** The tables `usage_sums`, `usage_tags`, `usage_clients` and `usage_times`. The caller begins and commits transactions. */
export class UsageSums {
  private readonly raiseSum;
  private readonly raiseTimes;
  private readonly raiseTag;
  private readonly raiseClient;
  private readonly findTags;
  private readonly tagNames = new TagNames();

  constructor(private readonly database: Database) {
    this.raiseSum = createRaise(database, USAGE_SUMS);
    this.raiseTimes = createRaise(database, USAGE_TIMES);
    this.raiseTag = createRaise(database, USAGE_TAGS);
    this.raiseClient = createRaise(database, USAGE_CLIENTS);
    this.findTags = database.query<{ tag: string }, [string, number, number]>(
      "SELECT DISTINCT tag FROM usage_tags WHERE account_id = ? AND day = ? AND hour = ? AND tag <> ''",
    );
  }

  /** Adds records that have ended to the stored sums of their hours, and of their hours and clients. */
  add(ended: readonly UsageRecord[]): void {
    for (const { key, counters } of sumByHour(ended)) this.raiseSum(key, counters);
    for (const { key, counters } of sumByClient(ended)) this.raiseClient(key, counters);
  }

  /** Adds records that have tags to the stored sums of their hours and tags. */
  addTags(tagged: readonly UsageRecord[]): void {
    for (const hour of this.tagNames.listUnknown(tagged)) {
      const stored = this.findTags.all(hour.accountId, hour.day, hour.hour);
      this.tagNames.learn(
        hour,
        stored.map(({ tag }) => tag),
      );
    }
    const sums = sumByTag(tagged, (record) => this.tagNames.nameTags(record));
    for (const { key, counters } of sums) this.raiseTag(key, counters);
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

  hasWholeDays(days: DayRange): boolean {
    return this.database.query(describeWholeDays(days)).get() !== null;
  }

  readTimes(query: UsageQuery, only: readonly (string | null)[] | null): readonly TimesLine[] {
    const { text, values } = describeTimes(query, "?", only);
    return this.database
      .query<Row, typeof values>(text)
      .all(...values)
      .map((row) => readTimes(row, query, Number));
  }
}

type Row = Record<string, string | number | null>;

function createRaise<Value, Key extends UsageSumKey>(database: Database, table: SumTable<Value, Key>) {
  const values = [...table.keys, ...table.columns].map(() => "?").join(", ");
  const statement = database.query(describeRaise(table, `VALUES (${values})`));
  return (key: Key, value: Value) => statement.run(...table.readKey(key), ...table.read(value));
}
