import { type Failure, failureOf, statusOf } from "../../base/errors.ts";
import type { Repair } from "../../wire/conversation/outline.ts";
import { repairToolCalls } from "../../wire/conversation/repair-tool-calls.ts";
import { estimateTokens } from "../../wire/conversation/usage.ts";
import type { RelayIdentity } from "../../wire/openai-chat/relay-stream.ts";
import { type Candidate, planRoute } from "../routing/plan.ts";
import type { AttemptRecord, UsageRecord } from "../usage/records.ts";
import { type Admission, admit, CANNOT_RECORD } from "./admit.ts";
import { type AttemptContext, type AttemptOutcome, attempt } from "./attempt.ts";
import type { GenerationCall, GenerationDeps, GenerationResult } from "./call.ts";
import { Cutoff } from "./cutoff.ts";
import { chooseFailure } from "./judge-failure.ts";
import { relayStream } from "./relay.ts";
import { costOf, encodePricedUsage, estimateUsage, openRecord, settle, withCandidate } from "./settle.ts";

/**
 * Answers a request: admit, plan, then for one candidate after the other repair and attempt, until one has begun to
 * answer; relay; settle. Resolves when the first byte for the client is there.
 * Rejects with a `GatewayError` when the request is not let in; later failures are part of the result.
 */
export async function generate(deps: GenerationDeps, call: GenerationCall): Promise<GenerationResult> {
  const admission = admit(deps, call.caller, call.request);
  const run = new Run(deps, call, admission);
  const plan = planRoute(admission.offers, call.request.preferences, deps.cooldowns, deps.clock.now());
  switch (plan.kind) {
    case "excluded":
      return run.fail(EXCLUDED);
    case "cooling":
      return run.fail(cooling(plan.retryAfterMs));
    case "candidates":
      return run.tryInTurn(plan.candidates.slice(0, deps.maxAttempts));
  }
}

const EXCLUDED: Failure = {
  code: "invalid_request",
  message:
    "The rules in provider (only, ignore, order) leave no provider that serves this model. Relax them.",
  metadata: { field: "provider" },
};

function cooling(retryAfterMs: number): Failure {
  return {
    code: "unavailable",
    message: "No provider of this model is available at the moment. Name another model.",
    retryAfterS: Math.max(1, Math.ceil(retryAfterMs / 1000)),
  };
}

/** One generation from its admission on: its id, its record, what was tried. */
class Run {
  private readonly id: string;
  private readonly cutoff: Cutoff;
  private readonly attempts: AttemptRecord[] = [];
  private readonly failures: Failure[] = [];
  private readonly repairs = new Map<string, Repair | null>();
  private record: UsageRecord;
  private readonly onClientLeft = () => this.cutoff.cut("client_left");

  constructor(
    private readonly deps: GenerationDeps,
    private readonly call: GenerationCall,
    private readonly admission: Admission,
  ) {
    this.id = deps.ids.next("gen");
    this.cutoff = new Cutoff(deps.clock, deps.timers.totalMs);
    this.record = openRecord(deps, call, this.id, admission.modelId);
    deps.active.add(this.cutoff);
    if (call.clientSignal.aborted) this.onClientLeft();
    else call.clientSignal.addEventListener("abort", this.onClientLeft, { once: true });
  }

  async tryInTurn(candidates: readonly Candidate[]): Promise<GenerationResult> {
    try {
      for (const candidate of candidates) {
        const result = await this.tryOne(candidate, candidate === candidates.at(-1));
        if (result !== null) return result;
      }
      return this.fail(chooseFailure(this.failures));
    } catch (error) {
      return this.fail(failureOf(error));
    }
  }

  /** Null: the next candidate may try. */
  private async tryOne(candidate: Candidate, isLast: boolean): Promise<GenerationResult | null> {
    const { deps } = this;
    const startedAt = deps.clock.now();
    this.record = withCandidate(this.record, candidate);
    // Written before the upstream is called: what it bills is known here, even if this process dies now.
    deps.recorder.write(this.record);
    const context = this.contextFor(candidate, isLast);
    const outcome = await attempt(context);
    this.note(candidate, startedAt, outcome);
    switch (outcome.kind) {
      case "streaming":
        return this.relay(context, outcome.begun);
      case "answered":
        return this.answer(context, outcome.reading);
      case "client_left":
        return this.leave();
      case "failed": {
        const { failure, mayTryNext, setAsideMs } = outcome.judgement;
        if (setAsideMs > 0) deps.cooldowns.setAside(candidate.key.label, deps.clock.now() + setAsideMs);
        this.failures.push(failure);
        return mayTryNext ? null : this.fail(failure);
      }
    }
  }

  private contextFor(candidate: Candidate, isLast: boolean): AttemptContext {
    const { deps, call, cutoff } = this;
    const repair = this.repairFor(candidate);
    const identity: RelayIdentity = {
      id: this.id,
      model: candidate.model.id,
      created: Math.floor(this.record.createdAt / 1000),
      wantsUsageChunk: call.request.wantsUsageChunk,
      originalIds: repair?.originalIds.size ? repair.originalIds : null,
      makeCallId: () => deps.ids.next("call"),
    };
    const size = {
      contextLength: candidate.endpoint.contextLength,
      estimatedTokens: estimateTokens(call.request.promptTextBytes),
    };
    return { deps, call, candidate, isLast, cutoff, repair, identity, size };
  }

  /** The tool-call history as this candidate's family takes it; worked out once a family. */
  private repairFor({ provider }: Candidate): Repair | null {
    const { toolCallIds, quirks } = provider.record;
    const allowsOpenCalls = quirks.allowsOpenToolCalls === true;
    const family = `${toolCallIds}/${allowsOpenCalls}`;
    const known = this.repairs.get(family);
    if (known !== undefined) return known;
    const repair = repairToolCalls(this.call.request.outline, { ids: toolCallIds, allowsOpenCalls });
    this.repairs.set(family, repair);
    return repair;
  }

  private note(candidate: Candidate, startedAt: number, outcome: AttemptOutcome): void {
    const failure = outcome.kind === "failed" ? outcome.judgement.failure : null;
    this.attempts.push({
      provider: candidate.provider.record.slug,
      upstreamModel: candidate.endpoint.name,
      startedAt,
      durationMs: this.deps.clock.now() - startedAt,
      upstreamStatus: statusOfAttempt(outcome),
      error: failure?.code ?? null,
    });
    this.record = { ...this.record, attempts: this.attempts };
  }

  private relay(
    context: AttemptContext,
    begun: Extract<AttemptOutcome, { kind: "streaming" }>["begun"],
  ): GenerationResult {
    const { deps, call, cutoff, record } = this;
    const { candidate, size } = context;
    // The record must outlive the process once the client has seen a byte.
    if (!deps.recorder.flush()) {
      begun.exchange.cancel();
      return this.fail(CANNOT_RECORD);
    }
    const stream = relayStream(
      {
        deps,
        call,
        candidate,
        cutoff,
        record,
        size,
        metadata: metadataOf(context.repair),
        firstTokenAt: deps.clock.now(),
        onOver: () => this.over(),
      },
      begun,
    );
    return this.result({ kind: "stream", stream }, candidate);
  }

  private answer(
    { candidate, repair }: AttemptContext,
    reading: Extract<AttemptOutcome, { kind: "answered" }>["reading"],
  ): GenerationResult {
    const { deps, call } = this;
    const usage = reading.usage ?? estimateUsage(call.request.promptTextBytes, reading.producedBytes);
    const metadata = metadataOf(repair);
    const body = JSON.stringify({
      ...reading.body,
      usage: encodePricedUsage(usage, costOf(candidate, usage)),
      ...(metadata === null ? {} : { gateway_metadata: metadata }),
    });
    // An answer that cannot be recorded is not given away.
    if (!deps.recorder.flush()) return this.fail(CANNOT_RECORD);
    this.over();
    settle(deps, call, this.record, candidate, {
      outcome: "completed",
      failure: null,
      status: 200,
      usage,
      finish: reading.finish,
      firstTokenAt: deps.clock.now(),
    });
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
      limit: this.admission.limit,
      answer,
    };
  }
}

/** What logs and records show for a client that left before there was an answer; nobody receives it. */
const CLIENT_LEFT = 499;

const NOTHING = { usage: null, finish: null, firstTokenAt: null } as const;

function statusOfAttempt(outcome: AttemptOutcome): number | null {
  if (outcome.kind === "client_left") return null;
  return outcome.kind === "streaming" ? outcome.begun.response.status : outcome.status;
}

function metadataOf(repair: Repair | null): Record<string, unknown> | null {
  if (repair === null) return null;
  const { duplicateCallsRemoved, orphanResultsRemoved, placeholdersAdded, idsMapped } = repair.counts;
  return {
    repairs: {
      duplicate_calls_removed: duplicateCallsRemoved,
      orphan_results_removed: orphanResultsRemoved,
      placeholders_added: placeholdersAdded,
      ids_mapped: idsMapped,
    },
  };
}
