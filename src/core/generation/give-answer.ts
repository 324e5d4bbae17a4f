import { type Failure, statusOf } from "../../base/failures/errors.ts";
import { nextTurn } from "../../base/time/next-turn.ts";
import type { Candidate } from "../routing/plan/plan.ts";
import type { UsageRecord } from "../usage/records/records.ts";
import { CANNOT_RECORD } from "./admit/admit.ts";
import type { AttemptContext, AttemptOutcome, BegunStream } from "./attempt/attempt.ts";
import type { PromptMarking } from "./attempt/plan-cache-marks.ts";
import type { GenerationResult } from "./call/call.ts";
import type { Replacement } from "./call/extension.ts";
import type { Generation } from "./generation.ts";
import { addWarnings } from "./records/describe-work.ts";
import { withFilterWarnings, withWarnings } from "./records/open-record.ts";
import { relayStream } from "./relay/relay.ts";
import type { RelayContext } from "./relay/stream-accounting.ts";
import { reportUsage } from "./settle/charge.ts";
import { chargeComplete, countUsage } from "./settle/charge-answer.ts";
import { type Ending, NOTHING_PRODUCED, settle, settleWritten, writeFinal } from "./settle/settle.ts";
import { warnTruncated } from "./settle/warn-truncated.ts";

/** The answer of a candidate, before it is sent to the client. */
export interface CandidateAnswer {
  readonly context: AttemptContext;
  readonly outcome: Extract<AttemptOutcome, { kind: "streaming" | "answered" }>;
  readonly metadata: RelayContext["metadata"];
  /** Repairs and warnings of its request, as in the record. */
  readonly work: UsageRecord["work"];
  readonly startedAt: number;
  /** Where its prompt is marked for the candidate's cache. Null if it is not marked; the use of the cache is then not recorded. */
  readonly marking: PromptMarking | null;
}

/** Sends the answer of a candidate to the client, and settles the generation with it. */
export function giveAnswer(generation: Generation, answer: CandidateAnswer): Promise<GenerationResult> {
  const { outcome } = answer;
  return outcome.kind === "answered"
    ? giveWhole(generation, answer, outcome.answer)
    : giveStream(generation, answer, outcome.begun);
}

/** Sends the answer of an earlier candidate after others were tried. */
export function giveEarlierAnswer(
  generation: Generation,
  answer: CandidateAnswer,
): Promise<GenerationResult> {
  generation.record.restore(answer.context.candidate, answer.work, generation.call.request);
  return giveAnswer(generation, answer);
}

/** Answers with the body that a gate has returned. It costs nothing. */
export async function giveReplacement(
  generation: Generation,
  { body, replay, headers }: Replacement,
): Promise<GenerationResult> {
  const { record, deps, call } = generation;
  record.open.replayOf = replay?.of;
  record.open.replayBy = replay?.by;
  record.open.replaySavedNanodollars = replay?.savedNanodollars;
  generation.setHeaders(headers ?? {});
  const bytes = Buffer.from(body);
  generation.extensions.onText(bytes);
  const ending = { ...NOTHING_PRODUCED, outcome: "completed", failure: null, status: 200 } as const;
  const settled = writeFinal(generation, record.open, ending);
  if (!(await deps.recorder.flushDurably())) return generation.fail(CANNOT_RECORD);
  settleWritten(generation, settled, ending);
  generation.lifetime.end();
  const { stream } = call.request;
  const result = generation.result(stream ? { kind: "stream", stream: bytes } : { kind: "json", body }, null);
  return replay === undefined ? result : { ...result, replayOf: replay.of };
}

async function giveStream(
  generation: Generation,
  { context: { candidate, size, identity }, metadata, startedAt, marking }: CandidateAnswer,
  begun: BegunStream,
): Promise<GenerationResult> {
  const { deps, call, lifetime, record, allowance, extensions } = generation;
  // A stream that has begun goes to no other candidate.
  if (begun.releaseBody !== undefined) call.memory.release(begun.releaseBody());
  if (begun.isOver && lifetime.hasClientLeft()) {
    const { usage, producedBytes, searches } = begun.relay;
    return generation.leaveCharged(candidate, usage, { producedBytes, searches });
  }
  const context: RelayContext = {
    candidate,
    size,
    metadata,
    filter: identity.filter ?? null,
    beganAt: startedAt,
    deps,
    call,
    cancellation: lifetime.cancellation,
    record: record.open,
    allowance,
    extensions,
    firstTokenAt: deps.clock.now(),
    zeroRetention: record.zeroRetention,
    onOver: () => lifetime.end(),
    onCompleted: (usage) => generation.rememberCache(candidate, marking, usage),
  };
  const stream = await relayStream(context, begun);
  const { mediaType } = begun.relay;
  return generation.result(
    mediaType === undefined ? { kind: "stream", stream } : { kind: "stream", stream, mediaType },
    candidate,
  );
}

async function giveWhole(
  generation: Generation,
  { context: { candidate, identity }, metadata, marking }: CandidateAnswer,
  answer: Extract<AttemptOutcome, { kind: "answered" }>["answer"],
): Promise<GenerationResult> {
  const { deps, call, allowance, extensions, lifetime } = generation;
  const seen = { producedBytes: answer.producedBytes, searches: 0 };
  if (lifetime.hasClientLeft()) return generation.leaveCharged(candidate, answer.usage, seen);
  const { filter = null } = identity;
  const ended =
    answer.applyFilter === undefined ? null : await applyFilter(generation, candidate, answer.applyFilter);
  if (ended !== null) return ended;
  const record = withFilterWarnings(generation.record.open, filter, generation.record);
  const answering = { deps, call, candidate, record, allowance };
  const charge = await chargeComplete(answering, countUsage(answering, answer.usage, seen));
  if (filter !== null && filter.block !== null)
    return failCharged(generation, filter.block, { record, charge, finish: answer.finish });
  const warnings = warnTruncated(answering, answer.finish, charge.usage);
  const body = answer.encode({
    report: reportUsage(charge, candidate.served.rates),
    completedAt: Math.floor(deps.clock.now() / 1000),
    metadata: addWarnings(metadata, warnings, filter),
  });
  if (extensions.observesText) extensions.onText(typeof body === "string" ? Buffer.from(body) : body);
  const { finish, mediaType } = answer;
  const firstTokenAt = deps.clock.now();
  const ending: Ending = { outcome: "completed", failure: null, status: 200, charge, finish, firstTokenAt };
  const settled = writeFinal(generation, withWarnings(record, warnings), ending);
  // An answer that cannot be recorded is not sent, because it could not be charged.
  if (!(await deps.recorder.flushDurably())) return generation.fail(CANNOT_RECORD);
  settleWritten(generation, settled, ending);
  lifetime.end();
  generation.rememberCache(candidate, marking, charge.usage);
  return generation.result(
    mediaType === undefined ? { kind: "json", body } : { kind: "json", body, mediaType },
    candidate,
  );
}

/** Waits for the filter of a whole answer. Returns the result if the generation was cancelled meanwhile; otherwise null. */
async function applyFilter(
  generation: Generation,
  candidate: Candidate,
  apply: (pause: () => Promise<void>) => Promise<void>,
): Promise<GenerationResult | null> {
  await generation.lifetime.cancellation.until(apply(nextTurn));
  return generation.endIfCancelled(candidate);
}

/** Ends with a failure in place of an answer that a provider has given. The answer is charged. */
function failCharged(
  generation: Generation,
  failure: Failure,
  { record, ...ending }: Pick<Ending, "charge" | "finish"> & { readonly record: UsageRecord },
): GenerationResult {
  generation.lifetime.end();
  const firstTokenAt = generation.deps.clock.now();
  settle(generation, record, {
    ...ending,
    outcome: "failed",
    failure,
    status: statusOf(failure),
    firstTokenAt,
  });
  return generation.result({ kind: "failure", failure }, null);
}
