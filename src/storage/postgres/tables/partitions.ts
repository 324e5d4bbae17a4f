import { RejectedRecordError } from "../../../base/failures/store-error.ts";
import { formatDay, parseDay } from "../../../base/time/time.ts";
import { UNDATED } from "../../sql/statements/day-of-id.ts";
import { encodeList, type Postgres, type SqlRunner } from "../connection/client.ts";

/** Tables that are partitioned by the same days. */
export interface PartitionedTables {
  /** In the order in which they are locked. */
  readonly tables: readonly [string, ...string[]];
  /** Whether `dropped_days` has the days whose partitions were dropped, for which nothing is saved any more. */
  readonly recordsDropped: boolean;
}

/** Generations and their charges. */
export const LEDGER_TABLES = {
  tables: ["generations", "charges"],
  recordsDropped: true,
} as const satisfies PartitionedTables;

/** The advisory lock for creating and dropping partitions, used for nothing else: the letters "gatewayp" as a number. */
const LOCK = "7449363237790906736";

/** Days that are remembered to exist. Beyond it they are looked up again. */
const MAX_KNOWN = 10_000;

/** Returns the name of the partition of a day. */
export function partitionOf(table: string, day: number): string {
  return `${table}_${formatDay(day).replaceAll("-", "_")}`;
}

/** Returns the days that have partitions, the latest first. */
export async function listDays(
  sql: SqlRunner,
  { tables: [table] }: PartitionedTables,
): Promise<readonly number[]> {
  const rows = await sql.run<{ name: string }>(
    `SELECT c.relname AS name FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
     WHERE i.inhparent = '${table}'::regclass`,
  );
  return rows
    .flatMap(({ name }) => parseDay(name.slice(table.length + 1).replaceAll("_", "-")) ?? [])
    .sort((a, b) => b - a);
}

/** Takes the lock under which partitions are created and dropped, until the end of the transaction. */
async function lockPartitions(sql: SqlRunner): Promise<void> {
  await sql.run(`SELECT pg_advisory_xact_lock(${LOCK})`);
}

/** Creates the partitions that rows need. */
export class Partitions {
  private readonly known = new Set<number>();
  /** The table that stands for all: the partitions of a day are created and dropped together. */
  private readonly last: string;
  /** The condition that the day of a row `wanted` was dropped. */
  private readonly isDropped: string;

  constructor(
    private readonly database: Postgres,
    private readonly group: PartitionedTables,
  ) {
    this.last = group.tables.at(-1) ?? group.tables[0];
    this.isDropped = group.recordsDropped
      ? "EXISTS (SELECT FROM dropped_days d WHERE d.day = wanted.day)"
      : "false";
  }

  /**
   * Creates missing partitions of these days and of the days after them, so that tomorrow's partitions exist when tomorrow begins. Rejects
   * with a `RejectedRecordError` if one of the days was dropped.
   */
  async ensure(days: readonly number[]): Promise<void> {
    const unknown = days.filter((day) => !this.known.has(day));
    if (unknown.length === 0) return;
    const { missing, dropped } = await this.look(unknown);
    const [lost] = unknown.filter((day) => dropped.has(day));
    if (lost !== undefined) throw new RejectedRecordError(new Error(describeDropped(lost)));
    if (missing.length > 0) await this.create(missing);
    if (this.known.size > MAX_KNOWN) this.known.clear();
    for (const day of unknown) this.known.add(day);
  }

  /** Looks the days up again at the next call: their partitions may have been dropped. */
  forget(days: readonly number[]): void {
    for (const day of days) this.known.delete(day);
  }

  /** Returns which of the days, and of the days after them, have no partition, and which were dropped. */
  private async look(days: readonly number[]) {
    const wanted = [...new Set(days.flatMap((day) => (day === UNDATED ? [day] : [day, day + 1])))].sort(
      (a, b) => a - b,
    );
    const rows = await this.database.run<{ day: number; exists: boolean; is_dropped: boolean }>(
      `SELECT day, to_regclass(name) IS NOT NULL AS exists, ${this.isDropped} AS is_dropped
       FROM unnest($1::text::integer[], $2::text::text[]) AS wanted (day, name) ORDER BY day`,
      this.nameDays(wanted),
    );
    return {
      missing: rows.filter((row) => !row.exists && !row.is_dropped).map(({ day }) => day),
      dropped: new Set(rows.filter((row) => row.is_dropped).map(({ day }) => day)),
    };
  }

  private create(days: readonly number[]): Promise<void> {
    return this.database.transaction(async (sql) => {
      await lockPartitions(sql);
      // Days that another gateway created or dropped while this one waited for the lock. A statement that reads no table would use what the
      // connection had cached of names before it waited.
      const done = await sql.run<{ day: number }>(
        `SELECT day FROM unnest($1::text::integer[], $2::text::text[]) AS wanted (day, name)
         WHERE EXISTS (SELECT FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
             WHERE i.inhparent = '${this.last}'::regclass AND c.relname = wanted.name)
           OR ${this.isDropped}`,
        this.nameDays(days),
      );
      const skipped = new Set(done.map(({ day }) => day));
      for (const day of days.filter((day) => !skipped.has(day)))
        for (const table of this.group.tables) await createPartition(sql, table, day);
    });
  }

  /** Returns days, and the names of their partitions of one table, as lists. */
  private nameDays(days: readonly number[]): [string, string] {
    return [encodeList(days), encodeList(days.map((day) => partitionOf(this.last, day)))];
  }
}

/**
 * Creates a table and attaches it, which does not lock the other partitions. Creating it directly as a partition would wait for all
 * statements on the whole table, and make new ones wait behind it.
 */
async function createPartition(sql: SqlRunner, table: string, day: number): Promise<void> {
  const name = partitionOf(table, day);
  await sql.run(`CREATE TABLE ${name} (LIKE ${table} INCLUDING ALL)`);
  await sql.run(`ALTER TABLE ${table} ATTACH PARTITION ${name} FOR VALUES FROM (${day}) TO (${day + 1})`);
}

/** Drops the partitions of a day. Partitions of other days are created and used again after the transaction. */
export async function dropPartitions(
  sql: SqlRunner,
  { tables, recordsDropped }: PartitionedTables,
  day: number,
): Promise<void> {
  await lockPartitions(sql);
  if (recordsDropped) await sql.run("INSERT INTO dropped_days (day) VALUES ($1)", [day]);
  for (const table of tables) {
    await sql.run(`ALTER TABLE ${table} DETACH PARTITION ${partitionOf(table, day)}`);
    await sql.run(`DROP TABLE ${partitionOf(table, day)}`);
  }
}

function describeDropped(day: number): string {
  return `the generations of ${formatDay(day)} were deleted by the retention policy, so it is unknown whether this one was charged`;
}
