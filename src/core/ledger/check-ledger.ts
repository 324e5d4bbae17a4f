import type { LedgerStore } from "../ports/ledger-store.ts";

/** Something that does not add up. */
export interface LedgerDifference {
  readonly of: "balance" | "record";
  /** The account's or the generation's. */
  readonly id: string;
  /** Nanodollars: the transfers' sum less the balance; the record's cost less its transfer. */
  readonly difference: number;
}

/** Differences of either kind that are named. */
const NAMED = 100;

/** Adds everything up: differences between transfers and balances, and between records and transfers. None, when all is well. */
export async function checkLedger(
  store: Pick<LedgerStore, "findDifferences" | "findUnmatchedUsage">,
): Promise<readonly LedgerDifference[]> {
  const balances = await store.findDifferences();
  const records = await store.findUnmatchedUsage(NAMED);
  return [
    ...balances.slice(0, NAMED).map(({ accountId, difference }) => ({
      of: "balance" as const,
      id: accountId,
      difference,
    })),
    ...records.map(({ generationId, recorded, transferred }) => ({
      of: "record" as const,
      id: generationId,
      difference: recorded - transferred,
    })),
  ];
}

/** A difference as the management API and the command show it. */
export function describeDifference({ of, id, difference }: LedgerDifference): Record<string, unknown> {
  return { of, id, difference_nanodollars: difference };
}
