import { nextTurn } from "../../base/time/next-turn.ts";
import type { AuditStore } from "./audit-store.ts";
import { type ChainEnd, EMPTY_CHAIN, findFlaw } from "./chain.ts";

/** Entries per page. */
const PAGE = 500;

/** The result of verifying the audit log. */
interface AuditVerdict {
  /** The number of valid entries: all of them, or those before the first invalid one. */
  readonly entries: number;
  /** The hash of the last valid entry. A copy elsewhere proves later that the end of the log was not removed. */
  readonly lastHash: string;
  /** The first invalid entry; null if there is none. */
  readonly flaw: { readonly place: number; readonly problem: string } | null;
}

/** Verifies the hash chain from its first entry up to its end or the first invalid entry. */
export async function verifyAudit(store: AuditStore): Promise<AuditVerdict> {
  let end: ChainEnd = EMPTY_CHAIN;
  for (;;) {
    const entries = await store.readAudit(end.place, PAGE);
    for (const entry of entries) {
      const problem = findFlaw(entry, end);
      if (problem !== null) return toVerdict(end, { place: entry.place, problem });
      end = entry;
    }
    if (entries.length < PAGE) return toVerdict(end, null);
    // An embedded store blocks the event loop: let other requests run between pages.
    await nextTurn();
  }
}

/** Returns a verdict as the management API and the command show it. */
export function presentVerdict({ entries, lastHash, flaw }: AuditVerdict): Record<string, unknown> {
  return {
    holds: flaw === null,
    entries,
    last_hash: lastHash,
    broken_at: flaw?.place ?? null,
    problem: flaw?.problem ?? null,
  };
}

function toVerdict({ place, hash }: ChainEnd, flaw: AuditVerdict["flaw"]): AuditVerdict {
  return { entries: place, lastHash: hash, flaw };
}
