import { type Failure, GatewayError } from "../../base/failures/errors.ts";
import { randomShare } from "../../base/secrets/random.ts";
import type { ProviderFormat } from "../../wire/conversation/traits/format-name.ts";
import type { Warning } from "../../wire/conversation/warning.ts";
import { windowOf } from "../catalog/records/endpoint-limits.ts";
import type { ModelEndpoint } from "../catalog/records/records.ts";
import { backoffMs } from "../routing/health/backoff.ts";
import { healthTargetOf } from "../routing/health/health-target.ts";
import type { Candidate } from "../routing/plan/plan.ts";
import type { AttemptRecord } from "../usage/records/records.ts";
import { CANNOT_RECORD } from "./admit/admit.ts";
import { type AttemptOutcome, attempt, isEmptyAnswer } from "./attempt/attempt.ts";
import { CandidateAttempt } from "./attempt/candidate-attempt.ts";
import {
  type CandidateEncoding,
  type EncodedForCandidate,
  encodeForCandidate,
} from "./attempt/encode-for-candidate.ts";
import { type PromptMarking, planMarking } from "./attempt/plan-cache-marks.ts";
import { RequestRefusals } from "./attempt/request-refusals.ts";
import { NO_TURNS, openTurns, type RequestTurns } from "./attempt/request-turns.ts";
import type { GenerationResult } from "./call/call.ts";
import { chooseFailure } from "./failures/classify-failure.ts";
import type { FailureClassification } from "./failures/failure-classification.ts";
import type { Generation } from "./generation.ts";
import { type CandidateAnswer, giveAnswer, giveEarlierAnswer } from "./give-answer.ts";
import type { Admission } from "./prepare/admission.ts";
import { beginAttempt } from "./records/attempt-record.ts";
import { describeWork, warnUnpriced } from "./records/describe-work.ts";
import { recordHealth, reportOf } from "./records/record-attempt.ts";
import { recordKeyUse } from "./records/record-key-use.ts";

/** The encoding to send, and whether another candidate may still follow. */
interface Sending {
  readonly encoded: EncodedForCandidate;
  readonly hasNext: boolean;
}

/** How the encodings of one candidate differ. */
type Variant = Pick<CandidateEncoding, "withReasoning" | "formats" | "maxTokens">;

type FailedAttempt = Extract<AttemptOutcome, { kind: "failed" }>;

const NO_ENDPOINTS: readonly ModelEndpoint[] = [];

/** Sends a request to the candidates in order until one of them answers. */
export class CandidateLoop {
  private readonly failures: Failure[] = [];
  /** Candidates with a transient failure. */
  private readonly transient: Candidate[] = [];
  /** The largest context window that was too small. Tokens. */
  private exceededWindow = 0;
  /** Endpoints that lack a feature of the model that the request needs. */
  private lacking: readonly ModelEndpoint[] = NO_ENDPOINTS;
  /** The first answer without content, which the client gets if no other candidate answers. */
  private empty: CandidateAnswer | null = null;
  /** The remembered turns for the current candidate. */
  private turns: RequestTurns = NO_TURNS;
  private turnsOf: Candidate | null = null;
  /** Where the prompt is marked for the cache of the current candidate; null if it is not marked. */
  private marking: PromptMarking | null = null;
  private isReadingReleased = false;
  /** The candidates of this round, in order. `position` is the index of the current one. */
  private queue: readonly Candidate[];
  private position = 0;
  /** Total wait for candidates that sent nothing. Not counted against the failover time. Milliseconds. */
  private silentMs = 0;
  private readonly refusals: RequestRefusals;
  /** Number of calls that repeated a call without what its vendor refused. A call and its repetition count as one attempt. */
  private repetitions = 0;

  constructor(
    private readonly generation: Generation,
    private readonly candidates: readonly Candidate[],
    private readonly admission: Pick<Admission, "zeroRetention" | "marksCaches">,
  ) {
    this.queue = candidates;
    this.refusals = new RequestRefusals(generation);
  }

  /**
   * Sends the request to the first candidate. Resolves to null if another candidate must be tried. Rejects with errors that every candidate
   * would cause.
   */
  tryFirst(): Promise<GenerationResult | null> {
    const { candidates } = this;
    return this.tryOne(candidates[0] as Candidate, candidates.length > 1);
  }

  /** Sends the request to the remaining candidates after the first one gave no answer. Never resolves to null. Rejects as `tryFirst`. */
  async tryOthers(): Promise<GenerationResult> {
    // Deferred candidates are appended, and reached by this loop again.
    for (let at = 1; at < this.queue.length; at++) {
      this.position = at;
      const candidate = this.queue[at] as Candidate;
      if (this.isHopeless(candidate)) continue;
      if (at < this.candidates.length && this.hasFailed(candidate)) {
        this.queue = [...this.queue, candidate];
        continue;
      }
      if (this.generation.record.attempts.length > 0 && !(await this.mayTry(candidate, this.silentMs)))
        continue;
      const result = await this.tryOne(candidate, at < this.queue.length - 1);
      if (result !== null) return result;
    }
    const result = (await this.answerEmpty()) ?? (await this.retry()) ?? (await this.answerEmpty());
    return result ?? this.generation.fail(chooseFailure(this.failures));
  }

  /** Retries the candidates with transient failures, after a pause that grows with each round. */
  private async retry(): Promise<GenerationResult | null> {
    const { deps, call, lifetime } = this.generation;
    const { cancellation } = lifetime;
    this.position = this.queue.length;
    for (let round = 0; round < deps.settings.repeats; round++) {
      const again = this.transient.splice(0).filter((candidate) => this.hasBudget(candidate));
      if (again.length === 0 || this.empty !== null) return null;
      await call.stopwatch.wait(cancellation.pause(backoffMs(round, randomShare(deps.random))));
      for (const candidate of again) {
        const ended = this.generation.endIfCancelled(candidate);
        if (ended !== null) return ended;
        if (!(await this.mayTry(candidate))) continue;
        const result = await this.tryOne(candidate, false);
        if (result !== null) return result;
      }
    }
    return null;
  }

  /**
   * Returns whether a further attempt may be sent to a candidate. `extraMs` extends the failover time. A BYOK key may have been removed
   * meanwhile.
   */
  private async mayTry(candidate: Candidate, extraMs = 0): Promise<boolean> {
    if (!this.hasBudget(candidate, extraMs)) return false;
    const { key, provider } = candidate;
    const { deps, call } = this.generation;
    if (key.byokId === null || call.principal.kind === "anonymous") return true;
    const { label } = key;
    return deps.accounts.byokKeys.isCurrent(call.principal.account.id, {
      label,
      provider: provider.record.slug,
    });
  }

  /** Returns whether attempts, time and the provider's retry budget allow a further attempt. */
  private hasBudget({ provider }: Candidate, extraMs = 0): boolean {
    const { deps, record } = this.generation;
    const { attempts, open } = record;
    const now = deps.clock.now();
    const until = open.createdAt + deps.settings.timers.failoverMs + extraMs;
    if (attempts.length - this.repetitions >= deps.settings.maxAttempts || now >= until) return false;
    const { slug } = provider.record;
    return !this.wasAsked(slug) || deps.routing.retryBudget.mayRetry(slug, now);
  }

  /**
   * Returns whether a candidate of another endpoint follows in this round. Other keys of a silent endpoint do not count: they would be
   * silent, too.
   */
  private hasOther({ endpoint }: Candidate): boolean {
    for (let at = this.position + 1; at < this.queue.length; at++)
      if (this.queue[at]?.endpoint !== endpoint) return true;
    return false;
  }

  /**
   * Returns whether the candidate's endpoint had a transient failure in this round. Its other keys are then deferred, because they would
   * probably fail, too.
   */
  private hasFailed({ provider, model }: Candidate): boolean {
    for (const failed of this.transient)
      if (failed.provider === provider && failed.model === model) return true;
    return false;
  }

  private wasAsked(slug: string): boolean {
    for (const { provider } of this.generation.record.attempts) if (provider === slug) return true;
    return false;
  }

  /** Returns null if the next candidate may be tried; `hasNext` says whether there is one. */
  private async tryOne(candidate: Candidate, hasNext: boolean): Promise<GenerationResult | null> {
    const { generation } = this;
    const encoded = await this.encodeFor(candidate, FIRST_ENCODING);
    if (encoded === null) return generation.endIfCancelled(candidate);
    const overLimit = await generation.limits.count(candidate);
    if (overLimit === null) return this.send(candidate, encoded, hasNext);
    this.failures.push(overLimit);
    return null;
  }

  /** Makes one attempt. Returns null if the next candidate may be tried; `hasNext` says whether there is one. */
  private async send(
    candidate: Candidate,
    encoded: EncodedForCandidate,
    hasNext: boolean,
  ): Promise<GenerationResult | null> {
    const { generation } = this;
    const { deps } = generation;
    const startedAt = deps.clock.now();
    const begun = beginAttempt(candidate, encoded.format, startedAt);
    // Durable before the upstream is called, so that its charge is known even if this process dies.
    const { record, call, allowance } = generation;
    const work = record.describeWork(encoded);
    const recorded = record.beginAttempt(candidate, {
      attempt: begun,
      work,
      request: call.request,
      allowance,
    });
    this.releaseReading();
    if (!(await recorded)) return generation.fail(CANNOT_RECORD);
    if (generation.lifetime.hasClientLeft()) {
      record.dropUnsent();
      return generation.leave();
    }
    this.recordStart(candidate, encoded, startedAt);
    const sent = this.withExtraHeaders(candidate, begun, encoded);
    const next = {
      hasNext,
      hasOther: hasNext && !call.request.stream && this.hasOther(candidate),
    };
    const context = new CandidateAttempt(generation, candidate, sent, this.turns, next);
    const outcome = await attempt(context);
    const now = deps.clock.now();
    const times = { beganAt: startedAt, requestedAt: record.open.createdAt, now };
    recordHealth(deps, candidate, reportOf(outcome, now - startedAt), times);
    generation.extensions.onAttempt(record.endAttempt(candidate, begun, outcome, now));
    recordKeyUse(deps, candidate, outcome.kind === "failed" ? outcome.classification : null);
    this.refusals.learn(candidate, encoded, outcome);
    if (outcome.kind === "client_left") return generation.leaveBegun(candidate, outcome);
    if (outcome.kind === "failed") {
      if (generation.lifetime.cancellation.reason === "first_token") this.silentMs += now - startedAt;
      this.recordFailure(candidate, outcome);
      return this.handleFailure(candidate, outcome, { encoded, hasNext });
    }
    const metadata = describeWork(encoded, warnUnpriced(candidate, record.warnings));
    // Waiting for the result costs less than returning its promise.
    return await this.takeAnswer({ context, outcome, metadata, work, startedAt, marking: this.marking });
  }

  /** Adds the headers of extensions to the request of an attempt. */
  private withExtraHeaders(
    candidate: Candidate,
    record: AttemptRecord,
    encoded: EncodedForCandidate,
  ): EncodedForCandidate {
    const repairs = encoded.repair?.counts ?? null;
    const added = this.generation.extensions.beforeAttempt({ record, model: candidate.model.id, repairs });
    return added === null ? encoded : { ...encoded, headers: { ...added, ...encoded.headers } };
  }

  /**
   * Repeats the request at the same candidate if a change can make it succeed. Reasoning is removed if the vendor rejects it
   * (docs/api/translation.md, "Reasoning across turns"), and so are unsupported parameters. Another format is used if the host lacks the
   * endpoint of this one. The token limit is lowered if only the answer exceeds the context window. Otherwise records the failure.
   */
  private async handleFailure(
    candidate: Candidate,
    failed: FailedAttempt,
    sending: Sending,
  ): Promise<GenerationResult | null> {
    const { classification, refusesReasoning, lacksEndpoint, answerRoom } = failed;
    const { encoded, hasNext } = sending;
    if (answerRoom !== null && encoded.maxTokens === undefined)
      return this.sendShortened(candidate, answerRoom, sending);
    if (refusesReasoning && encoded.carriesReasoning) {
      const variant = { ...variantOf(encoded), withReasoning: false };
      const plain = await this.encodeAgain(candidate, variant, encoded);
      if (plain === null) return this.generation.endIfCancelled(candidate);
      return this.send(candidate, { ...plain, formats: [encoded.format] }, hasNext);
    }
    const formats = lacksEndpoint ? this.listOtherFormats(candidate, encoded) : [];
    if (formats.length > 0) {
      const other = await this.encodeFor(candidate, { ...FIRST_ENCODING, formats });
      return other === null
        ? this.generation.endIfCancelled(candidate)
        : this.send(candidate, { ...other, formats }, hasNext);
    }
    if (this.refusals.keep(candidate, failed, encoded)) {
      const without = await this.encodeWithout(candidate, encoded);
      if (without !== null) return this.sendRepetition(candidate, without, hasNext);
      const ended = this.generation.endIfCancelled(candidate);
      if (ended !== null) return ended;
    }
    const { failure, mayTryNext } = classification;
    this.failures.push(failure);
    if (isTransient(candidate, classification)) this.transient.push(candidate);
    if (mayTryNext === "larger")
      this.exceededWindow = Math.max(this.exceededWindow, windowOf(candidate.endpoint));
    if (mayTryNext === "elsewhere") this.lacking = [...this.lacking, candidate.endpoint];
    return mayTryNext ? null : ((await this.answerEmpty()) ?? this.generation.fail(failure));
  }

  /** Repeats a request with the token limit `maxTokens`, with which prompt and answer fit the context window. */
  private async sendShortened(
    candidate: Candidate,
    maxTokens: number,
    { encoded, hasNext }: Sending,
  ): Promise<GenerationResult | null> {
    const shortened = await this.encodeAgain(candidate, { ...variantOf(encoded), maxTokens }, encoded);
    return shortened === null
      ? this.generation.endIfCancelled(candidate)
      : this.send(candidate, shortened, hasNext);
  }

  /** Repeats a request without the parameters that its vendor refused. */
  private sendRepetition(
    candidate: Candidate,
    without: EncodedForCandidate,
    hasNext: boolean,
  ): Promise<GenerationResult | null> {
    this.repetitions += 1;
    return this.send(candidate, { ...without, isRepetition: true }, hasNext);
  }

  /**
   * Encodes a request without the parameters that its vendor refused. Returns null if that changes nothing: the vendor would refuse it
   * again.
   */
  private async encodeWithout(
    candidate: Candidate,
    encoded: EncodedForCandidate,
  ): Promise<EncodedForCandidate | null> {
    const without = await this.encodeAgain(candidate, variantOf(encoded), encoded);
    if (without !== null && without.body.length !== encoded.body.length) return without;
    this.refusals.drop(candidate);
    return null;
  }

  /** Encodes a request again for the same candidate and format, with the changes of earlier repetitions. */
  private async encodeAgain(
    candidate: Candidate,
    variant: Variant,
    { formats }: EncodedForCandidate,
  ): Promise<EncodedForCandidate | null> {
    const again = await this.encodeFor(candidate, variant);
    if (again === null) return null;
    const { withReasoning, maxTokens: room = null } = variant;
    return {
      ...again,
      carriesReasoning: withReasoning && again.carriesReasoning,
      ...(withReasoning ? {} : { isWithoutReasoning: true }),
      ...(formats === undefined ? {} : { formats }),
      ...(room === null ? {} : { maxTokens: room, warnings: [...again.warnings, warnOfRoom(room)] }),
    };
  }

  /** Lists the formats that an encoding could have had instead of its own. */
  private listOtherFormats(candidate: Candidate, encoded: EncodedForCandidate): readonly ProviderFormat[] {
    const { request } = this.generation.call;
    const formats =
      encoded.formats ?? candidate.served.usableTargets(candidate.key, request).map(({ format }) => format);
    return formats.filter((one) => one !== encoded.format);
  }

  /**
   * Sends an answer to the client. If the answer has no content, keeps the first such answer for later and returns null. For fill in the
   * middle, an answer without content is valid.
   */
  private takeAnswer(answer: CandidateAnswer): Promise<GenerationResult> | null {
    const { outcome } = answer;
    const isFim = this.generation.call.request.action === "fim";
    if (!isEmptyAnswer(outcome) || this.empty !== null || isFim) return giveAnswer(this.generation, answer);
    this.empty = answer;
    if (outcome.kind === "streaming") outcome.begun.exchange.cancel();
    return null;
  }

  /**
   * Returns whether a candidate would fail for a known reason: its endpoint, or one with a larger window, has already failed, or it gave
   * the empty answer.
   */
  private isHopeless({ endpoint }: Candidate): boolean {
    if (windowOf(endpoint) <= this.exceededWindow || this.lacking.includes(endpoint)) return true;
    return endpoint === this.empty?.context.candidate.endpoint;
  }

  /** Sends the empty answer to the client. Returns null if there is none. */
  private async answerEmpty(): Promise<GenerationResult | null> {
    return this.empty === null ? null : giveEarlierAnswer(this.generation, this.empty);
  }

  private recordFailure(candidate: Candidate, { classification, status }: FailedAttempt): void {
    const {
      deps,
      id: generationId,
      record: { zeroRetention },
    } = this.generation;
    const { failure, health } = classification;
    deps.routing.recentFailures.record({
      generationId,
      candidate,
      failure,
      health,
      status,
      at: deps.clock.now(),
      zeroRetention,
    });
  }

  private recordStart(candidate: Candidate, { isRepetition }: EncodedForCandidate, now: number): void {
    const {
      routing: { health, retryBudget },
    } = this.generation.deps;
    const { slug } = candidate.provider.record;
    health.begin(healthTargetOf(candidate), now);
    // A repetition is not a retry: the provider has not failed.
    if (isRepetition === true) return;
    if (this.wasAsked(slug)) retryBudget.recordRetry(slug, now);
    else retryBudget.recordFirst(slug, now);
  }

  /**
   * Encodes the request for a candidate. Returns null if no format of the candidate can express the request, or if the generation
   * was cancelled meanwhile.
   */
  private async encodeFor(
    candidate: Candidate,
    { withReasoning, formats, maxTokens: room = null }: Variant,
  ): Promise<EncodedForCandidate | null> {
    const { deps, call, allowance, lifetime } = this.generation;
    const { cancellation } = lifetime;
    const turns = this.findTurns(candidate);
    const bound = allowance.boundFor(candidate);
    const maxTokens = room === null ? bound : Math.min(room, bound ?? room);
    const { zeroRetention } = this.admission;
    const cacheMarking = planMarking(deps, call, { candidate, admission: this.admission });
    this.marking = cacheMarking;
    const refused = this.refusals.recall(candidate);
    const encoding = { turns, maxTokens, withReasoning, formats, zeroRetention, cacheMarking, refused };
    const context = { deps, call, candidate, cancellation, ...encoding };
    try {
      this.readAgain();
      return this.reserveMemory(await encodeForCandidate(context));
    } catch (error) {
      return this.rejectEncoding(error);
    }
  }

  /** Returns the remembered turns for a candidate. Turns that another candidate made are not used. */
  private findTurns(candidate: Candidate): RequestTurns {
    if (this.turnsOf !== candidate && !this.admission.zeroRetention) {
      this.turns = openTurns(this.generation.deps, this.generation.call, candidate);
      this.turnsOf = candidate;
    }
    return this.turns;
  }

  /** Reserves memory for an encoded request. @throws GatewayError `unavailable` if there is none. */
  private reserveMemory(encoded: EncodedForCandidate | null): EncodedForCandidate | null {
    const { memory } = this.generation.call;
    if (encoded === null || encoded.heldBytes === 0 || memory.take(encoded.heldBytes)) return encoded;
    throw new GatewayError(NO_MEMORY);
  }

  /**
   * Releases the parsed form of a large body while the upstream answers. It takes more memory than the body, and parsing it again takes
   * less time than another attempt.
   */
  private releaseReading(): void {
    const { request, memory } = this.generation.call;
    const { heldBytes } = request.memory;
    if (this.isReadingReleased || heldBytes < LARGE_READING_BYTES) return;
    if (request.memory.releaseReading === undefined) return;
    request.memory.releaseReading();
    memory.giveBack(heldBytes);
    this.isReadingReleased = true;
  }

  /** Reserves memory to read the body again. @throws GatewayError `unavailable` if there is none. */
  private readAgain(): void {
    if (!this.isReadingReleased) return;
    const { request, memory } = this.generation.call;
    if (!memory.take(request.memory.heldBytes)) throw new GatewayError(NO_MEMORY);
    this.isReadingReleased = false;
  }

  /** Keeps the failure of a candidate that the request could not be encoded for. @throws every other error. */
  private rejectEncoding(error: unknown): null {
    if (!(error instanceof GatewayError)) throw error;
    // Failures of attempts take precedence over it.
    this.failures.unshift(error.failure);
    return null;
  }
}

function warnOfRoom(maxTokens: number): Warning {
  return {
    field: "max_tokens",
    message: `The prompt leaves ${maxTokens} tokens of the context window at the provider; the maximum was lowered to that.`,
  };
}

/** The first attempt's encoding: with reasoning, in the best of the candidate's formats. */
const FIRST_ENCODING: Variant = { withReasoning: true, formats: null };

/** Returns how a request was encoded, for the same format. */
function variantOf({ format, isWithoutReasoning, maxTokens }: EncodedForCandidate): Variant {
  return {
    withReasoning: isWithoutReasoning !== true,
    formats: [format],
    ...(maxTokens === undefined ? {} : { maxTokens }),
  };
}

/** The parsed form of a body below this size is kept for a further attempt. Bytes. */
const LARGE_READING_BYTES = 16 * 1024;

const NO_MEMORY: Failure = {
  code: "unavailable",
  message: "The gateway has no memory to prepare the request for a provider at the moment. Try again later.",
  retryAfterS: 5,
  internal: "limits.total_body_bytes is used up",
};

/**
 * Returns whether a retry at the same candidate may succeed. An overload is not retried if the upstream named a waiting time, or if the
 * overload was known before the call.
 */
function isTransient({ provider, why }: Candidate, { mayTryNext, health }: FailureClassification): boolean {
  if (provider.record.failsOnDemand || !mayTryNext) return false;
  if (health.kind === "overloaded") return health.retryAfterMs === null && why !== "last_resort";
  return health.kind === "failed";
}
