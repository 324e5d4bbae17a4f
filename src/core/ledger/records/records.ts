/**
 * Why money moved. `usage` is the cost of a generation. `grant` and `purchase` add credits, `refund` returns the cost of a
 * generation, `expiry` takes back the unused rest of a grant that has expired, and `correction` is made by the operator.
 */
export const TRANSFER_KINDS = ["usage", "grant", "purchase", "refund", "expiry", "correction"] as const;
export type TransferKind = (typeof TRANSFER_KINDS)[number];

/** The id of the platform account, the counterparty of every transfer. */
export const PLATFORM_ACCOUNT = "house";

/** Money that moved from one account to another. Transfers are immutable, and all balances together are always 0. */
export interface Transfer {
  /** The id of the generation, payment or grant. A transfer with an id that exists is not written again. */
  readonly id: string;
  readonly kind: TransferKind;
  readonly from: string;
  readonly to: string;
  /** Nanodollars, more than 0. */
  readonly amount: number;
  /** Milliseconds since the epoch. */
  readonly createdAt: number;
  /** A reason, for people. */
  readonly note: string | null;
  /** When a grant expires, in milliseconds since the epoch; null: never. */
  readonly expiresAt: number | null;
}

/** Returns the transfer of a generation's cost; null if it cost nothing. `accountId` is the account that pays. */
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

/** Returns the id of a refund of a generation. `name` distinguishes several; null: the only one. */
export function refundIdOf(generationId: string, name: string | null): string {
  return `${REFUND}${generationId}${name === null ? "" : `:${name}`}`;
}

/** Returns the id of the generation that a transfer charges or refunds; null for other kinds. */
export function generationOf({ id, kind }: Pick<Transfer, "id" | "kind">): string | null {
  if (kind === "usage") return id;
  return kind === "refund" ? (id.slice(REFUND.length).split(":")[0] as string) : null;
}
