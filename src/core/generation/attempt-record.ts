import type { FormatName } from "../../wire/conversation/format-name.ts";
import type { Candidate } from "../routing/plan.ts";
import type { AttemptRecord } from "../usage/records.ts";
import { type AttemptOutcome, isEmptyAnswer } from "./attempt.ts";

/** Returns the record of an attempt before its upstream is called. */
export function beginAttempt(
  { provider, endpoint, key }: Candidate,
  format: FormatName,
  startedAt: number,
): AttemptRecord {
  return {
    provider: provider.record.slug,
    upstreamModel: endpoint.name,
    format,
    isByok: key.byokId !== null,
    startedAt,
    durationMs: null,
    upstreamStatus: null,
    error: null,
  };
}

/** Returns the record of an attempt with its outcome. */
export function endAttempt(begun: AttemptRecord, now: number, outcome: AttemptOutcome): AttemptRecord {
  return {
    ...begun,
    durationMs: now - begun.startedAt,
    upstreamStatus: statusOfAttempt(outcome),
    error: errorOfAttempt(outcome),
  };
}

function errorOfAttempt(outcome: AttemptOutcome): string | null {
  if (outcome.kind === "failed") return outcome.classification.failure.code;
  return isEmptyAnswer(outcome) ? EMPTY_ANSWER : null;
}

/** The error that the record of an attempt shows for an answer that finished without content. */
const EMPTY_ANSWER = "empty_answer";

function statusOfAttempt(outcome: AttemptOutcome): number | null {
  if (outcome.kind === "client_left") return null;
  return outcome.kind === "streaming" ? outcome.begun.response.status : outcome.status;
}
