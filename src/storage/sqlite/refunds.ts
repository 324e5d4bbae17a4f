import type { Database } from "bun:sqlite";
import type { RefundEntry, RefundVerdict } from "../../core/ledger/ledger-store.ts";
import { refundIdOf } from "../../core/ledger/records.ts";
import { readTransfer, type TransferRow, type TransferWriter } from "./transfers.ts";

/** Gives back what generations cost. */
export interface Refunds {
  add(refund: RefundEntry): RefundVerdict;
}

/** The statements by which refunds are made, each in a transaction with the look at what may be given back. */
export function prepareRefunds(database: Database, transfers: TransferWriter): Refunds {
  const byId = database.query<TransferRow, [string]>("SELECT * FROM transfers WHERE id = ?");
  // All of a generation's: the one without a name, and those with one behind a colon.
  const givenBack = database.query<{ amount: number }, [string]>(
    "SELECT coalesce(sum(amount), 0) AS amount FROM transfers WHERE id = ?1 OR (id > ?1 || ':' AND id < ?1 || ';')",
  );
  const add = database.transaction((refund: RefundEntry): RefundVerdict => {
    const cost = byId.get(refund.generationId);
    if (cost === null || cost.kind !== "usage") return { kind: "unknown" };
    const earlier = byId.get(refund.id);
    if (earlier !== null) return { kind: "exists", transfer: readTransfer(earlier) };
    const left = cost.amount - (givenBack.get(refundIdOf(refund.generationId, null))?.amount ?? 0);
    const amount = refund.amount ?? left;
    if (amount > left || left === 0) return { kind: "too_much", left };
    transfers.add([
      {
        id: refund.id,
        kind: "refund",
        from: cost.to_account,
        to: cost.from_account,
        amount,
        createdAt: refund.createdAt,
        note: refund.note,
        expiresAt: null,
      },
    ]);
    return { kind: "refunded", transfer: readTransfer(byId.get(refund.id) as TransferRow) };
  });
  return { add: (refund) => add.immediate(refund) };
}
