import type { AttemptReport, AttemptTimes } from "../routing/health.ts";
import { healthTargetOf } from "../routing/health-target.ts";
import type { Candidate } from "../routing/plan.ts";
import { type AttemptOutcome, isEmptyAnswer } from "./attempt.ts";
import type { GenerationDeps } from "./call.ts";

type NotingDeps = Pick<GenerationDeps, "health" | "clock">;

/** Notes what an attempt came to, as far as its first token. */
export function recordAttempt(
  deps: NotingDeps,
  candidate: Candidate,
  outcome: AttemptOutcome,
  times: AttemptTimes,
): void {
  recordHealth(deps, candidate, noteOf(outcome, deps.clock.now() - times.beganAt), times);
}

/** Notes how an attempt went on, or ended. */
export function recordHealth(
  { health, clock }: NotingDeps,
  candidate: Candidate,
  note: AttemptReport,
  times: AttemptTimes,
): void {
  if (candidate.provider.record.failsOnDemand) return;
  health.note(healthTargetOf(candidate), note, times, clock.now());
}

/** What an attempt that took so long says of health. */
export function noteOf(outcome: AttemptOutcome, durationMs: number): AttemptReport {
  // It is no outage, and no proof of health either.
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

/** Shorter answers say nothing of speed. */
const MIN_TOKENS = 20;
const MIN_MS = 200;

/** Tokens a second between the first and the last; null where too few came, or all at once. */
export function measureSpeed(completionTokens: number, durationMs: number): number | null {
  if (completionTokens < MIN_TOKENS || durationMs < MIN_MS) return null;
  return (completionTokens * 1000) / durationMs;
}
