import type { StepReport, UsageRetention } from "../../../core/usage/records/retention.ts";
import { UNDATED } from "../../sql/statements/day-of-id.ts";
import type { Postgres } from "../connection/client.ts";
import { dropPartitions, LEDGER_TABLES, listDays, partitionOf } from "../tables/partitions.ts";

/** The longest wait for statements that use a partition, or all of them. New statements wait behind it. Milliseconds. */
const LOCK_MS = 500;

/** The number of rows of `spending` that one step deletes. */
const STEP = 2_000;
/** The age at which a day or a month is certainly over. Days. */
const MAX_PERIOD_DAYS = 31;

/** Drops the partitions of old days. */
export class PostgresRetention implements UsageRetention {
  /** `maintenance`: connections whose statements may take minutes. */
  constructor(private readonly maintenance: Postgres) {}

  /**
   * Drops the partitions of the earliest day without open generations. Then deletes the tags of its generations, and the spending of limits
   * in periods that ended before.
   */
  async dropUsage(day: number): Promise<StepReport> {
    const all = await listDays(this.maintenance, LEDGER_TABLES);
    const days = all.filter((one) => one < day && one !== UNDATED).reverse();
    for (const one of days) if (await this.dropDay(one)) return { hasMore: true };
    return { hasMore: (await this.deleteTags()) || (await this.deleteSpending(day)) };
  }

  /**
   * Deletes the spending of limits in periods that ended before `day`, in one bounded step, and returns whether there may be more. No
   * request begins in these periods any more, so nothing reads it. Rows that are leased, locked by another transaction, or created again by
   * a late record stay for a later sweep.
   */
  private async deleteSpending(day: number): Promise<boolean> {
    const deleted = await this.maintenance.run(
      `DELETE FROM spending WHERE (meter, since) IN (
         SELECT meter, since FROM spending WHERE since > 0 AND since <= $1 AND leased = 0
         LIMIT ${STEP} FOR UPDATE SKIP LOCKED)
       RETURNING 1 AS one`,
      [day - MAX_PERIOD_DAYS],
    );
    return deleted.length === STEP;
  }

  /** Deletes the tags of generations of dropped days, in one bounded step, and returns whether there may be more. */
  private async deleteTags(): Promise<boolean> {
    const deleted = await this.maintenance.run(
      `DELETE FROM generation_tags WHERE ctid = ANY (ARRAY(
         SELECT stored.ctid FROM generation_tags AS stored
         WHERE stored.day = (SELECT min(dropped.day) FROM dropped_days AS dropped
           WHERE EXISTS (SELECT FROM generation_tags AS tags WHERE tags.day = dropped.day))
         LIMIT ${STEP}))
       RETURNING 1 AS one`,
    );
    return deleted.length > 0;
  }

  /** Returns false if a generation of the day is open, or another process has dropped the day. */
  private dropDay(day: number): Promise<boolean> {
    return this.maintenance.transaction(async (sql) => {
      const [generations, charges] = LEDGER_TABLES.tables.map((table) => partitionOf(table, day));
      await sql.run(`SET LOCAL lock_timeout = ${LOCK_MS}`);
      const [found] = await sql.run<{ exists: boolean }>("SELECT to_regclass($1) IS NOT NULL AS exists", [
        charges ?? "",
      ]);
      if (found?.exists !== true) return false;
      // Late records of the day wait from here on, and are rejected afterwards.
      await sql.run(`LOCK TABLE ${generations}, ${charges} IN SHARE MODE`);
      const open = await sql.run(`SELECT 1 AS one FROM ${generations} WHERE outcome = 'open' LIMIT 1`);
      if (open.length > 0) return false;
      await sql.run(
        `INSERT INTO dropped_charges AS known (account_id, amount)
         SELECT account_id, sum(amount) FROM ${charges} GROUP BY account_id ORDER BY account_id
         ON CONFLICT (account_id) DO UPDATE SET amount = known.amount + excluded.amount`,
      );
      await dropPartitions(sql, LEDGER_TABLES, day);
      return true;
    });
  }
}
