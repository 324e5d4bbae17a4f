import { basename } from "node:path";
import type { DamagedLines } from "../usage/journal.ts";
import type { UsageStore } from "../usage/usage-store.ts";
import type { LedgerStore } from "./ledger-store.ts";

/** Something that does not add up. */
export interface LedgerDifference {
  /**
   * `quarantined`: a record that the store rejects, and that is therefore not charged. `damaged`: lines of the journal that a
   * disk has damaged; what they recorded is in no balance.
   */
  readonly of: "balance" | "record" | "quarantined" | "damaged";
  /** The account's or the generation's; of damaged lines the file that they are kept in. */
  readonly id: string;
  /** Nanodollars: the transfers' sum less the balance; the record's cost less its transfer. */
  readonly difference: number;
  /** Why a record is in quarantine, or what can be read in damaged lines; null for anything else. */
  readonly reason: string | null;
}

/** Differences of either kind that are named. */
const NAMED = 100;

/** Adds everything up: differences between transfers and balances, and between records and transfers; records in quarantine and damaged lines. None, when all is well. */
export async function checkLedger(
  store: Pick<LedgerStore, "findDifferences" | "findUnmatchedUsage">,
  usage: Pick<UsageStore, "listQuarantined">,
  damaged: readonly DamagedLines[],
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
    ...damaged.slice(0, NAMED).map(({ file, lines, generations }) => ({
      of: "damaged" as const,
      id: basename(file),
      difference: 0,
      reason: `${lines} ${lines === 1 ? "line" : "lines"}; generations that can be read in them: ${generations.slice(0, NAMED_GENERATIONS).join(", ") || "none"}`,
    })),
  ];
}

const NAMED_GENERATIONS = 10;

/** A difference as the management API and the command show it. */
export function presentDifference({ of, id, difference, reason }: LedgerDifference): Record<string, unknown> {
  return { of, id, difference_nanodollars: difference, ...(reason === null ? {} : { reason }) };
}
