import type { CreditChanges } from "../../../core/ledger/records/ledger-store.ts";
import { readInteger } from "../../sql/statements/values.ts";
import type { SqlRunner } from "../connection/client.ts";

/** Where the next page begins: after this account in the order of (transaction, account). */
interface Position {
  /** The oldest transaction whose changes are read. */
  readonly since: string;
  /** The start of the next round. */
  readonly next: string;
  readonly transaction: string;
  readonly accountId: string;
}

interface ChangeRow {
  readonly account_id: string;
  readonly credited: string;
  readonly version: string;
  readonly changed_by: string;
}

/**
 * Reads the accounts whose credits were written since a cursor. A cursor is the oldest transaction that ran when the cursor was made. Each
 * transaction that commits later is that one or a later one, so no change is missed. The pages of one round share the cursor for the next
 * round, which reads what is committed between two pages.
 */
export async function readCreditChanges(
  sql: SqlRunner,
  cursor: string | null,
  limit: number,
): Promise<CreditChanges> {
  const [now] = await sql.run<{ oldest: string; end: string }>(
    "SELECT pg_snapshot_xmin(pg_current_snapshot())::text AS oldest, pg_snapshot_xmax(pg_current_snapshot())::text AS end",
  );
  const oldest = now?.oldest ?? "0";
  if (cursor === null) return { sums: [], cursor: oldest, hasMore: false };
  const position = readPosition(cursor) ?? {
    since: cursor,
    next: oldest,
    transaction: cursor,
    accountId: "",
  };
  const rows = await sql.run<ChangeRow>(CHANGES, [position.transaction, position.accountId, limit]);
  const last = rows.at(-1);
  const hasMore = rows.length === limit && last !== undefined;
  const rest = { ...position, transaction: last?.changed_by ?? "", accountId: last?.account_id ?? "" };
  return {
    sums: rows.map((row) => ({
      accountId: row.account_id,
      credited: readInteger(row.credited),
      version: readInteger(row.version),
    })),
    cursor: hasMore ? JSON.stringify(rest) : position.next,
    hasMore,
  };
}

// A row from a restored backup may name a transaction that this server has yet to run.
const CHANGES = `SELECT account_id, credited, version, changed_by::text FROM balances
  WHERE (changed_by, account_id) > ($1::text::xid8, $2) AND changed_by < pg_snapshot_xmax(pg_current_snapshot())
  ORDER BY changed_by, account_id LIMIT $3`;

function readPosition(cursor: string): Position | null {
  return cursor.startsWith("{") ? (JSON.parse(cursor) as Position) : null;
}
