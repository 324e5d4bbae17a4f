import type { Failure } from "../../../base/failures/errors.ts";
import type { ProviderFormat } from "../../../wire/conversation/traits/format-name.ts";
import type { Candidate } from "../../routing/plan/plan.ts";
import { nameOfKey } from "../../routing/plan/plan-entries.ts";
import { recordText } from "../../usage/records/record-text.ts";
import type { AttemptRecord } from "../../usage/records/records.ts";
import { type AttemptOutcome, isEmptyAnswer } from "../attempt/attempt.ts";
import { readProviderMessage } from "../memory/recent-failures.ts";
import { redact } from "../memory/redact.ts";

/** The record of an attempt whose upstream was not called yet. */
export type BegunAttempt = AttemptRecord & Required<Pick<AttemptRecord, "format" | "model" | "key">>;

/** Returns the record of an attempt before its upstream is called. */
export function beginAttempt(
  { provider, model, endpoint, key }: Candidate,
  format: ProviderFormat,
  startedAt: number,
): BegunAttempt {
  return {
    provider: provider.record.slug,
    model: model.id,
    key: nameOfKey(key),
    upstreamModel: endpoint.name,
    format,
    isByok: key.byokId !== null,
    startedAt,
    durationMs: null,
    upstreamStatus: null,
    error: null,
  };
}

/** How much of a provider's message a record may contain. */
interface DetailRules {
  /** The provider key, which is removed from the message. */
  readonly secret: string | null;
  /** Whether nothing of the request may be stored, which the message may quote. */
  readonly zeroRetention: boolean;
}

/**
 * Returns the record of an attempt with its outcome, which was known at `now` (milliseconds since the epoch). Every request has an attempt,
 * so the fields are listed: a spread takes several times as long.
 */
export function endAttempt(begun: BegunAttempt, outcome: AttemptOutcome, now: number): AttemptRecord {
  const { startedAt } = begun;
  return {
    provider: begun.provider,
    model: begun.model,
    key: begun.key,
    upstreamModel: begun.upstreamModel,
    format: begun.format,
    isByok: begun.isByok,
    startedAt,
    durationMs: now - startedAt,
    upstreamStatus: statusOfAttempt(outcome),
    error: errorOfAttempt(outcome),
  };
}

/** Returns the record of a failed attempt with the provider's message. */
export function withProviderMessage(
  ended: AttemptRecord,
  { classification, code }: Extract<AttemptOutcome, { kind: "failed" }>,
  details: DetailRules,
): AttemptRecord {
  return { ...ended, ...describeFailure(classification.failure, code, details) };
}

/**
 * Returns the attempts with the last one, which had begun to answer, marked as failed. `code` is the provider's error code; null if it sent
 * none.
 */
export function failLastAttempt(
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
    // Secrets are removed before the text is truncated, because a part of a key would not be recognized.
    ...(zeroRetention
      ? {}
      : { upstreamMessage: recordText(redact(readProviderMessage(failure), secret), MESSAGE_CHARS) }),
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
