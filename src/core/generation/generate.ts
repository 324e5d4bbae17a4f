import type { Timer } from "../../base/clock.ts";
import { type Failure, failureOf, GatewayError, statusOf } from "../../base/errors.ts";
import { randomShare } from "../../base/random.ts";
import type { RelayIdentity } from "../../wire/canonical/relay.ts";
import type { TokenUsage } from "../../wire/conversation/usage.ts";
import { formatsOf } from "../deployments/served-models.ts";
import { freeLimitFailure, withFreeLimit } from "../limits/free-limit.ts";
import type { RateLimitStatus } from "../limits/rate-limiter.ts";
import { backoffMs } from "../routing/backoff.ts";
import { healthTargetOf } from "../routing/health-target.ts";
import type { Candidate } from "../routing/plan.ts";
import { recordFormat, toPlanEntries } from "../routing/plan-entries.ts";
import { scopeOf } from "../routing/session-key.ts";
import { listedWindow, windowOf } from "../routing/window.ts";
import { type AttemptRecord, createLease, type UsageRecord } from "../usage/records.ts";
import { type Admission, admit, CANNOT_RECORD } from "./admit.ts";
import { type Allowance, NO_HOLD } from "./allowance.ts";
import { type AttemptContext, type AttemptOutcome, attempt, isEmptyAnswer } from "./attempt.ts";
import { beginAttempt, endAttempt } from "./attempt-record.ts";
import type { GenerationCall, GenerationDeps, GenerationResult } from "./call.ts";
import { Cancellation } from "./cancellation.ts";
import { chargeAnswer, countUsage } from "./charge-answer.ts";
import { chooseFailure, classifyCancellation, type FailureClassification } from "./classify-failure.ts";
import { classifyFreeLimit, classifyNoCandidates } from "./classify-no-candidates.ts";
import { addWarning, describeWork } from "./describe-work.ts";
import { type EncodedForCandidate, type Encoding, encodeForCandidate } from "./encode-for-candidate.ts";
import { findByokKeys } from "./find-byok-keys.ts";
import { countsAsFree } from "./free-models.ts";
import { recordAttempt } from "./record-attempt.ts";
import { recordKeyUse } from "./record-key-use.ts";
import { type RelayContext, relayStream } from "./relay.ts";
import { createRequestTurns, NO_TURNS, type RequestTurns } from "./request-turns.ts";
import { type Route, recordAffinity, routeRequest } from "./route-request.ts";
import { openRecord, reportUsage, settle, trySettle, withCandidate, withHeld } from "./settle.ts";
import { type Held, takeHold } from "./take-hold.ts";
import { takeLimits } from "./take-limits.ts";
import { warnOfBound } from "./warn-of-bound.ts";

/**
 * Answers a request: admit, route, then for one candidate after the other repair and attempt, until one has begun to
 * answer; relay; settle. Resolves when the first byte for the client is there.
 * Rejects with a `GatewayError` when the request is not let in; later failures are part of the result.
 */
export async function generate(deps: GenerationDeps, call: GenerationCall): Promise<GenerationResult> {
  // One time for limits, prices and the record, whatever midnight comes between.
  const requestedAt = deps.clock.now();
  const found = findByokKeys(deps, call.principal);
  // Waiting costs a turn of the event loop, also for what is there already.
  const own = found instanceof Promise ? await found : found;
  const admitting = admit(deps, call, own);
  const admission = admitting instanceof Promise ? await admitting : admitting;
  const id = deps.ids.next("gen");
  const { limitStatus, freeLimit } = await takeLimits(deps, call, id, admission);
  const { deployments } = admission;
  const route = routeRequest(deps, call.principal, call.request, { deployments, freeLimit });
  let held: Held = { candidates: route.candidates, allowance: NO_HOLD };
  try {
    const overLimit = classifyFreeLimit(route, limitStatus);
    if (overLimit !== null) throw new GatewayError(overLimit);
    if (route.candidates.length > 0) {
      const within = withinReach(route.candidates, deps.maxAttempts);
      held = await takeHold(deps, call, { id, requestedAt }, within);
    }
  } catch (error) {
    deps.rateLimiter.cancel(id);
    throw error;
  }
  const run = new Run(
    deps,
    call,
    admission,
    route,
    { id, requestedAt, allowance: held.allowance },
    limitStatus,
  );
  return held.candidates.length > 0
    ? run.tryInTurn(held.candidates)
    : run.fail(classifyNoCandidates(route, admission.requestedId));
}

/** The candidates that so many attempts may reach: of one provider's keys after a failure only one is asked. */
function withinReach(candidates: readonly Candidate[], attempts: number): readonly Candidate[] {
  if (candidates.length <= attempts) return candidates;
  let endpoints = 0;
  const end = candidates.findIndex(({ endpoint }, at) => {
    if (endpoint !== candidates[at - 1]?.endpoint) endpoints += 1;
    return endpoints > attempts;
  });
  return end < 0 ? candidates : candidates.slice(0, end);
}

/** A candidate that failed for the moment. */
interface Passing {
  readonly candidate: Candidate;
  /** The request as it was sent to it, where the client's bytes were overwritten for it; null: it can be made anew. */
  readonly encoded: EncodedForCandidate | null;
}

/** What a candidate answered. */
interface Given {
  readonly context: AttemptContext;
  readonly outcome: Extract<AttemptOutcome, { kind: "streaming" | "answered" }>;
  readonly metadata: RelayContext["metadata"];
  readonly startedAt: number;
}

/** One generation from its admission on: its id, its record, what was tried. */
class Run {
  private readonly cancellation: Cancellation;
  private readonly attempts: AttemptRecord[] = [];
  private readonly failures: Failure[] = [];
  private readonly passing: Passing[] = [];
  /** The largest window that was too small. */
  private outgrown = 0;
  /** An answer without a word: the client gets it where no other candidate answers. */
  private empty: Given | null = null;
  /** There is one candidate, so that the client's bytes are for it alone. */
  private isOnly = false;
  private readonly id: string;
  private readonly allowance: Allowance;
  private record: UsageRecord;
  private readonly turns: RequestTurns;
  private readonly watch: Timer;
  /** Null until it was looked at. */
  private watched: AbortSignal | null = null;
  private readonly onClientLeft = () => this.cancellation.cut("client_left");

  constructor(
    private readonly deps: GenerationDeps,
    private readonly call: GenerationCall,
    private readonly admission: Admission,
    private readonly route: Route,
    generation: { readonly id: string; readonly requestedAt: number; readonly allowance: Allowance },
    private limitStatus: RateLimitStatus | null,
  ) {
    this.id = generation.id;
    this.allowance = generation.allowance;
    this.cancellation = new Cancellation(deps.clock, deps.timers.totalMs);
    const plan = toPlanEntries(route, admission.filteredOut);
    const lease = createLease(deps.gatewayId, generation.requestedAt, deps.timers.totalMs);
    this.record = openRecord(call, { ...generation, requestedModel: admission.requestedId, plan, lease });
    this.turns = admission.zeroRetention
      ? NO_TURNS
      : createRequestTurns(deps.conversations, scopeOf(call.principal), deps.log);
    deps.active.add(this.cancellation);
    this.watch = deps.clock.after(WATCH_MS, () => this.watchClient());
  }

  private watchClient(): void {
    const signal = this.call.readClientSignal();
    if (signal.aborted) this.onClientLeft();
    else signal.addEventListener("abort", this.onClientLeft, { once: true });
    this.watched = signal;
  }

  async tryInTurn(candidates: readonly Candidate[]): Promise<GenerationResult> {
    this.isOnly = candidates.length === 1;
    try {
      const inTurn = [...candidates];
      // What is put off is appended, and comes again in this loop.
      for (const [at, candidate] of inTurn.entries()) {
        if (windowOf(candidate.endpoint) <= this.outgrown || this.gaveNothing(candidate)) continue;
        if (at < candidates.length && this.hasFailed(candidate)) {
          inTurn.push(candidate);
          continue;
        }
        if (this.attempts.length > 0 && !(await this.mayGoOn(candidate))) continue;
        const result = await this.tryOne(candidate, candidate !== inTurn.at(-1));
        if (result !== null) return result;
      }
      const result = (await this.giveEmpty()) ?? (await this.tryAgain()) ?? (await this.giveEmpty());
      return result ?? this.fail(chooseFailure(this.failures));
    } catch (error) {
      return this.fail(failureOf(error));
    }
  }

  /** Nobody has answered: those that failed for the moment are asked again, after a pause that grows. */
  private async tryAgain(): Promise<GenerationResult | null> {
    const { deps, cancellation } = this;
    for (let round = 0; round < deps.repeats; round++) {
      const again = this.passing.splice(0).filter(({ candidate }) => this.hasBudget(candidate));
      if (again.length === 0 || this.empty !== null) return null;
      await cancellation.pause(backoffMs(round, randomShare(deps.random)));
      for (const { candidate, encoded } of again) {
        const ended = this.endIfCut(candidate);
        if (ended !== null) return ended;
        if (!(await this.mayGoOn(candidate))) continue;
        const result = encoded === null ? await this.tryOne(candidate) : await this.send(candidate, encoded);
        if (result !== null) return result;
      }
    }
    return null;
  }

  /** Whether a further candidate may be asked. An account's own key may have been removed while others were tried. */
  private mayGoOn(candidate: Candidate): boolean | Promise<boolean> {
    if (!this.hasBudget(candidate)) return false;
    const { key, provider } = candidate;
    const { principal } = this.call;
    if (key.byokId === null || principal.kind === "anonymous") return true;
    const { label } = key;
    return this.deps.byokKeys.isCurrent(principal.account.id, { label, provider: provider.record.slug });
  }

  /** The request may be sent so many times and until then; a provider that was asked already, so many more. */
  private hasBudget({ provider }: Candidate): boolean {
    const { deps, attempts, record } = this;
    const now = deps.clock.now();
    if (attempts.length >= deps.maxAttempts || now >= record.createdAt + deps.timers.failoverMs) return false;
    const { slug } = provider.record;
    return !this.wasAsked(slug) || deps.retryBudget.mayRetry(slug, now);
  }

  /** Its endpoint failed for the moment: another key would probably meet the same, so others are asked before. */
  private hasFailed({ provider, model }: Candidate): boolean {
    return this.passing.some(({ candidate }) => candidate.provider === provider && candidate.model === model);
  }

  private wasAsked(slug: string): boolean {
    return this.attempts.some(({ provider }) => provider === slug);
  }

  /** Null: the next candidate may try. `hasNext`: there is one. */
  private async tryOne(candidate: Candidate, hasNext = false): Promise<GenerationResult | null> {
    const encoding = this.encodeFor(candidate);
    const encoded = encoding instanceof Promise ? await encoding : encoding;
    if (encoded === null) return this.endIfCut(candidate);
    return (await this.countFree(candidate)) ? this.send(candidate, encoded, hasNext) : null;
  }

  /** Ends the generation where it was cut; null where the next candidate may try. */
  private endIfCut(candidate: Candidate): GenerationResult | null {
    const { reason } = this.cancellation;
    if (reason === "client_left" || reason === "client_stalled") return this.leave();
    if (reason === null || reason === "first_token") return null;
    return this.fail(classifyCancellation(reason, candidate).failure);
  }

  /** Counts the request for its account's limit on free models, the first time it is sent to one. False: it is used up. */
  private async countFree(candidate: Candidate): Promise<boolean> {
    if (this.record.usesFreeModel || !countsAsFree(candidate)) return true;
    const verdict = await this.deps.freeLimit.admit(this.call.principal, this.deps.clock.now());
    if (verdict === null) return true;
    if (verdict.allowed) this.record = { ...this.record, usesFreeModel: true };
    else this.failures.push(freeLimitFailure(verdict, this.limitStatus));
    this.limitStatus = withFreeLimit(this.limitStatus, verdict);
    return verdict.allowed;
  }

  /**
   * The same. Reasoning that the vendor refuses is left out once (docs/contract.md, "Reasoning"); a host that does not have the
   * endpoint of a format is asked in its other formats.
   */
  private async send(
    candidate: Candidate,
    encoded: EncodedForCandidate,
    hasNext = false,
  ): Promise<GenerationResult | null> {
    const { deps } = this;
    const startedAt = deps.clock.now();
    const begun = beginAttempt(candidate, encoded.format, startedAt);
    // In the file before the upstream is called: what it bills is known here, even if this process dies now.
    const { plan } = this.record;
    const hasFormats = formatsOf(candidate.provider, candidate.endpoint).length > 1;
    this.record = withHeld(
      {
        ...withCandidate(this.record, candidate, this.call.request),
        attempts: [...this.attempts, begun],
        plan: hasFormats ? recordFormat(plan, candidate, encoded.format) : plan,
      },
      this.allowance,
    );
    deps.recorder.write(this.record);
    if (!(await deps.recorder.flushDurably())) return this.fail(CANNOT_RECORD);
    if (this.hasClientLeft()) {
      this.record = { ...this.record, attempts: this.attempts };
      return this.leave();
    }
    this.noteBegin(candidate, startedAt);
    const context = this.contextFor(candidate, encoded, hasNext);
    const outcome = await attempt(context);
    recordAttempt(deps, candidate, outcome, { beganAt: startedAt, requestedAt: this.record.createdAt });
    this.attempts.push(endAttempt(begun, deps.clock.now(), outcome));
    this.record = { ...this.record, attempts: this.attempts };
    const metadata = describeWork(encoded, this.admission.warnings);
    recordKeyUse(deps, candidate, outcome.kind === "failed" ? outcome.classification : null);
    switch (outcome.kind) {
      case "streaming":
      case "answered":
        return this.takeAnswer({ context, outcome, metadata, startedAt });
      case "client_left":
        return this.leave();
      case "failed": {
        if (outcome.refusesReasoning && encoded.carriesReasoning) {
          const bare = await this.encodeFor(candidate, { withReasoning: false, formats: [encoded.format] });
          if (bare === null) return this.endIfCut(candidate);
          return this.send(candidate, { ...bare, carriesReasoning: false }, hasNext);
        }
        if (outcome.lacksEndpoint && encoded.otherFormats.length > 0) {
          const formats = encoded.otherFormats;
          const other = await this.encodeFor(candidate, { withReasoning: true, formats });
          return other === null ? this.endIfCut(candidate) : this.send(candidate, other, hasNext);
        }
        const { failure, mayTryNext } = outcome.classification;
        this.failures.push(failure);
        if (isPassing(candidate, outcome.classification))
          this.passing.push({ candidate, encoded: this.isOnly ? encoded : null });
        if (mayTryNext === "larger") this.outgrown = Math.max(this.outgrown, windowOf(candidate.endpoint));
        return mayTryNext ? null : ((await this.giveEmpty()) ?? this.fail(failure));
      }
    }
  }

  /**
   * The answer for the client. Null where it says nothing: the next candidate may have something to say, once. To fill in
   * nothing is an answer.
   */
  private takeAnswer(given: Given): Promise<GenerationResult> | null {
    const { outcome } = given;
    if (!isEmptyAnswer(outcome) || this.empty !== null || this.call.request.action === "fim")
      return this.give(given);
    this.empty = given;
    if (outcome.kind === "streaming") outcome.begun.exchange.cancel();
    return null;
  }

  /** Of the same model at the same provider another key would get the same. */
  private gaveNothing({ endpoint }: Candidate): boolean {
    return endpoint === this.empty?.context.candidate.endpoint;
  }

  /** The answer without a word that was put aside for others; null where there is none. */
  private async giveEmpty(): Promise<GenerationResult | null> {
    const { empty, attempts } = this;
    if (empty === null) return null;
    this.record = { ...withCandidate(this.record, empty.context.candidate, this.call.request), attempts };
    return this.give(empty);
  }

  private give({ context, outcome, metadata, startedAt }: Given): Promise<GenerationResult> {
    return outcome.kind === "streaming"
      ? this.relay(context, outcome.begun, metadata, startedAt)
      : this.answer(context.candidate, outcome.answer, metadata);
  }

  private noteBegin(candidate: Candidate, now: number): void {
    const { health, retryBudget } = this.deps;
    const { slug } = candidate.provider.record;
    health.begin(healthTargetOf(candidate), now);
    if (this.wasAsked(slug)) retryBudget.recordRetry(slug, now);
    else retryBudget.recordFirst(slug, now);
  }

  /** Null where this candidate's format cannot express the request, which another's may, or where the generation was cut. */
  private encodeFor(
    candidate: Candidate,
    repeated: Pick<Encoding, "withReasoning" | "formats"> = FIRST_TIME,
  ): EncodedForCandidate | null | Promise<EncodedForCandidate | null> {
    const account = (encoded: EncodedForCandidate): EncodedForCandidate => {
      if (encoded.heldBytes > 0 && !this.call.takeMemory(encoded.heldBytes))
        throw new GatewayError(NO_MEMORY);
      return encoded;
    };
    const refuse = (error: unknown): null => {
      if (!(error instanceof GatewayError)) throw error;
      // What others failed with is said before it.
      this.failures.unshift(error.failure);
      return null;
    };
    try {
      const encoding = {
        turns: this.turns,
        maxTokens: this.allowance.boundFor(candidate),
        ...repeated,
      };
      const encoded = encodeForCandidate(this.deps, this.call, candidate, encoding, this.cancellation);
      if (!(encoded instanceof Promise)) return account(encoded);
      return encoded.then((made) => made && account(made)).catch(refuse);
    } catch (error) {
      return refuse(error);
    }
  }

  private contextFor(candidate: Candidate, encoded: EncodedForCandidate, hasNext: boolean): AttemptContext {
    const { deps, call, cancellation } = this;
    const originalIds = encoded.repair?.originalIds;
    const identity: RelayIdentity = {
      id: this.id,
      model: candidate.model.id,
      created: Math.floor(this.record.createdAt / 1000),
      originalIds: originalIds?.size ? originalIds : null,
      makeCallId: () => deps.ids.next("call"),
      onTurn: this.turns.remember,
    };
    const size = {
      promptLimit: windowOf(candidate.endpoint),
      // An account's own key may serve what the gateway's do not, and lists do not have.
      listedWindow: () =>
        listedWindow([candidate, ...deps.serving().servedModels.deploymentsOf(candidate.model.id)]),
    };
    const { provider, model } = healthTargetOf(candidate);
    const isOut = hasNext
      ? () => deps.health.endpoint(provider, model, deps.clock.now()).state !== "closed"
      : null;
    return { deps, call, candidate, cancellation, encoded, identity, size, isOut };
  }

  private async relay(
    context: AttemptContext,
    begun: Extract<AttemptOutcome, { kind: "streaming" }>["begun"],
    metadata: RelayContext["metadata"],
    beganAt: number,
  ): Promise<GenerationResult> {
    const { deps, call, cancellation, record } = this;
    const { candidate, size } = context;
    if (begun.isOver && this.hasClientLeft()) return this.leave();
    const stream = await relayStream(
      {
        deps,
        call,
        candidate,
        cancellation,
        record,
        allowance: this.allowance,
        size,
        metadata,
        beganAt,
        firstTokenAt: deps.clock.now(),
        onOver: () => this.over(),
        onCompleted: (usage) => this.rememberPlace(candidate, usage),
      },
      begun,
    );
    return this.result({ kind: "stream", stream }, candidate);
  }

  private async answer(
    candidate: Candidate,
    answer: Extract<AttemptOutcome, { kind: "answered" }>["answer"],
    metadata: RelayContext["metadata"],
  ): Promise<GenerationResult> {
    if (this.hasClientLeft()) return this.leave();
    const { deps, call, record, allowance } = this;
    const answering = { deps, call, candidate, record, allowance };
    const seen = { producedBytes: answer.producedBytes, searches: 0 };
    const charge = chargeAnswer(answering, countUsage(answering, answer.usage, seen));
    const warning = warnOfBound(answering, answer.finish, charge.usage);
    const body = answer.encode({ report: reportUsage(charge), metadata: addWarning(metadata, warning) });
    const isSettled = await trySettle(deps, call, this.record, {
      outcome: "completed",
      failure: null,
      status: 200,
      charge,
      finish: answer.finish,
      firstTokenAt: deps.clock.now(),
    });
    // An answer that cannot be recorded is not given away.
    if (!isSettled) return this.fail(CANNOT_RECORD);
    this.over();
    this.rememberPlace(candidate, charge.usage);
    return this.result({ kind: "json", body }, candidate);
  }

  /** Looked at before an upstream is called and before a whole answer is charged: unlike listening, it costs nothing. */
  private hasClientLeft(): boolean {
    return this.call.readClientSignal().aborted;
  }

  private rememberPlace(candidate: Candidate, usage: TokenUsage): void {
    recordAffinity(this.deps, this.route.session, candidate, usage);
  }

  /** Ends without an answer. What failed before its first token costs nothing. */
  fail(failure: Failure): GenerationResult {
    this.over();
    settle(this.deps, this.call, this.record, {
      ...NOTHING,
      outcome: "failed",
      failure,
      status: statusOf(failure),
    });
    return this.result({ kind: "failure", failure }, null);
  }

  private leave(): GenerationResult {
    this.over();
    settle(this.deps, this.call, this.record, {
      ...NOTHING,
      outcome: "cancelled",
      failure: null,
      status: CLIENT_LEFT,
    });
    return this.result({ kind: "gone" }, null);
  }

  private over(): void {
    this.cancellation.stop();
    this.deps.active.delete(this.cancellation);
    this.watch.cancel();
    this.watched?.removeEventListener("abort", this.onClientLeft);
  }

  private result(answer: GenerationResult["answer"], candidate: Candidate | null): GenerationResult {
    return {
      generationId: this.id,
      model: candidate?.model.id ?? null,
      provider: candidate?.provider.record.slug ?? null,
      attempts: this.attempts.length,
      plan: this.record.plan,
      limit: this.limitStatus,
      answer,
    };
  }
}

/** An answer that is there sooner is not waited for: to watch over a client costs as much as to read its request. Milliseconds. */
const WATCH_MS = 20;

/** Encoded with all that the request has, in the best format. */
const FIRST_TIME: Pick<Encoding, "withReasoning" | "formats"> = { withReasoning: true, formats: null };

/** What logs and records show for a client that left before there was an answer; nobody receives it. */
const CLIENT_LEFT = 499;

const NO_MEMORY: Failure = {
  code: "unavailable",
  message: "The gateway has no room to translate the request at the moment. Repeat it later.",
  retryAfterS: 5,
  internal: "limits.total_body_bytes is used up",
};

const NOTHING = { charge: null, finish: null, firstTokenAt: null } as const;

/**
 * Whether the same candidate may answer a moment later. One that is overloaded will not if it says for how long, or if it
 * was asked although its overload was known.
 */
function isPassing({ provider, why }: Candidate, { mayTryNext, health }: FailureClassification): boolean {
  if (provider.record.failsOnDemand || !mayTryNext) return false;
  if (health.kind === "overloaded") return health.retryAfterMs === null && why !== "last_resort";
  return health.kind === "failed";
}
