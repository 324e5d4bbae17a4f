import { type Failure, statusOf } from "../../base/failures/errors.ts";
import type { TokenUsage } from "../../wire/conversation/usage.ts";
import type { Candidate } from "../routing/plan/plan.ts";
import { RequestLimits } from "./admit/request-limits.ts";
import type { TakenLimits } from "./admit/take-limits.ts";
import type { AttemptOutcome } from "./attempt/attempt.ts";
import { type PromptMarking, recordMarking } from "./attempt/plan-cache-marks.ts";
import type { GenerationCall, GenerationDeps, GenerationResult } from "./call/call.ts";
import { AttachedExtensions } from "./call/extension.ts";
import { Lifetime } from "./call/lifetime.ts";
import { ExtendedGeneration } from "./extended-generation.ts";
import { classifyCancellation } from "./failures/classify-failure.ts";
import { type Allowance, NO_HOLD } from "./hold/allowance.ts";
import type { Held } from "./hold/take-hold.ts";
import type { Admission, AdmittedRequest } from "./prepare/admission.ts";
import { type Route, recordAffinity } from "./route/route-request.ts";
import { RunningRecord } from "./running-record.ts";
import { chargeComplete, countUsage } from "./settle/charge-answer.ts";
import type { SeenAnswer } from "./settle/check-usage.ts";
import { type Ending, NOTHING_PRODUCED, type Settling, settle } from "./settle/settle.ts";

/** The state of one admitted generation, and the ways in which it ends without an answer. Only its methods change its fields. */
export class Generation implements Settling {
  readonly id: string;
  readonly record: RunningRecord;
  readonly limits: RequestLimits;
  readonly lifetime: Lifetime;
  readonly extensions: AttachedExtensions;
  /** The account's money that the generation may spend. */
  allowance: Allowance = NO_HOLD;
  /** Response headers of gates. */
  private headers: GenerationResult["headers"] = NO_HEADERS;
  private session: Route["session"] = null;

  constructor(
    readonly deps: GenerationDeps,
    /** The call with the body that gates have set. Extensions keep the call that they were attached with. */
    public call: GenerationCall,
    admitted: AdmittedRequest,
    limits: TakenLimits,
  ) {
    const { id, admission } = admitted;
    this.id = id;
    this.record = new RunningRecord(deps, call, admitted);
    const { open } = this.record;
    this.limits = new RequestLimits(
      deps,
      { call, record: open },
      limits,
      limits.modelId ?? admission.modelId,
    );
    this.extensions = new AttachedExtensions(deps, new ExtendedGeneration(call, open, admission));
    this.lifetime = new Lifetime(deps, call);
  }

  get zeroRetention(): boolean {
    return this.record.zeroRetention;
  }

  /** Continues with another body of the request. */
  continueWith(call: GenerationCall): void {
    this.call = call;
  }

  /** Sets the response headers of gates. */
  setHeaders(headers: GenerationResult["headers"]): void {
    this.headers = headers;
  }

  /** Sets the money that the generation may spend. Returns the candidates that this covers. */
  setAllowance({ allowance, candidates }: Held): readonly Candidate[] {
    this.allowance = allowance;
    return candidates;
  }

  /** Records the routing decision. */
  plan(route: Route, filteredOut: Admission["filteredOut"]): void {
    this.session = route.session;
    this.record.plan(route, filteredOut);
  }

  /** Remembers where the conversation is cached, and whether the marks in its prompt were used. */
  rememberCache(candidate: Candidate, marking: PromptMarking | null, usage: TokenUsage): void {
    const { session } = this;
    if (session !== null) recordAffinity(this.deps, candidate, { session, usage });
    if (marking !== null) recordMarking(this.deps, marking, { candidate, usage });
  }

  /** Ends without an answer. A generation that failed before its first token costs nothing. */
  fail(failure: Failure): GenerationResult {
    return this.endWithout({ outcome: "failed", failure, status: statusOf(failure) });
  }

  /** Ends because the client has left before there was an answer. */
  leave(): GenerationResult {
    return this.endWithout({ outcome: "cancelled", failure: null, status: CLIENT_LEFT });
  }

  /**
   * Ends because the client has left during an attempt. A provider that had begun an unstreamed answer may charge for the prompt. Then the
   * gateway charges it too, unless it is configured not to.
   */
  async leaveBegun(
    candidate: Candidate,
    { hasBegun }: Pick<Extract<AttemptOutcome, { kind: "client_left" }>, "hasBegun">,
  ): Promise<GenerationResult> {
    return hasBegun ? this.leaveCharged(candidate, null, NOTHING_SEEN) : this.leave();
  }

  /** Ends because the client has left during the answer. Charges the vendor's counts, or only the prompt if there are none. */
  async leaveCharged(
    candidate: Candidate,
    counts: TokenUsage | null,
    seen: SeenAnswer,
  ): Promise<GenerationResult> {
    const { deps, call, allowance, record } = this;
    if (!deps.settings.chargesAbandoned) return this.leave();
    const answering = { deps, call, candidate, record: record.open, allowance };
    const charge = await chargeComplete(answering, countUsage(answering, counts, seen));
    return this.endWithout({ outcome: "cancelled", failure: null, status: CLIENT_LEFT, charge });
  }

  /**
   * Ends the generation if a timer, the client or a shutdown has ended it; null if it may go on. `candidate` is the one that
   * was being tried, or null.
   */
  endIfCancelled(candidate: Candidate | null): GenerationResult | null {
    const { reason } = this.lifetime.cancellation;
    if (reason === "client_left" || reason === "client_stalled") return this.leave();
    if (reason === null || reason === "first_token") return null;
    return this.fail(candidate === null ? GATE_TIMEOUT : classifyCancellation(reason, candidate).failure);
  }

  /** Releases everything without a record, for a request that is rejected before a provider is chosen. */
  abandon(): void {
    this.lifetime.end();
    this.deps.ledger.settle(this.id, 0);
    this.deps.rateLimiter.cancel(this.id);
    this.extensions.onAbandoned();
  }

  /** Returns the result with an answer. `candidate` is the one that answered. */
  result(answer: GenerationResult["answer"], candidate: Candidate | null): GenerationResult {
    return {
      generationId: this.id,
      model: candidate?.model.id ?? null,
      provider: candidate?.provider.record.slug ?? null,
      attempts: this.record.attempts.length,
      plan: this.record.open.plan,
      limit: this.limits.status,
      headers: this.headers,
      answer,
    };
  }

  private endWithout(
    ending: Pick<Ending, "outcome" | "failure" | "status"> & Partial<Pick<Ending, "charge">>,
  ): GenerationResult {
    this.lifetime.end();
    settle(this, this.record.open, { ...NOTHING_PRODUCED, ...ending });
    const { failure } = ending;
    return this.result(failure === null ? { kind: "gone" } : { kind: "failure", failure }, null);
  }
}

const NO_HEADERS: GenerationResult["headers"] = {};

/** The status in logs and records if the client left before there was an answer; it is never sent. */
const CLIENT_LEFT = 499;

/** An answer that has begun, without any content yet. */
const NOTHING_SEEN: SeenAnswer = { producedBytes: 0, searches: 0 };

const GATE_TIMEOUT: Failure = {
  code: "unavailable",
  message: "The gateway could not check the request in time. Try again.",
  retryAfterS: 5,
};
