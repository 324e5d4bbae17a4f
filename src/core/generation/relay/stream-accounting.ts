import { type Failure, failureOf } from "../../../base/failures/errors.ts";
import type { AnswerFilter } from "../../../wire/canonical/answer/filter-answer.ts";
import type { AnswerRelay, RelayFinish } from "../../../wire/canonical/answer/relay.ts";
import { BYTES_PER_TOKEN, type TokenUsage } from "../../../wire/conversation/usage.ts";
import type { Warning } from "../../../wire/conversation/warning.ts";
import type { AttemptReport } from "../../routing/health/health.ts";
import type { UsageRecord } from "../../usage/records/records.ts";
import type { GenerationCall, GenerationDeps } from "../call/call.ts";
import type { Cancellation } from "../call/cancellation.ts";
import { classifyVendorError, type PromptSize } from "../failures/classify-vendor-error.ts";
import { failLastAttempt } from "../records/attempt-record.ts";
import { type OpenRecord, setHeld, withFilterWarnings, withWarnings } from "../records/open-record.ts";
import { measureSpeed, recordHealth } from "../records/record-attempt.ts";
import { recordKeyUse } from "../records/record-key-use.ts";
import { type Charge, chargeFor, setUsage } from "../settle/charge.ts";
import { type Answering, chargeAnswer, countUsage } from "../settle/charge-answer.ts";
import type { CheckedUsage, SeenAnswer } from "../settle/check-usage.ts";
import { type Ending, type Settling, settle, settleSoon } from "../settle/settle.ts";

/** The context in which a stream is relayed. */
export interface RelayContext extends Answering, Settling {
  readonly deps: GenerationDeps;
  readonly call: GenerationCall;
  readonly cancellation: Cancellation;
  readonly size: PromptSize;
  /** The `gateway_metadata` of the last event; null for none. */
  readonly metadata: Readonly<Record<string, unknown>> | null;
  /** When the attempt began. Milliseconds since the epoch. */
  readonly beganAt: number;
  readonly firstTokenAt: number;
  /** Whether nothing of the request may be stored. */
  readonly zeroRetention: boolean;
  /** The filter of the answer; null for none. */
  readonly filter: AnswerFilter | null;
  /** Called once, when the upstream is no longer read. */
  readonly onOver: () => void;
  /** Called once, when the answer is complete. */
  readonly onCompleted: (usage: TokenUsage) => void;
}

/** Accounts for a streamed answer: its hold while it runs and, at its end, its record, charge and effect on health. */
export class StreamAccounting {
  /** The size of the answer at which the hold must be raised. Bytes. */
  private growAtBytes: number;
  private isSettled = false;

  constructor(
    private readonly context: RelayContext,
    private readonly relay: AnswerRelay,
  ) {
    this.growAtBytes = BYTES_PER_TOKEN * context.allowance.tokensHeldFor(context.candidate);
  }

  /** Returns whether the hold covers the answer so far. Raises the hold when it is nearly used up. */
  covers(): boolean {
    const { relay } = this;
    return relay.producedBytes < this.growAtBytes || relay.isFinished || this.growHold();
  }

  /** Waits a short time for money that must be leased first, and returns whether the hold then covers the answer so far. */
  async coversSoon(): Promise<boolean> {
    const { allowance, candidate } = this.context;
    const produced = this.countSoFar().usage.completionTokens;
    await allowance.growSoonTo(candidate, 2 * produced);
    return this.growHold();
  }

  /** Updates the record, so that it shows the progress if this process dies. */
  recordProgress(): void {
    const { deps, record, firstTokenAt, allowance } = this.context;
    // If the process dies, this version is charged, up to the hold.
    const charge = chargeFor(this.context, this.countSoFar().usage);
    const version: OpenRecord = { ...record, firstTokenAt };
    setUsage(version, charge);
    setHeld(version, allowance);
    deps.recorder.write(version);
  }

  /** Returns the usage of an answer that has not ended. A vendor's early counts include the prompt, but not all output. */
  countSoFar(): CheckedUsage {
    const seen = this.seen();
    const { usage, rejected } = countUsage(this.context, this.relay.usage, seen);
    const counted = countUsage(this.context, null, seen).usage;
    const completionTokens = Math.max(usage.completionTokens, counted.completionTokens);
    const searches = rejected.length > 0 ? usage.searches : Math.max(usage.searches, counted.searches);
    return { usage: { ...usage, completionTokens, searches, estimated: true }, rejected };
  }

  /** Returns the usage of a complete answer. */
  countComplete(): CheckedUsage {
    return countUsage(this.context, this.relay.usage, this.seen());
  }

  /** Settles a complete answer with the warnings that are known at its end. Resolves when its record is durable. */
  async settleComplete(
    charge: Charge,
    finish: RelayFinish | null,
    warnings: readonly Warning[],
  ): Promise<void> {
    const { firstTokenAt } = this.context;
    await settleSoon(this.context, withWarnings(this.record, warnings), {
      outcome: "completed",
      failure: null,
      status: 200,
      charge,
      finish,
      firstTokenAt,
    });
    this.isSettled = true;
    this.context.onCompleted(charge.usage);
  }

  /** Settles an answer that ends before it is complete, by the usage so far. */
  settleBroken(outcome: "failed" | "cancelled", failure: Failure | null): void {
    const isBroken = outcome === "failed" && failure !== null;
    this.settleEarly(isBroken ? this.withBrokenAttempt(failure) : this.record, { outcome, failure });
  }

  /** Settles an answer that its filter blocks, by the usage so far. The attempt did not fail. */
  settleBlocked(failure: Failure): void {
    this.settleEarly(this.record, { outcome: "failed", failure });
  }

  /** Settles an answer that ended with an unexpected error, by the usage so far. No-op if it is already settled. */
  settleUnexpected(failure: Failure): void {
    if (this.isSettled) return;
    try {
      this.settleBroken("failed", failure);
    } catch {
      // The cost could not be computed, so the record has none.
      const { record, firstTokenAt } = this.context;
      const ending = { charge: null, finish: null, firstTokenAt } as const;
      settle(this.context, record, { ...ending, outcome: "failed", failure, status: 200 });
      this.isSettled = true;
    }
  }

  /** The record with the warnings of the filter. */
  private get record(): UsageRecord {
    const { record, filter } = this.context;
    return filter === null ? record : withFilterWarnings(record, filter, this.context);
  }

  private settleEarly(record: UsageRecord, { outcome, failure }: Pick<Ending, "outcome" | "failure">): void {
    const { firstTokenAt } = this.context;
    const charge = chargeAnswer(this.context, this.countSoFar());
    const finish = this.relay.finish();
    settle(this.context, record, { outcome, failure, status: 200, charge, finish, firstTokenAt });
    this.isSettled = true;
  }

  /** Returns the record with the provider's message about the failure of the last attempt. */
  private withBrokenAttempt(failure: Failure): UsageRecord {
    const { candidate, zeroRetention } = this.context;
    const { record } = this;
    const { secret } = candidate.key;
    const code = this.relay.error?.code ?? null;
    return {
      ...record,
      attempts: failLastAttempt(record.attempts, { failure, code }, { secret, zeroRetention }),
    };
  }

  /** Records a complete answer in the health statistics. */
  recordSuccess(completionTokens: number): void {
    const { deps, firstTokenAt } = this.context;
    const tokensPerS = measureSpeed(completionTokens, deps.clock.now() - firstTokenAt);
    this.recordHealth({ kind: "succeeded", tokensPerS });
  }

  /**
   * Records an answer that the upstream broke off, and returns the failure: that of the vendor's error event or of the connection. `thrown`
   * is the error that ended the connection, or null.
   */
  recordBreak(thrown: unknown): Failure {
    const { deps, candidate, size } = this.context;
    const { error } = this.relay;
    if (error !== null) {
      const classification = classifyVendorError(error, candidate, size);
      recordKeyUse(deps, candidate, classification);
      // No other candidate can continue this answer, but the failure counts for the routing of later requests.
      return this.recordFailure(classification.failure, classification.health);
    }
    const { name, slug } = candidate.provider.record;
    const raw = "the answer broke off before its end";
    const failure: Failure = {
      code: "upstream_error",
      message: `${name} broke off in the middle of the answer. Try again.`,
      metadata: { provider: slug, upstream_status: 200, raw },
      ...(thrown === null ? {} : { internal: failureOf(thrown).internal ?? raw }),
    };
    return this.recordFailure(failure, { kind: "failed" });
  }

  /** Records an answer that failed after its first token, and returns the failure. */
  recordFailure(failure: Failure, health: AttemptReport): Failure {
    const { deps, candidate, record, zeroRetention } = this.context;
    this.recordHealth(health);
    const at = deps.clock.now();
    const call = { generationId: record.id, candidate, failure, health, status: 200, at, zeroRetention };
    deps.routing.recentFailures.record(call);
    return failure;
  }

  recordHealth(report: AttemptReport): void {
    const { deps, candidate, record, beganAt } = this.context;
    recordHealth(deps, candidate, report, { beganAt, requestedAt: record.createdAt, now: deps.clock.now() });
  }

  /** Raises the hold to twice the answer so far. Returns whether it covers the answer so far. */
  private growHold(): boolean {
    const { allowance, candidate } = this.context;
    const produced = this.countSoFar().usage.completionTokens;
    const covered = allowance.growTo(candidate, 2 * produced);
    this.growAtBytes = this.relay.producedBytes + BYTES_PER_TOKEN * (covered - produced);
    return covered > produced;
  }

  private seen(): SeenAnswer {
    const { producedBytes, searches } = this.relay;
    return { producedBytes, searches };
  }
}
