import { toDollars } from "../../../base/numbers/money.ts";
import type { StoredTransfer } from "./ledger-store.ts";
import { generationOf } from "./records.ts";

/** Makes the view of a transfer as the ledger entry of one of its two accounts: incoming money is positive. */
export function presentEntry(transfer: StoredTransfer, accountId: string): Record<string, unknown> {
  const amount = transfer.to === accountId ? transfer.amount : -transfer.amount;
  return {
    id: transfer.id,
    number: transfer.place,
    kind: transfer.kind,
    account_id: accountId,
    amount: toDollars(amount),
    amount_nanodollars: amount,
    generation_id: generationOf(transfer),
    note: transfer.note,
    created_at: new Date(transfer.createdAt).toISOString(),
    expires_at: transfer.expiresAt === null ? null : new Date(transfer.expiresAt).toISOString(),
  };
}
