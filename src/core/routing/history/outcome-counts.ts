import type { AttemptReport } from "../health/health.ts";

/** The outcomes of attempts that the history counts. Those that a request has caused, and those whose client left, are none of them. */
export const ATTEMPT_OUTCOMES = ["succeeded", "failed", "rateLimited", "keyRefused"] as const;

export type AttemptOutcomeKind = (typeof ATTEMPT_OUTCOMES)[number];

/** The number of attempts with each outcome. */
export type OutcomeCounts = Readonly<Record<AttemptOutcomeKind, number>>;

/** Returns counts of which all are zero. */
export function createCounts(): Record<AttemptOutcomeKind, number> {
  return { succeeded: 0, failed: 0, rateLimited: 0, keyRefused: 0 };
}

/** Adds counts to others. */
export function addCounts(sum: Record<AttemptOutcomeKind, number>, added: OutcomeCounts): void {
  for (const kind of ATTEMPT_OUTCOMES) sum[kind] += added[kind];
}

/** Returns the number of attempts. */
export function countAttempts({ succeeded, failed, rateLimited, keyRefused }: OutcomeCounts): number {
  return succeeded + failed + rateLimited + keyRefused;
}

/** Returns the outcome of a failed attempt; null if the provider is not at fault. An overload counts as a failure, as it does for circuits. */
export function outcomeOfReport({ kind }: AttemptReport): Exclude<AttemptOutcomeKind, "succeeded"> | null {
  switch (kind) {
    case "failed":
    case "overloaded":
      return "failed";
    case "rate_limited":
      return "rateLimited";
    case "key_refused":
    case "out_of_credit":
      return "keyRefused";
    default:
      return null;
  }
}
