import type { StoredTransfer } from "../../core/ledger/records/ledger-store.ts";
import type { TransferKind } from "../../core/ledger/records/records.ts";
import { type Integer, readInteger, readNullableInteger } from "./statements/values.ts";

/** A transfer as the statements of both ledgers return it. PostgreSQL returns integers as text. */
export interface TransferRow<Whole extends Integer = Integer> {
  readonly place: Whole;
  readonly id: string;
  readonly kind: TransferKind;
  readonly from_account: string;
  readonly to_account: string;
  readonly amount: Whole;
  readonly created_at: Whole;
  readonly note: string | null;
  readonly expires_at: Whole | null;
}

/** Reads a row. */
export function readTransfer(row: TransferRow): StoredTransfer {
  return {
    place: readInteger(row.place),
    id: row.id,
    kind: row.kind,
    from: row.from_account,
    to: row.to_account,
    amount: readInteger(row.amount),
    createdAt: readInteger(row.created_at),
    note: row.note,
    expiresAt: readNullableInteger(row.expires_at),
  };
}
