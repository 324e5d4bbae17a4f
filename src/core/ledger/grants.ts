import type { Transfer } from "./records.ts";

/**
 * What moved an account's money, in the order of the ledger: money that came in, for a time or for ever, or went out.
 * What went out in a row may stand as one sum.
 */
export type Movement =
  | {
      readonly kind: "in";
      readonly id: string;
      readonly amount: number;
      /** Until when it can be used, milliseconds since the epoch; null: for ever. */
      readonly expiresAt: number | null;
    }
  | { readonly kind: "out"; readonly amount: number }
  /** What was left of a grant when its time was up. */
  | { readonly kind: "expiry"; readonly grantId: string; readonly amount: number };

/** A grant for a time, as far as it is not used. */
export interface GrantLeft {
  readonly id: string;
  /** Nanodollars; 0 where it is used up. */
  readonly left: number;
  readonly expiresAt: number;
}

/**
 * How much is left of each grant for a time: what expires first is spent first, money that stays is spent last, and
 * what comes in pays what was overdrawn before it. `opening` is what the account had before the first movement, all of
 * it money that stays; negative where it was overdrawn. Pure: the same movements give the same answer for ever.
 */
export function findGrantsLeft(opening: number, movements: readonly Movement[]): GrantLeft[] {
  const holdBook = new SpendingOrder(opening);
  for (const movement of movements) {
    if (movement.kind === "in") holdBook.put(movement);
    else if (movement.kind === "out") holdBook.take(movement.amount);
    else holdBook.expire(movement.grantId, movement.amount);
  }
  return holdBook.grants();
}

/** An account's money by the time it is good for. */
class SpendingOrder {
  /** Money that stays; below zero it is a debt, and then no grant has anything left. */
  private lasting: number;
  /** By end; of those that end together the earlier grant first. */
  private readonly limited: { id: string; left: number; expiresAt: number }[] = [];

  constructor(opening: number) {
    this.lasting = opening;
  }

  put({ id, amount, expiresAt }: Extract<Movement, { kind: "in" }>): void {
    if (expiresAt === null) {
      this.lasting += amount;
      return;
    }
    const paid = Math.min(amount, Math.max(0, -this.lasting));
    this.lasting += paid;
    const at = this.limited.findIndex((grant) => grant.expiresAt > expiresAt);
    this.limited.splice(at < 0 ? this.limited.length : at, 0, { id, left: amount - paid, expiresAt });
  }

  take(amount: number): void {
    let open = amount;
    for (const grant of this.limited) {
      const taken = Math.min(open, grant.left);
      grant.left -= taken;
      open -= taken;
    }
    this.lasting -= open;
  }

  expire(grantId: string, amount: number): void {
    const at = this.limited.findIndex(({ id }) => id === grantId);
    const left = this.limited[at]?.left ?? 0;
    if (at >= 0) this.limited.splice(at, 1);
    // As written by the ledger they are equal; whatever was taken is taken.
    if (amount > left) this.take(amount - left);
    else this.lasting += left - amount;
  }

  grants(): GrantLeft[] {
    return this.limited.map((grant) => ({ ...grant }));
  }
}

const EXPIRY = "expiry:";

/** The id of the transfer that takes back what is left of a grant: there can be one of them only. */
export function expiryIdOf(grantId: string): string {
  return EXPIRY + grantId;
}

/** A transfer as a movement of one account's money. */
export function movementOf(transfer: Transfer, accountId: string): Movement {
  const { id, kind, to, amount, expiresAt } = transfer;
  if (to === accountId) return { kind: "in", id, amount, expiresAt };
  if (kind === "expiry") return { kind: "expiry", grantId: id.slice(EXPIRY.length), amount };
  return { kind: "out", amount };
}
