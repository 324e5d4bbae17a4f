import type { Failure } from "../../../base/failures/errors.ts";
import type { ProviderFormat } from "../../../wire/conversation/traits/format-name.ts";
import type { Candidate } from "../../routing/plan/plan.ts";
import { recordText } from "../../usage/records/record-text.ts";
import type { AttemptRecord } from "../../usage/records/records.ts";
import { type AttemptOutcome, isEmptyAnswer } from "../attempt/attempt.ts";
import { wordsOf } from "../memory/recent-failures.ts";
import { redact } from "../memory/redact.ts";

/** The record of an attempt whose upstream was not called yet. */
export type BegunAttempt = AttemptRecord & { readonly format: ProviderFormat };

/** Returns the record of an attempt before its upstream is called. */
export function beginAttempt(
  { provider, endpoint, key }: Candidate,
  format: ProviderFormat,
  startedAt: number,
): BegunAttempt {
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

/** What of a provider's words a record may have. */
interface DetailRules {
  /** The provider key, which is removed from them. */
  readonly secret: string | null;
  /** They may quote the request, of which nothing may be stored. */
  readonly zeroRetention: boolean;
}

/**
 * Returns the record of an attempt with its outcome, which was there at `now`, in milliseconds since the epoch. The fields are named one by
 * one, because a spread takes several times as long, and every request has one.
 */
export function endAttempt(begun: BegunAttempt, outcome: AttemptOutcome, now: number): AttemptRecord {
  const { startedAt } = begun;
  return {
    provider: begun.provider,
    upstreamModel: begun.upstreamModel,
    format: begun.format,
    isByok: begun.isByok,
    startedAt,
    durationMs: now - startedAt,
    upstreamStatus: statusOfAttempt(outcome),
    error: errorOfAttempt(outcome),
  };
}

/** Returns the record of an attempt that failed, with what the provider said about that. */
export function withWords(
  ended: AttemptRecord,
  { classification, code }: Extract<AttemptOutcome, { kind: "failed" }>,
  details: DetailRules,
): AttemptRecord {
  return { ...ended, ...describeFailure(classification.failure, code, details) };
}

/** Returns attempts of which the last one, which had begun to answer, failed. `code` is the provider's; null where it sent none. */
export function breakLast(
  attempts: readonly AttemptRecord[],
  { failure, code }: { readonly failure: Failure; readonly code: string | null },
  details: DetailRules,
): readonly AttemptRecord[] {
  const last = attempts.at(-1);
  if (last === undefined) return attempts;
  const broken = { ...last, error: failure.code, ...describeFailure(failure, code, details) };
  return [...attempts.slice(0, -1), broken];
}

const MESSAGE_CHARS = 500;

function describeFailure(
  failure: Failure,
  code: string | null,
  { secret, zeroRetention }: DetailRules,
): Pick<AttemptRecord, "upstreamCode" | "upstreamMessage" | "isPrivate"> {
  return {
    ...(code === null ? {} : { upstreamCode: redact(code, secret) }),
    // Without secrets before it is cut: a part of a key would not be recognized.
    ...(zeroRetention
      ? {}
      : { upstreamMessage: recordText(redact(wordsOf(failure), secret), MESSAGE_CHARS) }),
    ...(failure.internal === undefined ? {} : { isPrivate: true }),
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
