import { lowestIdAt } from "../../base/secrets/ids.ts";
import type { Rejection } from "../../core/usage/rejections/rejection.ts";
import type {
  RejectionBounds,
  RejectionQuery,
  RejectionStore,
} from "../../core/usage/rejections/rejection-store.ts";
import type { SqlDatabase } from "./statements/database.ts";
import { raw, type Sql, type SqlValue, sql, where } from "./statements/statement.ts";
import { integer, named, Table, text } from "./statements/table.ts";

const REJECTIONS = new Table<Rejection>("rejections", {
  id: text,
  at: integer,
  api: text,
  method: text,
  path: text,
  accountId: text,
  userId: text,
  keyId: text,
  teamId: text,
  keyFingerprint: text,
  addressHash: text,
  model: text,
  code: text,
  status: integer,
  message: text,
  field: text,
  limitSource: text,
  limitKind: text,
  limit: named("limit_value", integer),
  budgetId: text,
  client: text,
  clientVersion: text,
  userAgent: text,
  count: integer,
});

/** Rejected requests. */
export class SqlRejectionStore implements RejectionStore {
  constructor(private readonly database: SqlDatabase) {}

  async addRejections(rows: readonly Rejection[]) {
    if (rows.length > 0) await this.database.run(REJECTIONS.insertNew(rows));
  }

  async findRejection(id: string) {
    return REJECTIONS.readFirst(await this.database.run(REJECTIONS.select(sql`WHERE id = ${id}`)));
  }

  async listRejections({ before, limit, fromMs, toMs, ...values }: RejectionQuery) {
    const conditions = where(
      before === null ? null : sql`id < ${before}`,
      // The ids of requests begin with their times.
      fromMs === null ? null : sql`id >= ${lowestIdAt("req", fromMs)}`,
      toMs === null ? null : sql`id < ${lowestIdAt("req", toMs)}`,
      equals("account_id", values.accountId),
      equals("user_id", values.userId),
      equals("key_id", values.keyId),
      equals("team_id", values.teamId),
      equals("key_fingerprint", values.keyFingerprint),
      equals("code", values.code),
      values.status === null ? null : sql`status = ${values.status}::bigint`,
      equals("model", values.model),
      equals("client", values.client),
    );
    const rows = await this.database.run(
      REJECTIONS.select(sql`${conditions} ORDER BY id DESC LIMIT ${limit}::bigint`),
    );
    return rows.map(REJECTIONS.read);
  }

  async deleteRejectionsBefore(ms: number, limit: number) {
    return this.delete(sql`id < ${lowestIdAt("req", ms)} LIMIT ${limit}::bigint`);
  }

  async deleteExcessRejections({ known, unknown }: RejectionBounds, limit: number) {
    return (
      (await this.delete(oldest("key_id IS NOT NULL", known, limit))) +
      (await this.delete(oldest("key_id IS NULL", unknown, limit)))
    );
  }

  /** Deletes the rows of a condition. Rows that another process is deleting are skipped. */
  private async delete(condition: Sql): Promise<number> {
    const deleted = await this.database.run(
      sql`DELETE FROM rejections WHERE id IN
          (SELECT id FROM rejections WHERE ${condition} FOR UPDATE SKIP LOCKED) RETURNING 1`,
    );
    return deleted.length;
  }
}

function equals(column: string, value: SqlValue): Sql | null {
  return value === null ? null : sql`${raw(column)} = ${value}`;
}

/** Selects the rows of a kind after the newest `most`. */
function oldest(kind: string, most: number, limit: number): Sql {
  return sql`${raw(kind)} ORDER BY id DESC LIMIT ${limit}::bigint OFFSET ${most}::bigint`;
}
