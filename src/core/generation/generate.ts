import { type Failure, failureOf, GatewayError, statusOf } from "../../base/errors.ts";
import type { CalledTurn } from "../../wire/canonical/called-turn.ts";
import type { Warning } from "../../wire/canonical/format.ts";
import type { RelayIdentity } from "../../wire/canonical/relay.ts";
import type { RepairCounts } from "../../wire/conversation/outline.ts";
import { estimateTokens } from "../../wire/conversation/usage.ts";
import type { EncodedForUpstream } from "../../wire/dialects/inference-request.ts";
import type { LimitStanding } from "../limits/rate-limits.ts";
import { healthTargetOf } from "../routing/health-target.ts";
import { type Candidate, type Plan, planRoute } from "../routing/plan.ts";
import type { AttemptRecord, UsageRecord } from "../usage/records.ts";
import { type Admission, admit, CANNOT_RECORD } from "./admit.ts";
import { type AttemptContext, type AttemptOutcome, attempt } from "./attempt.ts";
import type { GenerationCall, GenerationDeps, GenerationResult } from "./call.ts";
import { Cutoff } from "./cutoff.ts";
import { findOwnKeys } from "./find-own-keys.ts";
import { prepareTiers } from "./find-tier-offers.ts";
import { chooseFailure } from "./judge-failure.ts";
import { noteAttempt } from "./note-attempt.ts";
import { noteKeyUse } from "./note-key-use.ts";
import { type RelayContext, relayStream } from "./relay.ts";
import {
  costOf,
  estimateUsage,
  openRecord,
  reportUsage,
  settle,
  trySettle,
  withCandidate,
} from "./settle.ts";
import { takeHold } from "./take-hold.ts";
import { countAnonymous, takeLimits } from "./take-limits.ts";
import { describeTarget } from "./upstream-target.ts";

/**
 * Answers a request: admit, plan, then for one candidate after the other repair and attempt, until one has begun to
 * answer; relay; settle. Resolves when the first byte for the client is there.
 * Rejects with a `GatewayError` when the request is not let in; later failures are part of the result.
 */
export async function generate(deps: GenerationDeps, call: GenerationCall): Promise<GenerationResult> {
  const found = findOwnKeys(deps, call.caller);
  // Waiting costs a turn of the event loop, also for what is there already.
  const own = found instanceof Promise ? await found : found;
  const preparing = prepareTiers(deps, call);
  if (preparing !== null) await preparing;
  const admission = admit(deps, call, own);
  const id = deps.ids.next("gen");
  let standing = takeLimits(deps, call, id, admission);
  const plan = planRoute(admission.offers, call.request.preferences, deps.health, deps.clock.now());
  let candidates: readonly Candidate[] = [];
  try {
    standing = countAnonymous(deps, call) ?? standing;
    if (plan.kind === "candidates") {
      const holding = takeHold(deps, call, id, plan.candidates.slice(0, deps.maxAttempts));
      candidates = holding instanceof Promise ? await holding : holding;
    }
  } catch (error) {
    deps.rateLimits?.giveBack(id);
    throw error;
  }
  const run = new Run(deps, call, admission, id, standing);
  return plan.kind === "candidates"
    ? run.tryInTurn(candidates)
    : run.fail(cooling(plan, admission.requestedId));
}

function cooling({ retryAfterMs, areOwn }: Extract<Plan, { kind: "cooling" }>, requestedId: string): Failure {
  return {
    code: "unavailable",
    message: areOwn
      ? "The account's own keys for this model are out of credit at their provider. Add credit there, or name another model."
      : `No provider of "${requestedId}" is available at the moment. Name another model.`,
    ...(areOwn ? { metadata: { is_byok: true } } : {}),
    retryAfterS: Math.max(1, Math.ceil(retryAfterMs / 1000)),
  };
}

/** One generation from its admission on: its id, its record, what was tried. */
class Run {
  private readonly cutoff: Cutoff;
  private readonly attempts: AttemptRecord[] = [];
  private readonly failures: Failure[] = [];
  private record: UsageRecord;
  private readonly turns: CallersTurns;
  private readonly onClientLeft = () => this.cutoff.cut("client_left");

  constructor(
    private readonly deps: GenerationDeps,
    private readonly call: GenerationCall,
    private readonly admission: Admission,
    private readonly id: string,
    private readonly standing: LimitStanding | null,
  ) {
    this.cutoff = new Cutoff(deps.clock, deps.timers.totalMs);
    this.record = openRecord(deps, call, this.id, admission.requestedId);
    this.turns = admission.zeroRetention ? NO_TURNS : turnsOf(deps, call);
    deps.active.add(this.cutoff);
    if (call.clientSignal.aborted) this.onClientLeft();
    else call.clientSignal.addEventListener("abort", this.onClientLeft, { once: true });
  }

  async tryInTurn(candidates: readonly Candidate[]): Promise<GenerationResult> {
    try {
      for (const candidate of candidates) {
        if (candidate !== candidates[0] && !(await this.isStillThere(candidate))) continue;
        const result = await this.tryOne(candidate, candidate === candidates.at(-1));
        if (result !== null) return result;
      }
      return this.fail(chooseFailure(this.failures));
    } catch (error) {
      return this.fail(failureOf(error));
    }
  }

  /** An account's own key may have been removed while others were tried. */
  private isStillThere({ key, provider }: Candidate): boolean | Promise<boolean> {
    const { caller } = this.call;
    if (key.ownId === null || caller.kind === "anonymous") return true;
    const { label } = key;
    return this.deps.ownKeys.isCurrent(caller.account.id, { label, provider: provider.record.slug });
  }

  /** Null: the next candidate may try. Reasoning that the vendor refuses is left out once (docs/contract.md, "Reasoning"). */
  private async tryOne(
    candidate: Candidate,
    isLast: boolean,
    withReasoning = true,
  ): Promise<GenerationResult | null> {
    const { deps } = this;
    const encoded = this.encodeFor(candidate, isLast, withReasoning);
    if (encoded === null) return null;
    const startedAt = deps.clock.now();
    const begun = beginAttempt(candidate, startedAt);
    // In the file before the upstream is called: what it bills is known here, even if this process dies now.
    this.record = { ...withCandidate(this.record, candidate), attempts: [...this.attempts, begun] };
    deps.recorder.write(this.record);
    if (!deps.recorder.flush()) return this.fail(CANNOT_RECORD);
    const context = this.contextFor(candidate, encoded);
    deps.health.begin(healthTargetOf(candidate), startedAt);
    const outcome = await attempt(context);
    noteAttempt(deps, candidate, outcome, startedAt);
    this.attempts.push(endAttempt(begun, deps.clock.now(), outcome));
    this.record = { ...this.record, attempts: this.attempts };
    const metadata = metadataOf(encoded, this.admission.warnings);
    noteKeyUse(deps, candidate, outcome.kind === "failed" ? outcome.judgement : null);
    switch (outcome.kind) {
      case "streaming":
        return this.relay(context, outcome.begun, metadata, startedAt);
      case "answered":
        return this.answer(candidate, outcome.answer, metadata);
      case "client_left":
        return this.leave();
      case "failed": {
        if (outcome.refusesReasoning && encoded.carriesReasoning)
          return this.tryOne(candidate, isLast, false);
        const { failure, mayTryNext } = outcome.judgement;
        this.failures.push(failure);
        return mayTryNext ? null : this.fail(failure);
      }
    }
  }

  /** Null where this candidate's format cannot express the request; another's may. */
  private encodeFor(
    candidate: Candidate,
    isLast: boolean,
    withReasoning: boolean,
  ): EncodedForUpstream | null {
    try {
      return this.call.request.encode({
        ...describeTarget(candidate),
        isLast,
        withReasoning,
        steer: candidate.steer ?? null,
        recallTurn: this.turns.recall,
      });
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error;
      // What others failed with is said before it.
      this.failures.unshift(error.failure);
      return null;
    }
  }

  private contextFor(candidate: Candidate, encoded: EncodedForUpstream): AttemptContext {
    const { deps, call, cutoff } = this;
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
      contextLength: candidate.endpoint.contextLength,
      estimatedTokens: estimateTokens(call.request.promptTextBytes),
    };
    return { deps, call, candidate, cutoff, encoded, identity, size };
  }

  private relay(
    context: AttemptContext,
    begun: Extract<AttemptOutcome, { kind: "streaming" }>["begun"],
    metadata: RelayContext["metadata"],
    beganAt: number,
  ): GenerationResult {
    const { deps, call, cutoff, record } = this;
    const { candidate, size } = context;
    const stream = relayStream(
      {
        deps,
        call,
        candidate,
        cutoff,
        record,
        size,
        metadata,
        beganAt,
        firstTokenAt: deps.clock.now(),
        onOver: () => this.over(),
      },
      begun,
    );
    return this.result({ kind: "stream", stream }, candidate);
  }

  private answer(
    candidate: Candidate,
    answer: Extract<AttemptOutcome, { kind: "answered" }>["answer"],
    metadata: RelayContext["metadata"],
  ): GenerationResult {
    const { deps, call } = this;
    const usage = answer.usage ?? estimateUsage(call.request.promptTextBytes, answer.producedBytes);
    const body = answer.encode({
      report: reportUsage(usage, costOf(candidate, usage, this.record.createdAt)),
      metadata,
    });
    const isSettled = trySettle(deps, call, this.record, candidate, {
      outcome: "completed",
      failure: null,
      status: 200,
      usage,
      finish: answer.finish,
      firstTokenAt: deps.clock.now(),
    });
    // An answer that cannot be recorded is not given away.
    if (!isSettled) return this.fail(CANNOT_RECORD);
    this.over();
    return this.result({ kind: "json", body }, candidate);
  }

  /** Ends without an answer. What failed before its first token costs nothing. */
  fail(failure: Failure): GenerationResult {
    this.over();
    settle(this.deps, this.call, this.record, null, {
      ...NOTHING,
      outcome: "failed",
      failure,
      status: statusOf(failure),
    });
    return this.result({ kind: "failure", failure }, null);
  }

  private leave(): GenerationResult {
    this.over();
    settle(this.deps, this.call, this.record, null, {
      ...NOTHING,
      outcome: "cancelled",
      failure: null,
      status: CLIENT_LEFT,
    });
    return this.result({ kind: "gone" }, null);
  }

  private over(): void {
    this.cutoff.stop();
    this.deps.active.delete(this.cutoff);
    this.call.clientSignal.removeEventListener("abort", this.onClientLeft);
  }

  private result(answer: GenerationResult["answer"], candidate: Candidate | null): GenerationResult {
    return {
      generationId: this.id,
      model: candidate?.model.id ?? null,
      provider: candidate?.provider.record.slug ?? null,
      attempts: this.attempts.length,
      limit: this.standing,
      answer,
    };
  }
}

/** The memory of turns as one caller sees it. */
interface CallersTurns {
  recall(callId: string): CalledTurn | null;
  remember(turn: CalledTurn): void;
}

/** Where nothing may be kept. */
const NO_TURNS: CallersTurns = { recall: () => null, remember: () => {} };

function turnsOf({ turnMemory }: GenerationDeps, { caller }: GenerationCall): CallersTurns {
  const scope = caller.kind === "key" ? caller.account.id : caller.addressHash;
  return {
    recall: (callId) => turnMemory.recall(scope, callId),
    remember: (turn) => turnMemory.remember(scope, turn),
  };
}

/** What logs and records show for a client that left before there was an answer; nobody receives it. */
const CLIENT_LEFT = 499;

const NOTHING = { usage: null, finish: null, firstTokenAt: null } as const;

function beginAttempt({ provider, endpoint, key }: Candidate, startedAt: number): AttemptRecord {
  return {
    provider: provider.record.slug,
    upstreamModel: endpoint.name,
    isByok: key.ownId !== null,
    startedAt,
    durationMs: null,
    upstreamStatus: null,
    error: null,
  };
}

function endAttempt(begun: AttemptRecord, now: number, outcome: AttemptOutcome): AttemptRecord {
  return {
    ...begun,
    durationMs: now - begun.startedAt,
    upstreamStatus: statusOfAttempt(outcome),
    error: outcome.kind === "failed" ? outcome.judgement.failure.code : null,
  };
}

function statusOfAttempt(outcome: AttemptOutcome): number | null {
  if (outcome.kind === "client_left") return null;
  return outcome.kind === "streaming" ? outcome.begun.response.status : outcome.status;
}

/** The `gateway_metadata` of an answer: what was done to its request. Null for nothing. */
function metadataOf(
  { repair, warnings: ofEncoding }: EncodedForUpstream,
  ofAdmission: readonly Warning[],
): Record<string, unknown> | null {
  const warnings = [...ofAdmission, ...ofEncoding];
  if (repair === null && warnings.length === 0) return null;
  return {
    ...(repair === null ? {} : { repairs: describeRepairs(repair.counts) }),
    ...(warnings.length === 0 ? {} : { warnings }),
  };
}

function describeRepairs(counts: RepairCounts): Record<string, number> {
  return {
    duplicate_calls_removed: counts.duplicateCallsRemoved,
    orphan_results_removed: counts.orphanResultsRemoved,
    placeholders_added: counts.placeholdersAdded,
    ids_mapped: counts.idsMapped,
  };
}
