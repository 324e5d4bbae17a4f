import type { Clock } from "../../base/clock.ts";
import { fail } from "../../base/errors.ts";
import type { IdSource } from "../../base/ids.ts";
import { formatDollars } from "../../base/money.ts";
import type { Ledger } from "./ledger.ts";
import type { LedgerStore, StoredTransfer } from "./ledger-store.ts";
import { PLATFORM_ACCOUNT, refundIdOf, type Transfer, type TransferKind } from "./records.ts";

/** What moving credits takes. `ledger` is where a running gateway has its balances. */
export interface Credits {
  readonly store: LedgerStore;
  readonly ledger: Pick<Ledger, "transfer" | "refund">;
  readonly clock: Clock;
  readonly ids: IdSource;
}

/** What is to be moved. */
export interface CreditRequest {
  readonly accountId: string;
  /** Nanodollars; a correction may be negative. */
  readonly amount: number;
  readonly note: string | null;
  /** The caller's own name for it: with the same one it happens once. Null: each call is one of its own. */
  readonly id: string | null;
}

/** A transfer that stands, and whether this call made it. */
export interface Moved {
  readonly transfer: StoredTransfer;
  readonly isNew: boolean;
}

/** Gives credits to an account, for ever or until `expiresAt`. */
export function grantCredits(
  credits: Credits,
  wish: CreditRequest & { readonly expiresAt: number | null },
): Promise<Moved> {
  return move(credits, "grant", wish, wish.expiresAt);
}

/** Puts bought credits into an account; `id` is the payment's. */
export function addPurchase(credits: Credits, wish: CreditRequest & { readonly id: string }): Promise<Moved> {
  return move(credits, "purchase", wish, null);
}

/** The operator's correction of a balance, up or down. */
export function correctBalance(credits: Credits, wish: CreditRequest): Promise<Moved> {
  return move(credits, "correction", wish, null);
}

async function move(
  credits: Credits,
  kind: TransferKind,
  { accountId, amount, note, id }: CreditRequest,
  expiresAt: number | null,
): Promise<Moved> {
  const [from, to] = amount < 0 ? [accountId, PLATFORM_ACCOUNT] : [PLATFORM_ACCOUNT, accountId];
  const transfer: Transfer = {
    // Names that callers give never meet those that are made here.
    id: id === null ? credits.ids.next(kind) : `${kind}:${id}`,
    kind,
    from,
    to,
    amount: Math.abs(amount),
    createdAt: credits.clock.now(),
    note,
    expiresAt,
  };
  const isNew = await credits.ledger.transfer(transfer);
  return { transfer: await findSame(credits.store, transfer), isNew };
}

/**
 * What stands under the id of a transfer.
 * @throws GatewayError `invalid_request` where that is another one.
 */
async function findSame(store: LedgerStore, wanted: Transfer): Promise<StoredTransfer> {
  const found = await store.findTransfer(wanted.id);
  if (found === null) throw new Error(`the transfer ${wanted.id} is not there`);
  const isSame = (["from", "to", "amount", "expiresAt"] as const).every(
    (name) => found[name] === wanted[name],
  );
  if (isSame) return found;
  return fail(
    "invalid_request",
    `id was used before, for ${formatDollars(found.amount)} dollars from ${found.from} to ${found.to}. Give each movement an id of its own.`,
    { metadata: { field: "id" } },
  );
}

/** What of a generation's cost is to be given back. */
export interface RefundRequest {
  readonly generationId: string;
  /** Nanodollars; null: all that was not given back yet. */
  readonly amount: number | null;
  readonly note: string | null;
  /** Tells several refunds of one generation apart; null: the one refund. */
  readonly id: string | null;
}

/**
 * Gives back what a generation has cost, or a part of it, to who paid; never more than it cost in sum.
 * @throws GatewayError `not_found`, `invalid_request`.
 */
export async function refundGeneration(credits: Credits, wish: RefundRequest): Promise<Moved> {
  const { generationId, amount, note } = wish;
  const id = refundIdOf(generationId, wish.id);
  const verdict = await credits.ledger.refund({
    id,
    generationId,
    amount,
    note,
    createdAt: credits.clock.now(),
  });
  switch (verdict.kind) {
    case "unknown":
      return fail("not_found", "There is no generation with that id that has cost anything.");
    case "too_much":
      return fail(
        "invalid_request",
        `amount is more than the ${formatDollars(verdict.left)} dollars of this generation's cost that were not given back yet.`,
        { metadata: { field: "amount" } },
      );
    case "refunded":
      return { transfer: verdict.transfer, isNew: true };
    case "exists": {
      const { transfer } = verdict;
      if (amount === null || amount === transfer.amount) return { transfer, isNew: false };
      return fail(
        "invalid_request",
        `This refund was made before, of ${formatDollars(transfer.amount)} dollars. Give a further one an id of its own.`,
        { metadata: { field: "id" } },
      );
    }
  }
}
