/**
 * Why money moved. `usage`: a generation's cost. `grant` and `purchase` put money into an account, `refund` gives back
 * what a generation cost, `expiry` takes away what was granted for a time and not used, `correction` is the operator's.
 */
export const TRANSFER_KINDS = ["usage", "grant", "purchase", "refund", "expiry", "correction"] as const;
export type TransferKind = (typeof TRANSFER_KINDS)[number];

/** The other side of every transfer: where money comes from and goes to that belongs to nobody who calls. */
export const PLATFORM_ACCOUNT = "house";

/**
 * Money moved from one account to another, once and for ever: transfers are never changed, and what is taken out of one
 * account is in another, so that all balances together are zero.
 */
export interface Transfer {
  /** What moved it: the generation's id, the payment's, the grant's. A second transfer with the same id is the same one. */
  readonly id: string;
  readonly kind: TransferKind;
  readonly from: string;
  readonly to: string;
  /** Nanodollars, more than 0. */
  readonly amount: number;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  /** For people: why. */
  readonly note: string | null;
  /** Of a grant: until when it can be used, milliseconds since the epoch; null: for ever. */
  readonly expiresAt: number | null;
}

/** What a generation cost, as a transfer; null where it cost nothing. `accountId` is who pays. */
export function transferOfUsage(usage: {
  readonly id: string;
  readonly accountId: string | null;
  readonly costNanodollars: number;
  readonly finishedAt: number | null;
  readonly createdAt: number;
}): Transfer | null {
  if (usage.accountId === null || usage.costNanodollars === 0) return null;
  return {
    id: usage.id,
    kind: "usage",
    from: usage.accountId,
    to: PLATFORM_ACCOUNT,
    amount: usage.costNanodollars,
    createdAt: usage.finishedAt ?? usage.createdAt,
    note: null,
    expiresAt: null,
  };
}

const REFUND = "refund:";

/** The id of a refund of a generation: one, or several that `name` tells apart. */
export function refundIdOf(generationId: string, name: string | null): string {
  return `${REFUND}${generationId}${name === null ? "" : `:${name}`}`;
}

/** The generation that a transfer is about; null where it is about none. */
export function generationOf({ id, kind }: Pick<Transfer, "id" | "kind">): string | null {
  if (kind === "usage") return id;
  return kind === "refund" ? (id.slice(REFUND.length).split(":")[0] as string) : null;
}
