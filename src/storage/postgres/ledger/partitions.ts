import { RejectedRecordError } from "../../../base/failures/store-error.ts";
import { readIdTime } from "../../../base/secrets/ids.ts";
import { dayOf, formatDay, parseDay } from "../../../base/time/time.ts";
import { encodeList, type Postgres, type SqlRunner } from "../connection/client.ts";

/** The tables that are partitioned by day, in the order in which they are locked. */
export const PARTITIONED = ["generations", "charges"] as const;

/** The day of ids without a time. Its partition is never dropped. */
export const UNDATED = 0;

/** The advisory lock for creating and dropping partitions, used for nothing else: the letters "gatewayp" as a number. */
const LOCK = "7449363237790906736";

/** Days that are remembered to exist. Beyond it they are looked up again. */
const MAX_KNOWN = 10_000;

/** Returns the day by which a generation and its charge are partitioned. */
export function dayOfId(id: string): number {
  const ms = readIdTime(id);
  return ms === null ? UNDATED : dayOf(ms);
}

/** Returns the name of the partition of a day. */
export function partitionOf(table: (typeof PARTITIONED)[number], day: number): string {
  return `${table}_${formatDay(day).replaceAll("-", "_")}`;
}

/** Returns the days that have partitions, the latest first. */
export async function listDays(sql: SqlRunner): Promise<readonly number[]> {
  const rows = await sql.run<{ name: string }>(
    `SELECT c.relname AS name FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid
     WHERE i.inhparent = 'generations'::regclass`,
  );
  return rows
    .flatMap(({ name }) => parseDay(name.slice("generations_".length).replaceAll("_", "-")) ?? [])
    .sort((a, b) => b - a);
}

/** Takes the lock under which partitions are created and dropped, until the end of the transaction. */
export async function lockPartitions(sql: SqlRunner): Promise<void> {
  await sql.run(`SELECT pg_advisory_xact_lock(${LOCK})`);
}

/** Creates the partitions that records need. */
export class Partitions {
  private readonly known = new Set<number>();

  constructor(private readonly database: Postgres) {}

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
      `SELECT day, to_regclass(name) IS NOT NULL AS exists,
         EXISTS (SELECT FROM dropped_days d WHERE d.day = wanted.day) AS is_dropped
       FROM unnest($1::text::integer[], $2::text::text[]) AS wanted (day, name) ORDER BY day`,
      [encodeList(wanted), encodeList(wanted.map((day) => partitionOf("charges", day)))],
    );
    return {
      missing: rows.filter((row) => !row.exists && !row.is_dropped).map(({ day }) => day),
      dropped: new Set(rows.filter((row) => row.is_dropped).map(({ day }) => day)),
    };
  }

  private create(days: readonly number[]): Promise<void> {
    return this.database.transaction(async (sql) => {
      await lockPartitions(sql);
      // Days that another gateway created or dropped while this one waited for the lock.
      const done = await sql.run<{ day: number }>(
        `SELECT day FROM unnest($1::text::integer[], $2::text::text[]) AS wanted (day, name)
         WHERE to_regclass(name) IS NOT NULL OR EXISTS (SELECT FROM dropped_days d WHERE d.day = wanted.day)`,
        [encodeList(days), encodeList(days.map((day) => partitionOf("charges", day)))],
      );
      const skipped = new Set(done.map(({ day }) => day));
      for (const day of days.filter((day) => !skipped.has(day)))
        for (const table of PARTITIONED) await createPartition(sql, table, day);
    });
  }
}

/**
 * Creates a table and attaches it, which does not lock the other partitions. Creating it directly as a partition would wait for all
 * statements on the whole table, and make new ones wait behind it.
 */
async function createPartition(
  sql: SqlRunner,
  table: (typeof PARTITIONED)[number],
  day: number,
): Promise<void> {
  const name = partitionOf(table, day);
  await sql.run(`CREATE TABLE ${name} (LIKE ${table} INCLUDING ALL)`);
  await sql.run(`ALTER TABLE ${table} ATTACH PARTITION ${name} FOR VALUES FROM (${day}) TO (${day + 1})`);
}

function describeDropped(day: number): string {
  return `the generations of ${formatDay(day)} were deleted by the retention policy, so it is unknown whether this one was charged`;
}
