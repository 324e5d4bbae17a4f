import type { AttemptReport, OutcomeTimes } from "../../routing/health/health.ts";
import { healthTargetOf } from "../../routing/health/health-target.ts";
import type { Candidate } from "../../routing/plan/plan.ts";
import { type AttemptOutcome, isEmptyAnswer } from "../attempt/attempt.ts";
import type { GenerationDeps } from "../call/call.ts";

type HealthDeps = Pick<GenerationDeps, "routing">;

/** Records how an attempt began, continued or ended. Providers that fail on demand are left out. */
export function recordHealth(
  { routing: { health } }: HealthDeps,
  candidate: Candidate,
  report: AttemptReport,
  times: OutcomeTimes,
): void {
  if (!candidate.provider.record.failsOnDemand) health.record(healthTargetOf(candidate), report, times);
}

/** Returns the health report for the outcome of an attempt. `durationMs` is the time to its first token. */
export function reportOf(outcome: AttemptOutcome, durationMs: number): AttemptReport {
  // An empty answer is neither an outage nor a sign of health.
  if (isEmptyAnswer(outcome)) return NEUTRAL;
  switch (outcome.kind) {
    case "streaming":
      return { kind: "begun", ttftMs: durationMs };
    case "answered":
      return ANSWERED;
    case "client_left":
      return NEUTRAL;
    case "failed":
      return outcome.classification.health;
  }
}

const NEUTRAL: AttemptReport = { kind: "neutral" };
const ANSWERED: AttemptReport = { kind: "succeeded", tokensPerS: null };

/** Shorter answers do not allow an estimate of speed. */
const MIN_TOKENS = 20;
const MIN_MS = 200;

/** Returns tokens per second between the first and the last token; null if there were too few, or if all arrived together. */
export function measureSpeed(completionTokens: number, durationMs: number): number | null {
  if (completionTokens < MIN_TOKENS || durationMs < MIN_MS) return null;
  return (completionTokens * 1000) / durationMs;
}
