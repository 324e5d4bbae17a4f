import { z } from "zod";
import { toDollars } from "../../base/money.ts";
import { generationOf, TRANSFER_KINDS } from "../../core/ledger/records.ts";
import type { StoredTransfer } from "../../core/ports/ledger-store.ts";

/** A transfer as one of its two accounts sees it. */
export const EntryView = z.object({
  id: z.string(),
  number: z.int().describe("Its place in the ledger of all accounts; rises"),
  kind: z.enum(TRANSFER_KINDS),
  account_id: z.string(),
  amount: z.number().describe("US dollars; negative: went out"),
  amount_nanodollars: z.int(),
  generation_id: z.string().nullable(),
  note: z.string().nullable(),
  created_at: z.iso.datetime(),
  expires_at: z.iso.datetime().nullable(),
});

export type EntryViewType = z.infer<typeof EntryView>;

/** A transfer as `accountId` sees it: money that comes in is positive. */
export function viewEntry(transfer: StoredTransfer, accountId: string): EntryViewType {
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
