import { decideRefund } from "../../../core/ledger/credits/refunds.ts";
import type {
  RefundEntry,
  RefundVerdict,
  StoredTransfer,
} from "../../../core/ledger/records/ledger-store.ts";
import { refundIdOf } from "../../../core/ledger/records/records.ts";
import { dayOfId } from "../../sql/statements/day-of-id.ts";
import { readInteger } from "../../sql/statements/values.ts";
import { readTransfer, type TransferRow } from "../../sql/transfer-row.ts";
import type { SqlRunner } from "../connection/client.ts";
import { CREDIT_COLUMNS, findTransfer, lockBalances, writeTransfer } from "./transfers.ts";

/** Decides on a refund and writes it, in the transaction of the caller. */
export async function makeRefund(sql: SqlRunner, refund: RefundEntry): Promise<RefundVerdict> {
  const charge = await findTransfer(sql, refund.generationId);
  // Refunds of one generation wait for each other.
  if (charge !== null) await lockBalances(sql, [charge.from]);
  const decision = decideRefund(refund, {
    charge,
    existing: await findTransfer(sql, refund.id),
    refunded: await sumRefunds(sql, refund.generationId),
    isDropped: charge === null && (await isDropped(sql, refund.generationId)),
  });
  if (decision.kind !== "refund") return decision;
  const isNew = await writeTransfer(sql, decision.transfer);
  const transfer = await findTransfer(sql, refund.id);
  if (!isNew || transfer === null) throw new Error(`the refund ${refund.id} was not written`);
  return { kind: "refunded", transfer };
}

/** Sums the refunds of a generation. The id of a named refund is the id of the unnamed one, a colon and the name. */
async function sumRefunds(sql: SqlRunner, generationId: string): Promise<number> {
  const [row] = await sql.run<{ amount: string }>(
    `SELECT coalesce(sum(amount), 0) AS amount FROM credits
     WHERE id = $1 OR (id > $1 || ':' AND id < $1 || ';')`,
    [refundIdOf(generationId, null)],
  );
  return readInteger(row?.amount ?? "0");
}

/** Returns refunds of a generation, the earliest first. */
export async function listRefunds(
  sql: SqlRunner,
  generationId: string,
  limit: number,
): Promise<readonly StoredTransfer[]> {
  const rows = await sql.run<TransferRow>(
    `SELECT ${CREDIT_COLUMNS} FROM credits
     WHERE id = $1 OR (id > $1 || ':' AND id < $1 || ';') ORDER BY place LIMIT $2`,
    [refundIdOf(generationId, null), limit],
  );
  return rows.map(readTransfer);
}

/** Returns whether the retention policy has deleted the generations of a generation's day. */
async function isDropped(sql: SqlRunner, generationId: string): Promise<boolean> {
  const rows = await sql.run("SELECT 1 AS one FROM dropped_days WHERE day = $1", [dayOfId(generationId)]);
  return rows.length > 0;
}
