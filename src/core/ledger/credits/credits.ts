import { fail } from "../../../base/failures/errors.ts";
import { formatDollars } from "../../../base/numbers/money.ts";
import type { IdSource } from "../../../base/secrets/ids.ts";
import type { Clock } from "../../../base/time/clock.ts";
import type { LedgerStore, StoredTransfer } from "../records/ledger-store.ts";
import { PLATFORM_ACCOUNT, refundIdOf, type Transfer, type TransferKind } from "../records/records.ts";
import type { Ledger } from "./ledger.ts";

/** The dependencies of moving credits. `ledger` has the balances of the running gateway. */
export interface Credits {
  readonly store: LedgerStore;
  readonly ledger: Pick<Ledger, "transfer" | "refund">;
  readonly clock: Clock;
  readonly ids: IdSource;
}

/** A request to change the credits of an account. */
interface CreditRequest {
  readonly accountId: string;
  /** Nanodollars; a correction may be negative. */
  readonly amount: number;
  readonly note: string | null;
  /** The caller's idempotency key: the same id moves credits once. Null: each call moves credits. */
  readonly id: string | null;
}

/** A request for credits that may expire. */
interface ExpiringCreditRequest extends CreditRequest {
  /** Milliseconds since the epoch; null: never. */
  readonly expiresAt: number | null;
}

/** A transfer, and whether this call created it. */
export interface Moved {
  readonly transfer: StoredTransfer;
  readonly isNew: boolean;
}

/** Grants credits to an account. */
export function grantCredits(credits: Credits, request: ExpiringCreditRequest): Promise<Moved> {
  return move(credits, "grant", request);
}

/** Adds purchased credits to an account. `id` is the payment's. */
export function addPurchase(
  credits: Credits,
  request: CreditRequest & { readonly id: string },
): Promise<Moved> {
  return move(credits, "purchase", { ...request, expiresAt: null });
}

/** Corrects a balance, up or down, on behalf of the operator. */
export function correctBalance(credits: Credits, request: CreditRequest): Promise<Moved> {
  return move(credits, "correction", { ...request, expiresAt: null });
}

async function move(
  credits: Credits,
  kind: TransferKind,
  { accountId, amount, note, id, expiresAt }: ExpiringCreditRequest,
): Promise<Moved> {
  const [from, to] = amount < 0 ? [accountId, PLATFORM_ACCOUNT] : [PLATFORM_ACCOUNT, accountId];
  const transfer: Transfer = {
    // The prefix keeps ids that callers choose apart from generated ones.
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
 * Returns the stored transfer with the id of a wanted one.
 * @throws GatewayError `invalid_request` if its accounts, amount or expiry differ.
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

/** A request to refund a generation. */
interface RefundRequest {
  readonly generationId: string;
  /** Nanodollars; null: everything that was not refunded yet. */
  readonly amount: number | null;
  readonly note: string | null;
  /** Distinguishes several refunds of one generation; null: the only one. */
  readonly id: string | null;
}

/**
 * Refunds a generation to the account that paid for it, in whole or in part. All its refunds together never exceed its cost.
 * @throws GatewayError `not_found`, `invalid_request`.
 */
export async function refundGeneration(credits: Credits, request: RefundRequest): Promise<Moved> {
  const { generationId, amount, note } = request;
  const id = refundIdOf(generationId, request.id);
  const verdict = await credits.ledger.refund({
    id,
    generationId,
    amount,
    note,
    createdAt: credits.clock.now(),
  });
  switch (verdict.kind) {
    case "unknown":
      return fail("not_found", "There is no generation with that id that was charged.");
    case "dropped":
      return fail(
        "not_found",
        "The generations of that day were deleted (storage.retention_days), so this one can no longer be refunded by its id. Correct the account's balance instead.",
      );
    case "too_much":
      return fail(
        "invalid_request",
        `amount is more than the ${formatDollars(verdict.left)} dollars of this generation's cost that were not refunded yet.`,
        { metadata: { field: "amount" } },
      );
    case "refunded":
      return { transfer: verdict.transfer, isNew: true };
    case "exists": {
      const { transfer } = verdict;
      if (amount === null || amount === transfer.amount) return { transfer, isNew: false };
      return fail(
        "invalid_request",
        `This refund of ${formatDollars(transfer.amount)} dollars was already made. To make another one, give it a different id.`,
        { metadata: { field: "id" } },
      );
    }
  }
}
