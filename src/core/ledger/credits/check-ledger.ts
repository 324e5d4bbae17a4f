import { basename } from "node:path";
import type { DamagedLines } from "../../usage/journal/journal.ts";
import type { UsageStore } from "../../usage/reports/usage-store.ts";
import type { LedgerStore } from "../records/ledger-store.ts";

/** An inconsistency of the ledger, the generation records or the journal. */
interface LedgerDifference {
  /**
   * `balance`: a balance is not the sum of its transfers. `record`: a record and its transfer have different costs.
   * `quarantined`: the store rejects a record, which is therefore not charged. `damaged`: lines of the journal are damaged; what
   * they recorded is in no balance.
   */
  readonly of: "balance" | "record" | "quarantined" | "damaged";
  /** The id of the account or generation; for damaged lines the name of the file that contains them. */
  readonly id: string;
  /** Nanodollars: the sum of the transfers minus the balance, or the record's cost minus its transfer. */
  readonly difference: number;
  /** Why a record is quarantined, or what can be read in damaged lines; null for other inconsistencies. */
  readonly reason: string | null;
}

/** The maximum number of inconsistencies of each kind that are returned. */
const NAMED = 100;
/** The maximum number of generations that are named for a file of damaged lines. */
const NAMED_GENERATIONS = 10;

/**
 * Compares transfers with balances and records with transfers, and lists quarantined records and damaged journal lines. Returns
 * an empty list if everything is consistent.
 */
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

/** Makes the view of an inconsistency for the management API and the command line. */
export function presentDifference({ of, id, difference, reason }: LedgerDifference): Record<string, unknown> {
  return { of, id, difference_nanodollars: difference, ...(reason === null ? {} : { reason }) };
}
