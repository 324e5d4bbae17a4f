import type { Wait } from "../../base/collections/wait-list.ts";
import { type Failure, statusOf } from "../../base/failures/errors.ts";
import { nextTurn } from "../../base/time/next-turn.ts";
import type { TokenUsage } from "../../wire/conversation/usage.ts";
import type { Warning } from "../../wire/conversation/warning.ts";
import type { Tiers } from "../catalog/tiers/tiers.ts";
import { freeLimitFailure, withFreeLimit } from "../limits/free-limit.ts";
import type { LimitVerdict, RateLimitStatus } from "../limits/rate-limiter.ts";
import type { Candidate } from "../routing/plan/plan.ts";
import { recordFormat, toPlanEntries } from "../routing/plan/plan-entries.ts";
import type { AttemptRecord, UsageRecord } from "../usage/records/records.ts";
import { recordSteps } from "../usage/records/route-step.ts";
import { NO_MARKS, recordWork } from "../usage/records/work-record.ts";
import { CANNOT_RECORD } from "./admit/admit.ts";
import { countsAsFree } from "./admit/free-models.ts";
import { countFallback, type TakenLimits } from "./admit/take-limits.ts";
import type { AttemptContext, AttemptOutcome, BegunStream } from "./attempt/attempt.ts";
import type { EncodedForCandidate } from "./attempt/encode-for-candidate.ts";
import { type PromptMarking, recordMarking } from "./attempt/plan-cache-marks.ts";
import type { GenerationCall, GenerationDeps, GenerationResult } from "./call/call.ts";
import { Cancellation } from "./call/cancellation.ts";
import { ClientWatch, WATCH_MS } from "./call/client-watch.ts";
import { type AdmittedGeneration, AttachedExtensions, type Replacement } from "./call/extension.ts";
import { classifyCancellation } from "./failures/classify-failure.ts";
import { type Allowance, NO_HOLD } from "./hold/allowance.ts";
import type { Held } from "./hold/take-hold.ts";
import type { Admission, AdmittedRequest } from "./prepare/admission.ts";
import { type BegunAttempt, endAttempt, withWords } from "./records/attempt-record.ts";
import { addWarnings } from "./records/describe-work.ts";
import {
  NO_ATTEMPTS,
  type OpenRecord,
  openRecord,
  setCandidate,
  setHeld,
  withFilterWarnings,
  withWarnings,
} from "./records/open-record.ts";
import { relayStream } from "./relay/relay.ts";
import type { RelayContext } from "./relay/stream-accounting.ts";
import { type Route, recordAffinity } from "./route/route-request.ts";
import { reportUsage } from "./settle/charge.ts";
import { chargeComplete, countUsage } from "./settle/charge-answer.ts";
import type { SeenAnswer } from "./settle/check-usage.ts";
import { type Ending, type Settling, settle, settleWritten, writeFinal } from "./settle/settle.ts";
import { warnOfBound } from "./settle/warn-of-bound.ts";

/** The answer of a candidate, before it is passed on. */
export interface CandidateAnswer {
  readonly context: AttemptContext;
  readonly outcome: Extract<AttemptOutcome, { kind: "streaming" | "answered" }>;
  readonly metadata: RelayContext["metadata"];
  /** What was done for it, as the record has it. */
  readonly work: UsageRecord["work"];
  readonly startedAt: number;
  /** Where its prompt is marked for the cache of the candidate; null: nowhere, and nothing is remembered of it. */
  readonly marking: PromptMarking | null;
}

/** One admitted generation: its record, the resources it holds, and the ways in which it ends. Its fields are changed by its methods alone. */
export class Generation implements Settling {
  readonly id: string;
  readonly extensions: AttachedExtensions;
  readonly cancellation: Cancellation;
  readonly client: ClientWatch;
  private readonly beginning: Wait;
  /** The attempts that have ended. */
  attempts: readonly AttemptRecord[] = NO_ATTEMPTS;
  readonly record: OpenRecord;
  /** What admission and gates have warned of. */
  warnings: readonly Warning[];
  /** Response headers of gates. */
  private headers: GenerationResult["headers"] = NO_HEADERS;
  /** What it may use of its account's money. */
  allowance: Allowance = NO_HOLD;
  private session: Route["session"] = null;
  /** The status of the caller's limits after this request; null if it has none. */
  limitStatus: RateLimitStatus | null;
  /** The account's limit on free models before this request; null if the request names none, or if it is not limited. */
  readonly freeLimit: LimitVerdict | null;
  /** Models whose own limits are used up; null for none. */
  readonly limitedModels: ReadonlyMap<string, number> | null;
  /** The model for whose limit the request was counted last. */
  private countedModel: string;
  readonly zeroRetention: boolean;

  constructor(
    readonly deps: GenerationDeps,
    /** With the body that gates have made of it. Extensions keep the one that they were attached with. */
    public call: GenerationCall,
    admitted: AdmittedRequest,
    limits: TakenLimits,
  ) {
    const { admission } = admitted;
    this.id = admitted.id;
    this.limitStatus = limits.limitStatus;
    this.freeLimit = limits.freeLimit;
    this.limitedModels = limits.limited ?? null;
    this.countedModel = limits.modelId ?? admission.modelId;
    this.warnings = admission.warnings;
    this.zeroRetention = admission.zeroRetention;
    this.record = openRecord(deps, call, admitted);
    this.extensions = new AttachedExtensions(
      deps,
      new ExtendedGeneration(call, this.record, { admission, tiers: admission.serving.tiers }),
    );
    this.cancellation = new Cancellation(deps.clock, deps.settings.timers.totalMs, WATCH_MS);
    this.client = new ClientWatch(call, this.cancellation);
    this.beginning = deps.running.beginnings.begin(Generation.watch, this);
    deps.running.active.add(this.cancellation);
  }

  /** Goes on with another body of the request. */
  continueWith(call: GenerationCall): void {
    this.call = call;
  }

  /** Adds response headers of gates. */
  addHeaders(headers: GenerationResult["headers"]): void {
    this.headers = headers;
  }

  /** Sets what it may use of its account's money. Returns the candidates that this covers. */
  mayUse({ allowance, candidates }: Held): readonly Candidate[] {
    this.allowance = allowance;
    return candidates;
  }

  /** Adds the routing decision to the record. */
  plan(route: Route, filteredOut: Admission["filteredOut"]): void {
    this.session = route.session;
    this.record.plan = toPlanEntries(route, filteredOut);
  }

  /** Adds warnings of gates for the answer and the record. */
  warn(warnings: readonly Warning[]): void {
    if (warnings.length === 0) return;
    this.warnings = [...this.warnings, ...warnings];
    this.record.work = this.recordWork({ repair: null, warnings: [] });
  }

  /** Returns the record of what was done for an encoding, and of what admission and gates have warned of; undefined if nothing. */
  recordWork({
    repair,
    warnings,
    cacheMarks = NO_MARKS,
  }: Pick<EncodedForCandidate, "repair" | "warnings" | "cacheMarks">): UsageRecord["work"] {
    if (repair === null && warnings.length + this.warnings.length + cacheMarks.length === 0) return undefined;
    const work = { repairs: repair?.counts ?? null, warnings: [...this.warnings, ...warnings], cacheMarks };
    return recordWork(work, { zeroRetention: this.zeroRetention });
  }

  /** Adds an attempt that begins to the record, which is durable when this resolves to true. */
  recordAttemptStart(candidate: Candidate, begun: BegunAttempt, work: UsageRecord["work"]): Promise<boolean> {
    const { record, deps, call } = this;
    setCandidate(record, candidate, call.request);
    record.attempts = withAttempt(this.attempts, begun);
    record.work = work;
    const hasFormats = candidate.served.targets(call.request.action).length > 1;
    if (hasFormats) record.plan = recordFormat(record.plan, candidate, begun.format);
    setHeld(record, this.allowance);
    deps.recorder.write({ ...record });
    return deps.recorder.flushDurably();
  }

  /** Adds the outcome of an attempt to the record. It was there at `now`, in milliseconds since the epoch. */
  recordAttemptEnd({ key }: Candidate, begun: BegunAttempt, outcome: AttemptOutcome, now: number): void {
    const { zeroRetention } = this;
    const ended = endAttempt(begun, outcome, now);
    const attempt =
      outcome.kind === "failed" ? withWords(ended, outcome, { secret: key.secret, zeroRetention }) : ended;
    this.attempts = withAttempt(this.attempts, attempt);
    this.record.attempts = this.attempts;
    this.extensions.onAttempt(attempt);
  }

  /** Whether the request must be counted before it is sent to a candidate. */
  isCountedFor(candidate: Candidate): boolean {
    const { countedModel, call, record } = this;
    if (countedModel !== candidate.model.id && call.shadowOf === undefined) return true;
    return !record.usesFreeModel && countsAsFree(candidate);
  }

  /**
   * Counts the request for limits that depend on the candidate: of a model that it falls back to, and of the account on free models, the
   * first time that it is about to be sent to one. Returns the failure if a limit is used up, else null.
   */
  async countCandidate(candidate: Candidate): Promise<Failure | null> {
    const { deps, call, countedModel, record } = this;
    const { id } = candidate.model;
    if (countedModel !== id && call.shadowOf === undefined) {
      this.countedModel = id;
      const failure = await countFallback(deps, call.principal, id);
      if (failure !== null) return failure;
    }
    return record.usesFreeModel || !countsAsFree(candidate) ? null : this.countFree();
  }

  private async countFree(): Promise<Failure | null> {
    const verdict = await this.deps.settings.freeLimit.admit(this.call.principal, this.deps.clock.now());
    if (verdict === null) return null;
    const failure = verdict.allowed ? null : freeLimitFailure(verdict, this.limitStatus);
    if (verdict.allowed) this.record.usesFreeModel = true;
    this.limitStatus = withFreeLimit(this.limitStatus, verdict);
    return failure;
  }

  /** Gives the answer of a candidate after others were tried. */
  giveEarlierAnswer(answer: CandidateAnswer): Promise<GenerationResult> {
    const { record, attempts, call } = this;
    setCandidate(record, answer.context.candidate, call.request);
    record.attempts = attempts;
    record.work = answer.work;
    return this.giveAnswer(answer);
  }

  /** Passes the answer of a candidate on to the client and settles the generation by it. */
  giveAnswer(answer: CandidateAnswer): Promise<GenerationResult> {
    const { outcome } = answer;
    return outcome.kind === "answered"
      ? this.giveWhole(answer, outcome.answer)
      : this.relay(answer, outcome.begun);
  }

  /** Answers with the body of a gate, which costs nothing. */
  async giveReplacement({ body, replayOf, headers }: Replacement): Promise<GenerationResult> {
    this.record.replayOf = replayOf;
    this.headers = headers ?? NO_HEADERS;
    const bytes = Buffer.from(body);
    this.extensions.onText(bytes);
    const ending = { ...NOTHING, outcome: "completed", failure: null, status: 200 } as const;
    const settled = writeFinal(this, this.record, ending);
    if (!(await this.deps.recorder.flushDurably())) return this.fail(CANNOT_RECORD);
    settleWritten(this, settled, ending);
    this.end();
    const { stream } = this.call.request;
    return this.result(stream ? { kind: "stream", stream: bytes } : { kind: "json", body }, null);
  }

  /** Ends without an answer. A generation that failed before its first token costs nothing. */
  fail(failure: Failure): GenerationResult {
    return this.endWithout({ outcome: "failed", failure, status: statusOf(failure) });
  }

  /** Ends because the client has left before an attempt that was recorded was sent. */
  leaveUnsent(): GenerationResult {
    this.record.attempts = this.attempts;
    return this.leave();
  }

  /** Ends because the client has left before there was an answer. */
  leave(): GenerationResult {
    return this.endWithout({ outcome: "cancelled", failure: null, status: CLIENT_LEFT });
  }

  /**
   * Ends because the client has left while a candidate was asked. If that had begun an answer that is not streamed, it may charge the
   * prompt, and so does the gateway unless it is configured not to.
   */
  async leaveBegun(
    candidate: Candidate,
    { hasBegun }: Pick<Extract<AttemptOutcome, { kind: "client_left" }>, "hasBegun">,
  ): Promise<GenerationResult> {
    return hasBegun ? this.leaveCharged(candidate, null, NOTHING_SEEN) : this.leave();
  }

  /** Ends because the client has left an answer, which is charged by the vendor's counts; by the prompt alone if there are none. */
  private async leaveCharged(
    candidate: Candidate,
    counts: TokenUsage | null,
    seen: SeenAnswer,
  ): Promise<GenerationResult> {
    const { deps, call, allowance, record } = this;
    if (!deps.settings.chargesAbandoned) return this.leave();
    const answering = { deps, call, candidate, record, allowance };
    const charge = await chargeComplete(answering, countUsage(answering, counts, seen));
    return this.endWithout({ outcome: "cancelled", failure: null, status: CLIENT_LEFT, charge });
  }

  /**
   * Ends the generation if a timer, the client or a shutdown has ended it; null if it may go on. `candidate` is the one that
   * was being tried, or null.
   */
  endIfCancelled(candidate: Candidate | null): GenerationResult | null {
    const { reason } = this.cancellation;
    if (reason === "client_left" || reason === "client_stalled") return this.leave();
    if (reason === null || reason === "first_token") return null;
    return this.fail(candidate === null ? GATE_TIMEOUT : classifyCancellation(reason, candidate).failure);
  }

  /** Releases everything without a record, for a request that is rejected before a provider is chosen. */
  abandon(): void {
    this.end();
    this.deps.ledger.settle(this.id, 0);
    this.deps.rateLimiter.cancel(this.id);
    this.extensions.onAbandoned();
  }

  private async relay(
    { context: { candidate, size, identity }, metadata, startedAt, marking }: CandidateAnswer,
    begun: BegunStream,
  ): Promise<GenerationResult> {
    this.releaseBody();
    const { deps, call, cancellation, record, allowance, extensions } = this;
    if (begun.isOver && this.client.hasLeft()) {
      const { usage, producedBytes, searches } = begun.relay;
      return this.leaveCharged(candidate, usage, { producedBytes, searches });
    }
    const context: RelayContext = {
      candidate,
      size,
      metadata,
      filter: identity.filter ?? null,
      beganAt: startedAt,
      deps,
      call,
      cancellation,
      record,
      allowance,
      extensions,
      firstTokenAt: deps.clock.now(),
      zeroRetention: this.zeroRetention,
      onOver: () => this.end(),
      onCompleted: (usage) => this.rememberCache(candidate, marking, usage),
    };
    const stream = await relayStream(context, begun);
    const { mediaType } = begun.relay;
    return this.result(
      mediaType === undefined ? { kind: "stream", stream } : { kind: "stream", stream, mediaType },
      candidate,
    );
  }

  /** Releases the body: a stream that has begun goes to no other candidate. */
  private releaseBody(): void {
    const { request, memory } = this.call;
    if (request.releaseBody !== undefined) memory.release(request.releaseBody());
  }

  private async giveWhole(
    { context: { candidate, identity }, metadata, marking }: CandidateAnswer,
    answer: Extract<AttemptOutcome, { kind: "answered" }>["answer"],
  ): Promise<GenerationResult> {
    const seen = { producedBytes: answer.producedBytes, searches: 0 };
    if (this.client.hasLeft()) return this.leaveCharged(candidate, answer.usage, seen);
    const { filter = null } = identity;
    const ended =
      answer.applyFilter === undefined ? null : await this.applyFilter(candidate, answer.applyFilter);
    if (ended !== null) return ended;
    const { deps, call, allowance, extensions } = this;
    const record = withFilterWarnings(this.record, filter, this);
    const answering = { deps, call, candidate, record, allowance };
    const charge = await chargeComplete(answering, countUsage(answering, answer.usage, seen));
    if (filter !== null && filter.block !== null)
      return this.failCharged(filter.block, { record, charge, finish: answer.finish });
    const warnings = warnOfBound(answering, answer.finish, charge.usage);
    const body = answer.encode({
      report: reportUsage(charge, candidate.served.rates),
      completedAt: Math.floor(this.deps.clock.now() / 1000),
      metadata: addWarnings(metadata, warnings, filter),
    });
    if (extensions.observesText) extensions.onText(typeof body === "string" ? Buffer.from(body) : body);
    const { finish } = answer;
    const firstTokenAt = deps.clock.now();
    const ending: Ending = { outcome: "completed", failure: null, status: 200, charge, finish, firstTokenAt };
    const settled = writeFinal(this, withWarnings(record, warnings), ending);
    // An answer that cannot be recorded is not sent, because it could not be charged.
    if (!(await deps.recorder.flushDurably())) return this.fail(CANNOT_RECORD);
    settleWritten(this, settled, ending);
    this.end();
    this.rememberCache(candidate, marking, charge.usage);
    const { mediaType } = answer;
    return this.result(
      mediaType === undefined ? { kind: "json", body } : { kind: "json", body, mediaType },
      candidate,
    );
  }

  /** Waits for the filter of a whole answer. Returns the result if the generation was cancelled meanwhile; null if not. */
  private async applyFilter(
    candidate: Candidate,
    apply: (pause: () => Promise<void>) => Promise<void>,
  ): Promise<GenerationResult | null> {
    await this.cancellation.until(apply(nextTurn));
    return this.endIfCancelled(candidate);
  }

  /** Ends with a failure instead of an answer that a provider has given, which is charged. */
  private failCharged(
    failure: Failure,
    { record, ...ending }: Pick<Ending, "charge" | "finish"> & { readonly record: UsageRecord },
  ): GenerationResult {
    this.end();
    const firstTokenAt = this.deps.clock.now();
    settle(this, record, { ...ending, outcome: "failed", failure, status: statusOf(failure), firstTokenAt });
    return this.result({ kind: "failure", failure }, null);
  }

  /** Remembers where the conversation is cached, and whether the marks in its prompt were used. */
  private rememberCache(candidate: Candidate, marking: PromptMarking | null, usage: TokenUsage): void {
    const { session } = this;
    if (session !== null) recordAffinity(this.deps, candidate, { session, usage });
    if (marking !== null) recordMarking(this.deps, marking, { candidate, usage });
  }

  private endWithout(
    ending: Pick<Ending, "outcome" | "failure" | "status"> & Partial<Pick<Ending, "charge">>,
  ): GenerationResult {
    this.end();
    settle(this, this.record, { ...NOTHING, ...ending });
    const { failure } = ending;
    return this.result(failure === null ? { kind: "gone" } : { kind: "failure", failure }, null);
  }

  /** Begins to watch over a generation that is not quick. */
  private static watch(generation: Generation): void {
    generation.cancellation.setTimer();
    generation.call.onLasting();
    generation.client.start();
  }

  private end(): void {
    this.beginning.end();
    this.cancellation.stop();
    this.deps.running.active.delete(this.cancellation);
    this.client.stop();
  }

  private result(answer: GenerationResult["answer"], candidate: Candidate | null): GenerationResult {
    return {
      generationId: this.id,
      model: candidate?.model.id ?? null,
      provider: candidate?.provider.record.slug ?? null,
      attempts: this.attempts.length,
      plan: this.record.plan,
      limit: this.limitStatus,
      headers: this.headers,
      answer,
    };
  }
}

/** Returns a list with one more attempt. Nearly every generation has only one. */
function withAttempt(attempts: readonly AttemptRecord[], attempt: AttemptRecord): readonly AttemptRecord[] {
  return attempts.length === 0 ? [attempt] : [...attempts, attempt];
}

const NO_HEADERS: GenerationResult["headers"] = {};

/** A generation, as its extensions see it. A class, because an object with a function costs several times as much per request. */
class ExtendedGeneration implements AdmittedGeneration {
  constructor(
    readonly call: GenerationCall,
    readonly spender: OpenRecord,
    private readonly parts: { readonly admission: Admission; readonly tiers: Tiers },
  ) {}

  private get admission(): Admission {
    return this.parts.admission;
  }

  get id(): string {
    return this.spender.id;
  }

  get zeroRetention(): boolean {
    return this.admission.zeroRetention;
  }

  get namedRoutes(): AdmittedGeneration["namedRoutes"] {
    return this.admission.namedRoutes;
  }

  /** A copy is not copied. */
  get shadow(): AdmittedGeneration["shadow"] {
    return this.call.shadowOf === undefined ? this.admission.shadow : null;
  }

  describeRequest(): string {
    const { route, headers } = this.call;
    const names = [...ANSWER_HEADERS, ...this.parts.tiers.headers];
    return JSON.stringify([route, names.map((name) => [name, headers.get(name)])]);
  }

  describeChoice(): string {
    const { requestedId, deployments, namedRoutes } = this.admission;
    const choice = deployments.map((ofModel) =>
      ofModel.map(({ model, provider, endpoint, overrides = null }) => [
        model.id,
        provider.record.slug,
        endpoint.name,
        overrides,
      ]),
    );
    return JSON.stringify([requestedId, recordSteps(namedRoutes), choice]);
  }

  listModels(): readonly string[] {
    const { requestedId, deployments } = this.admission;
    return [requestedId, ...new Set(deployments.flat().map(({ model }) => model.id))];
  }
}

/** Headers besides those of tiers that may decide what answers a request, or how. */
const ANSWER_HEADERS = ["x-gateway-organization", "anthropic-beta"];

/** The status in logs and records if the client left before there was an answer; it is never sent. */
const CLIENT_LEFT = 499;

/** An answer of which nothing but its beginning has arrived. */
const NOTHING_SEEN: SeenAnswer = { producedBytes: 0, searches: 0 };

const NOTHING = { charge: null, finish: null, firstTokenAt: null } as const;

const GATE_TIMEOUT: Failure = {
  code: "unavailable",
  message: "The gateway could not check the request in time. Try again.",
  retryAfterS: 5,
};
