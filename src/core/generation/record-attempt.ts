import type { AttemptReport, AttemptTimes } from "../routing/health.ts";
import { healthTargetOf } from "../routing/health-target.ts";
import type { Candidate } from "../routing/plan.ts";
import { type AttemptOutcome, isEmptyAnswer } from "./attempt.ts";
import type { GenerationDeps } from "./call.ts";

type HealthDeps = Pick<GenerationDeps, "health" | "clock">;

/** An attempt, as the health statistics identify it. */
interface TimedAttempt {
  readonly candidate: Candidate;
  readonly times: AttemptTimes;
}

/** Records the outcome of an attempt, as far as its first token, in the health statistics. */
export function recordAttempt(deps: HealthDeps, attempt: TimedAttempt, outcome: AttemptOutcome): void {
  recordHealth(deps, attempt, reportOf(outcome, deps.clock.now() - attempt.times.beganAt));
}

/** Records how an attempt continued or ended. Providers that fail on demand are left out. */
export function recordHealth(
  { health, clock }: HealthDeps,
  { candidate, times }: TimedAttempt,
  report: AttemptReport,
): void {
  if (candidate.provider.record.failsOnDemand) return;
  const { beganAt, requestedAt } = times;
  health.record(healthTargetOf(candidate), report, { beganAt, requestedAt, now: clock.now() });
}

/** Returns what an attempt that took `durationMs` means for health. */
function reportOf(outcome: AttemptOutcome, durationMs: number): AttemptReport {
  // An empty answer is neither an outage nor a sign of health.
  if (isEmptyAnswer(outcome)) return { kind: "neutral" };
  switch (outcome.kind) {
    case "streaming":
      return { kind: "begun", ttftMs: durationMs };
    case "answered":
      return { kind: "succeeded", tokensPerS: null };
    case "client_left":
      return { kind: "neutral" };
    case "failed":
      return outcome.classification.health;
  }
}

/** Shorter answers do not allow an estimate of speed. */
const MIN_TOKENS = 20;
const MIN_MS = 200;

/** Returns tokens per second between the first and the last one; null if there were too few, or they came at once. */
export function measureSpeed(completionTokens: number, durationMs: number): number | null {
  if (completionTokens < MIN_TOKENS || durationMs < MIN_MS) return null;
  return (completionTokens * 1000) / durationMs;
}
