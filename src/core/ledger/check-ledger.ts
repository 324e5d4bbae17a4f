import type { LedgerStore } from "../ports/ledger-store.ts";
import type { UsageStore } from "../ports/usage-store.ts";

/** Something that does not add up. */
export interface LedgerDifference {
  /** `quarantined`: a record that the store rejects, and that is therefore not charged. */
  readonly of: "balance" | "record" | "quarantined";
  /** The account's or the generation's. */
  readonly id: string;
  /** Nanodollars: the transfers' sum less the balance; the record's cost less its transfer. */
  readonly difference: number;
  /** Why a record is in quarantine; null for anything else. */
  readonly reason: string | null;
}

/** Differences of either kind that are named. */
const NAMED = 100;

/** Adds everything up: differences between transfers and balances, and between records and transfers; records in quarantine. None, when all is well. */
export async function checkLedger(
  store: Pick<LedgerStore, "findDifferences" | "findUnmatchedUsage">,
  usage: Pick<UsageStore, "listQuarantined">,
): Promise<readonly LedgerDifference[]> {
  const balances = await store.findDifferences();
  const records = await store.findUnmatchedUsage(NAMED);
  const quarantined = await usage.listQuarantined(NAMED);
  return [
    ...balances.slice(0, NAMED).map(({ accountId, difference }) => ({
      of: "balance" as const,
      id: accountId,
      difference,
      reason: null,
    })),
    ...records.map(({ generationId, recorded, transferred }) => ({
      of: "record" as const,
      id: generationId,
      difference: recorded - transferred,
      reason: null,
    })),
    ...quarantined.map(({ id, reason, costNanodollars }) => ({
      of: "quarantined" as const,
      id,
      difference: costNanodollars,
      reason,
    })),
  ];
}

/** A difference as the management API and the command show it. */
export function describeDifference({
  of,
  id,
  difference,
  reason,
}: LedgerDifference): Record<string, unknown> {
  return { of, id, difference_nanodollars: difference, ...(reason === null ? {} : { reason }) };
}
