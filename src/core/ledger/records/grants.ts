import { PLATFORM_ACCOUNT, type Transfer } from "./records.ts";

/**
 * A change of an account's balance, in the order of the ledger: money that came in, with an expiry or without, or went out.
 * Consecutive outgoing amounts may be one sum.
 */
export type Movement =
  | {
      readonly kind: "in";
      readonly id: string;
      readonly amount: number;
      /** Milliseconds since the epoch; null: it does not expire. */
      readonly expiresAt: number | null;
    }
  | { readonly kind: "out"; readonly amount: number }
  /** The amount taken back from an expired grant: its rest, or the part of it that no gateway had leased. */
  | { readonly kind: "expiry"; readonly grantId: string; readonly amount: number };

/** The rest of a grant that expires. */
export interface GrantLeft {
  readonly id: string;
  /** Nanodollars; 0 if it is used up. */
  readonly left: number;
  readonly expiresAt: number;
}

/**
 * Returns the rest of each grant that expires. Grants are spent in the order of their expiry, money without an expiry last, and incoming
 * money pays an overdraft first. `opening` is the balance before the first movement, which does not expire; it is negative for an overdrawn
 * account. Amounts are nanodollars.
 */
export function findGrantsLeft(opening: number, movements: readonly Movement[]): GrantLeft[] {
  const order = new SpendingOrder(opening);
  for (const movement of movements) {
    if (movement.kind === "in") order.put(movement);
    else if (movement.kind === "out") order.take(movement.amount);
    else order.expire(movement.grantId, movement.amount);
  }
  return order.grants();
}

/** An account's money in the order in which it is spent. */
class SpendingOrder {
  /** Money that does not expire. Below zero it is a debt, and then no grant has anything left. */
  private lasting: number;
  /** By expiry time, then in the order in which they were granted. */
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
    const grant = this.limited[at];
    const taken = Math.min(amount, grant?.left ?? 0);
    if (grant !== undefined) grant.left -= taken;
    if (grant?.left === 0) this.limited.splice(at, 1);
    // The ledger never takes back more than is left. If it did, the amount taken back would count.
    this.take(amount - taken);
  }

  grants(): GrantLeft[] {
    return this.limited.map((grant) => ({ ...grant }));
  }
}

const EXPIRY = "expiry:";

/** An expiry's id. A second part has the number 1 before the grant's id, which begins with a letter. */
const EXPIRY_ID = /^expiry:(?:\d+:)?(.*)$/s;

/** A grant of which something is taken back. */
interface ExpiringGrant {
  readonly id: string;
  readonly accountId: string;
  /** The number of parts that were taken back before; absent: none. */
  readonly parts?: number;
}

/** Returns the transfer that takes back the rest of an expired grant, or a part of it; null if the amount is 0. */
export function expiryOf(
  { id, accountId, parts = 0 }: ExpiringGrant,
  left: number,
  now: number,
): Transfer | null {
  if (left <= 0) return null;
  return {
    id: `${EXPIRY}${parts === 0 ? "" : `${parts}:`}${id}`,
    kind: "expiry",
    from: accountId,
    to: PLATFORM_ACCOUNT,
    amount: left,
    createdAt: now,
    note: null,
    expiresAt: null,
  };
}

/** Converts a transfer to a movement of one account's money. */
export function movementOf(transfer: Transfer, accountId: string): Movement {
  const { id, kind, to, amount, expiresAt } = transfer;
  if (to === accountId) return { kind: "in", id, amount, expiresAt };
  if (kind === "expiry") return { kind: "expiry", grantId: EXPIRY_ID.exec(id)?.[1] ?? id, amount };
  return { kind: "out", amount };
}
