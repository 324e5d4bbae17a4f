import type { RefundEntry, StoredTransfer } from "../records/ledger-store.ts";
import type { Transfer } from "../records/records.ts";

/** What the ledger has about a generation that is to be refunded. */
interface RefundFacts {
  /** The transfer under the generation's id; null if there is none. */
  readonly charge: StoredTransfer | null;
  /** The transfer under the refund's id; null if there is none. */
  readonly existing: StoredTransfer | null;
  /** The sum of all refunds of the generation, in nanodollars. */
  readonly refunded: number;
  /** The records of the generation's day were deleted by the retention policy. */
  readonly isDropped: boolean;
}

/** The decision about a refund: the transfer to write, or the reason why there is none. */
type RefundDecision =
  | { readonly kind: "refund"; readonly transfer: Transfer }
  | { readonly kind: "exists"; readonly transfer: StoredTransfer }
  /** Nothing was charged under that id. */
  | { readonly kind: "unknown" }
  /** It is no longer known what was charged under that id. */
  | { readonly kind: "dropped" }
  /** `left`: the maximum that can be refunded, in nanodollars. */
  | { readonly kind: "too_much"; readonly left: number };

/** Decides on a refund: to the account that paid, and never more in sum than the generation cost. */
export function decideRefund(
  { id, amount, note, createdAt }: RefundEntry,
  { charge, existing, refunded, isDropped }: RefundFacts,
): RefundDecision {
  if (charge?.kind !== "usage") return { kind: isDropped ? "dropped" : "unknown" };
  if (existing !== null) return { kind: "exists", transfer: existing };
  const left = charge.amount - refunded;
  const refund = amount ?? left;
  if (refund > left || left === 0) return { kind: "too_much", left };
  const { from, to } = charge;
  const rest = { createdAt, note, expiresAt: null };
  return { kind: "refund", transfer: { id, kind: "refund", from: to, to: from, amount: refund, ...rest } };
}
