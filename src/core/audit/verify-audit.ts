import type { AuditStore } from "./audit-store.ts";
import { type ChainEnd, EMPTY_CHAIN, findFlaw } from "./chain.ts";

/** Entries that are read at once. */
const PAGE = 500;

/** Whether the audit log is as it was written. */
export interface AuditVerdict {
  /** Entries that hold: all of them, or those before the break. */
  readonly entries: number;
  /** The hash of the last of them. Whoever noted it elsewhere can tell that the log's end was not cut off. */
  readonly lastHash: string;
  /** The first entry that does not follow from those before it. */
  readonly flaw: { readonly place: number; readonly problem: string } | null;
}

/** Follows the chain from its first entry to its end or its first break. */
export async function verifyAudit(store: AuditStore): Promise<AuditVerdict> {
  let end: ChainEnd = EMPTY_CHAIN;
  for (;;) {
    const entries = await store.readAudit(end.place, PAGE);
    for (const entry of entries) {
      const problem = findFlaw(entry, end);
      if (problem !== null) return describe(end, { place: entry.place, problem });
      end = entry;
    }
    if (entries.length < PAGE) return describe(end, null);
    // An embedded store answers at once; other requests want their turn between pages.
    await new Promise((resolve) => setImmediate(resolve));
  }
}

/** A verdict as the management API and the command show it. */
export function describeVerdict({ entries, lastHash, flaw }: AuditVerdict): Record<string, unknown> {
  return {
    holds: flaw === null,
    entries,
    last_hash: lastHash,
    broken_at: flaw?.place ?? null,
    problem: flaw?.problem ?? null,
  };
}

function describe({ place, hash }: ChainEnd, flaw: AuditVerdict["flaw"]): AuditVerdict {
  return { entries: place, lastHash: hash, flaw };
}
