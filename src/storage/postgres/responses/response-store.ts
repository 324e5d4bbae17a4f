import type { StoredObject } from "../../../core/response-objects/records/response-object.ts";
import type { StepReport } from "../../../core/usage/records/retention.ts";
import { JOIN_PREVIOUS } from "../../sql/response-objects/find-objects.ts";
import { SqlResponseStore } from "../../sql/response-objects/response-store.ts";
import { dayOfId, UNDATED } from "../../sql/statements/day-of-id.ts";
import { type Postgres, sqlStateOf } from "../connection/client.ts";
import { createPostgresDatabase } from "../connection/sql-database.ts";
import {
  dropPartitions,
  listDays,
  type PartitionedTables,
  Partitions,
  partitionOf,
} from "../tables/partitions.ts";

/** Objects and their events. */
export const RESPONSE_TABLES: PartitionedTables = {
  tables: ["response_objects", "response_events"],
  recordsDropped: false,
};

/** The longest wait for statements that use a partition, or all of them. New statements wait behind it. Milliseconds. */
const LOCK_MS = 500;
/** How PostgreSQL reports that a row has no partition. */
const CHECK_VIOLATION = "23514";

/** The connections of a store of response objects. */
interface ResponseDatabase {
  readonly database: Postgres;
  /** A connection whose statements may take minutes. */
  readonly maintenance: Postgres;
}

/** Response objects in PostgreSQL. Objects and their events are partitioned by the day in the id of the object. */
export class PostgresResponseStore extends SqlResponseStore {
  protected readonly joinPrevious = JOIN_PREVIOUS.lateral;
  private readonly partitions: Partitions;
  private readonly maintenance: Postgres;

  constructor({ database, maintenance }: ResponseDatabase) {
    super(createPostgresDatabase(database));
    this.partitions = new Partitions(database, RESPONSE_TABLES);
    this.maintenance = maintenance;
  }

  override async addObject(object: StoredObject, itemIds: readonly string[], maxAccountBytes: number) {
    const days = [dayOfId(object.id)];
    await this.partitions.ensure(days);
    try {
      return await super.addObject(object, itemIds, maxAccountBytes);
    } catch (error) {
      if (sqlStateOf(error) !== CHECK_VIOLATION) throw error;
      // The partition was dropped since it was looked up.
      this.partitions.forget(days);
      await this.partitions.ensure(days);
      return super.addObject(object, itemIds, maxAccountBytes);
    }
  }

  /** Drops the partitions of the earliest day without objects. Events without their object are of no use. */
  async releaseSpace(firstKept: number): Promise<StepReport> {
    const days = await listDays(this.maintenance, RESPONSE_TABLES);
    for (const day of days.filter((one) => one < firstKept && one !== UNDATED).reverse())
      if (await this.dropDay(day)) return { hasMore: true };
    return { hasMore: false };
  }

  /** Returns false if the day has objects, or another process has dropped it. */
  private dropDay(day: number): Promise<boolean> {
    return this.maintenance.transaction(async (sql) => {
      const [objects, events] = RESPONSE_TABLES.tables.map((table) => partitionOf(table, day));
      await sql.run(`SET LOCAL lock_timeout = ${LOCK_MS}`);
      const [found] = await sql.run<{ exists: boolean }>("SELECT to_regclass($1) IS NOT NULL AS exists", [
        objects ?? "",
      ]);
      if (found?.exists !== true) return false;
      // Looked at first without a lock that would stop others.
      const hasObjects = async () => (await sql.run(`SELECT 1 AS one FROM ${objects} LIMIT 1`)).length > 0;
      if (await hasObjects()) return false;
      await sql.run(`LOCK TABLE ${objects}, ${events} IN SHARE MODE`);
      if (await hasObjects()) return false;
      await dropPartitions(sql, RESPONSE_TABLES, day);
      return true;
    });
  }
}
