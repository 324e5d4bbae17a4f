import type { PlanEntry } from "../records/plan-entry.ts";
import type { AttemptRecord, UsageRecord } from "../records/records.ts";

/** How an attempt ended up to its first token. `running`: it has not ended, or had not when the gateway stopped. */
export const ATTEMPT_RESULTS = ["answered", "empty", "failed", "cancelled", "running"] as const;
export type AttemptResult = (typeof ATTEMPT_RESULTS)[number];

/** What became of an entry of a plan. `left_out`: it was no candidate. */
export const CANDIDATE_RESULTS = [...ATTEMPT_RESULTS, "not_called", "left_out"] as const;
export type CandidateResult = (typeof CANDIDATE_RESULTS)[number];

/** Returns how an attempt ended. */
export function resultOfAttempt({ durationMs, error, upstreamStatus }: AttemptRecord): AttemptResult {
  if (error === "empty_answer") return "empty";
  if (error !== null) return "failed";
  if (durationMs === null) return "running";
  return upstreamStatus === null ? "cancelled" : "answered";
}

/** Returns what became of an entry of a plan: the result of its last attempt. */
export function resultOfEntry(
  entry: PlanEntry,
  { attempts }: Pick<UsageRecord, "attempts">,
): CandidateResult {
  if (!entry.isCandidate) return "left_out";
  const last = attempts.findLast((attempt) => isAttemptOf(attempt, entry));
  return last === undefined ? "not_called" : resultOfAttempt(last);
}

/** Returns whether an attempt was one of an entry. Records of version 0.2 and earlier name neither its model nor its key. */
function isAttemptOf({ provider, model, key, isByok }: AttemptRecord, entry: PlanEntry): boolean {
  if (provider !== entry.provider) return false;
  if (model === undefined || key === undefined) return true;
  return model === entry.model && (entry.key === undefined ? !isByok : key === entry.key);
}

/** Numbers the keys of the providers that were planned or called with several. Equal sets of keys have equal numbers in every request. */
export class KeyNumbers {
  private readonly keys = new Map<string, string[]>();

  constructor({ plan, attempts }: Pick<UsageRecord, "plan" | "attempts">) {
    for (const { provider, key } of [...plan, ...attempts]) {
      if (key === undefined) continue;
      const known = this.keys.get(provider) ?? [];
      if (!known.includes(key)) known.push(key);
      this.keys.set(provider, known);
    }
    // Platform keys end with a number without leading zeros.
    for (const known of this.keys.values()) known.sort((a, b) => a.length - b.length || (a < b ? -1 : 1));
  }

  /** Returns the number of a key among those of its provider, from 1 on; null if there is only one, or the key is not known. */
  find({ provider, key }: { readonly provider: string; readonly key?: string }): number | null {
    const known = this.keys.get(provider) ?? [];
    return key === undefined || known.length < 2 ? null : known.indexOf(key) + 1;
  }
}
