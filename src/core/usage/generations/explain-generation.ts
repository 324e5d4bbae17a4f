import { formatDollars } from "../../../base/numbers/money.ts";
import type { GuardrailNote } from "../../../wire/conversation/warning.ts";
import { EXCLUSIONS } from "../records/plan-reasons.ts";
import { type AttemptRecord, outcomeOf, type UsageRecord } from "../records/records.ts";
import { KeyNumbers, resultOfAttempt } from "./candidate-results.ts";

/** Who reads an explanation. */
interface Reader {
  /** The operator may know what providers say about the operator's accounts there. */
  readonly isForOperator: boolean;
}

/**
 * Explains in sentences what happened to a request: what it asked for, what guardrails did, which providers were called and how each call ended,
 * and how the request ended.
 */
export function explainGeneration(record: UsageRecord, reader: Reader): readonly string[] {
  return [
    ...explainNames(record),
    ...explainGuardrails(record, "request"),
    ...explainSkippedModels(record),
    ...explainAttempts(record, reader),
    ...explainGuardrails(record, "answer"),
    explainEnd(record),
  ];
}

/** Names the model that routes led to, and the models that the client listed. */
function explainNames({ requestedModel, namedRoutes = [], fallbackModels = [] }: UsageRecord): string[] {
  const last = namedRoutes.at(-1);
  const sentences: string[] = [];
  if (last !== undefined)
    sentences.push(
      `The named ${namedRoutes.length === 1 ? "route" : "routes"} ${namedRoutes.map(({ name }) => name).join(", then ")} led to ${last.to}.`,
    );
  if (fallbackModels.length > 0)
    sentences.push(`The client asked for ${requestedModel}, or else ${fallbackModels.join(", then ")}.`);
  return sentences;
}

const GUARDRAIL_SENTENCES: Readonly<Record<GuardrailNote["action"], (name: string, on: string) => string>> = {
  block: (name, on) => `The guardrail "${name}" blocked the ${on}.`,
  mask: (name, on) => `The guardrail "${name}" masked parts of the ${on}.`,
  warn: (name, on) => `The guardrail "${name}" warned about the ${on}.`,
  unchecked: (name, on) => `The guardrail "${name}" could not check the ${on}, which was let pass.`,
  unavailable: (name, on) => `The guardrail "${name}" could not check the ${on}, which was not let pass.`,
};

function explainGuardrails({ work }: UsageRecord, on: GuardrailNote["on"]): string[] {
  return (work?.warnings ?? []).flatMap(({ guardrail }) =>
    guardrail?.on === on ? [GUARDRAIL_SENTENCES[guardrail.action](guardrail.name, on)] : [],
  );
}

/** Says why none of the deployments of a model could be called, for each model that comes before the one of the last attempt. */
function explainSkippedModels({ plan, model }: UsageRecord): string[] {
  const models = [...new Set(plan.map((entry) => entry.model))];
  return models.flatMap((one) => {
    const entries = plan.filter((entry) => entry.model === one);
    if (one === model || entries.some(({ isCandidate }) => isCandidate)) return [];
    const reasons = new Set(
      entries.map(({ provider, why }) => `${provider}: ${EXCLUSIONS[why as keyof typeof EXCLUSIONS] ?? why}`),
    );
    return [`${one} was not called (${[...reasons].join("; ").replaceAll("`", "")}).`];
  });
}

function explainAttempts(record: UsageRecord, reader: Reader): string[] {
  const { attempts } = record;
  const numbers = new KeyNumbers(record);
  const hasSeveralModels = new Set(attempts.map(({ model }) => model)).size > 1;
  return attempts.map((attempt) => {
    const number = numbers.find(attempt);
    const subject = number === null ? attempt.provider : `Key ${number} of ${attempt.provider}`;
    const of = hasSeveralModels && attempt.model !== undefined ? ` (${attempt.model})` : "";
    return endSentence(`${subject}${of}${describeAttempt(attempt, reader)}`);
  });
}

/** Ends a sentence, unless it quotes one that has ended. */
function endSentence(sentence: string): string {
  return /[.!?…]"?$/.test(sentence) ? sentence : `${sentence}.`;
}

/** Returns the verb of an attempt: how it ended. */
function describeAttempt(attempt: AttemptRecord, reader: Reader): string {
  switch (resultOfAttempt(attempt)) {
    case "answered":
      return " answered";
    case "empty":
      return " answered without content";
    case "cancelled":
      return " was being called when the client left";
    case "running":
      return " was called";
    case "failed":
      return describeFailure(attempt, reader);
  }
}

function describeFailure(attempt: AttemptRecord, { isForOperator }: Reader): string {
  const { error, isByok, isPrivate, upstreamStatus, upstreamMessage } = attempt;
  const mayKnow = isForOperator || isByok || isPrivate !== true;
  if (!mayKnow) return ` failed (${error})`;
  const status = upstreamStatus === null ? " failed without a response" : ` failed with ${upstreamStatus}`;
  const what = upstreamStatus === 200 ? " broke off its answer" : status;
  return upstreamMessage === undefined ? `${what} (${error})` : `${what}: "${upstreamMessage}"`;
}

const REPLAYS = {
  answer_cache: "The answer cache returned the answer of",
  idempotency_key: "The request repeats an Idempotency-Key and got the answer of",
} as const;

/** Says how the request ended. */
function explainEnd(record: UsageRecord): string {
  const { attempts } = record;
  switch (outcomeOf(record)) {
    case "open":
      return "The request is running.";
    case "cached":
      return explainReplay(record);
    case "completed":
      return attempts.length === 0
        ? "An answer was returned without calling a provider."
        : "The answer is complete.";
    case "cancelled":
      return `The client left ${wait(record)} the request${attempts.length === 0 ? ", before a provider was called" : ""}.`;
    case "interrupted":
      return `The gateway's process ended while the request ran. ${record.costNanodollars > 0 ? "What it had counted until then was charged." : "Nothing was charged."}`;
    case "failed":
      return explainFailure(record);
  }
}

function explainReplay({
  replayOf,
  replayBy = "answer_cache",
  replaySavedNanodollars = 0,
}: UsageRecord): string {
  const saved = replaySavedNanodollars > 0 ? `, which saved $${formatDollars(replaySavedNanodollars)}` : "";
  return `${REPLAYS[replayBy]} ${replayOf} without calling a provider${saved}.`;
}

function explainFailure({ attempts, status, error, errorMessage, firstTokenAt }: UsageRecord): string {
  const before = attempts.length === 0 ? ", before a provider was called" : "";
  const what =
    firstTokenAt === null
      ? `The request failed with ${status} ${error}${before}`
      : `The answer failed with ${error}`;
  return endSentence(errorMessage === undefined ? what : `${what}: ${errorMessage}`);
}

const SECOND_MS = 1_000;

/** Returns how long after the request it ended. */
function wait({ createdAt, finishedAt }: UsageRecord): string {
  const ms = (finishedAt ?? createdAt) - createdAt;
  return ms < SECOND_MS ? `${ms} ms after` : `${(ms / SECOND_MS).toFixed(1)} s after`;
}
