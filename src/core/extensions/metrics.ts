import { type Failure, statusOf } from "../../base/failures/errors.ts";
import type { RepairCounts } from "../../wire/conversation/calls/outline.ts";
import type {
  AdmittedCall,
  BeginningAttempt,
  Extension,
  ExtensionPoints,
} from "../generation/call/extension.ts";
import { METRICS } from "../telemetry/metric-declarations.ts";
import type { Counter, MetricRegistry } from "../telemetry/metric-registry.ts";
import type { RequestObserver } from "../telemetry/request-observer.ts";
import {
  type AttemptRecord,
  outcomeOf as shownOutcomeOf,
  type UsageRecord,
} from "../usage/records/records.ts";

/** The label value for requests that reached no provider. */
const NONE = "none";
/** The value of the label `model` for a name that the catalog does not have. */
const OTHER = "other";

/** How an inference request ended, as metrics and traces distinguish it. `rejected`: the request or its caller is at fault. */
export type RequestOutcome = "completed" | "cached" | "failed" | "rejected" | "cancelled";

/** Returns how a generation ended. A rate limit of the provider is the gateway's failure, one of the caller is not. */
export function outcomeOf(
  record: Pick<UsageRecord, "outcome" | "replayBy" | "attempts">,
  failure: Failure | null,
): RequestOutcome {
  const outcome = shownOutcomeOf(record);
  if (outcome === "completed" || outcome === "cached" || outcome === "cancelled") return outcome;
  if (failure === null || (failure.code === "rate_limit_exceeded" && record.attempts.length > 0))
    return "failed";
  return outcomeOfFailure(failure);
}

/** Returns how a request ended that became no generation. */
export function outcomeOfFailure(failure: Failure): RequestOutcome {
  return statusOf(failure) >= 500 ? "failed" : "rejected";
}

/** The dependencies of request metrics. */
interface RequestMetricsParts {
  readonly registry: MetricRegistry;
  /** Returns the id of a model or tier in the catalog; null for any other text, which must not become a label. */
  readonly findModelId: (text: string) => string | null;
}

/** Records metrics of requests, attempts, tokens and costs. */
export function createRequestMetrics({
  registry,
  findModelId,
}: RequestMetricsParts): Extension & RequestObserver {
  const requests = registry.counter(METRICS.requests);
  const duration = registry.histogram(METRICS.requestDuration);
  const overhead = registry.histogram(METRICS.overhead);
  const refused = registry.counter(METRICS.refused);
  const saved = registry.counter(METRICS.answersSaved);
  const record = createRecordMetrics(registry);
  const labelOf = (model: string | null) => (model === null ? NONE : (findModelId(model) ?? OTHER));
  const recorders: GenerationRecorders = {
    countRepairs: createRepairMetrics(registry),
    countAttempt: createAttemptMetrics(registry),
    recordEnd(settled, failure, { receivedAt, stopwatch }) {
      const outcome = outcomeOf(settled, failure);
      const model = settled.model ?? labelOf(settled.requestedModel);
      requests.add(1, settled.api, model, settled.provider ?? NONE, outcome);
      duration.observe(stopwatch.elapsedMs() / 1_000, settled.api, outcome);
      record(settled, receivedAt);
      const { replaySavedNanodollars: savedCost } = settled;
      if (savedCost !== undefined) saved.add(savedCost, settled.api, settled.replayBy ?? NONE);
      if (failure?.code === "content_blocked") refused.add(1, failure.code);
    },
  };
  return {
    name: "metrics",
    attach: ({ call }) => new MeasuredGeneration(recorders, call),
    onRejected({ api, model }, failure, durationMs) {
      const outcome = outcomeOfFailure(failure);
      requests.add(1, api, labelOf(model), NONE, outcome);
      duration.observe(durationMs / 1_000, api, outcome);
      refused.add(1, failure.code);
    },
    onRefused: (failure) => refused.add(1, failure.code),
    onAnswered: (api, addedMs) => overhead.observe(addedMs / 1_000, api),
  };
}

/** The times that are measured of a generation. */
type Timed = Pick<AdmittedCall, "receivedAt" | "stopwatch">;

/** The recorders of a generation's metrics. */
interface GenerationRecorders {
  countRepairs(attempt: BeginningAttempt): void;
  countAttempt(attempt: AttemptRecord): void;
  recordEnd(record: UsageRecord, failure: Failure | null, timed: Timed): void;
}

/** A class, because an object with closures costs several times as much per request. Keeps no more of the call than it needs. */
class MeasuredGeneration implements ExtensionPoints {
  readonly receivedAt: Timed["receivedAt"];
  readonly stopwatch: Timed["stopwatch"];

  constructor(
    private readonly recorders: GenerationRecorders,
    { receivedAt, stopwatch }: Timed,
  ) {
    this.receivedAt = receivedAt;
    this.stopwatch = stopwatch;
  }

  beforeAttempt(attempt: BeginningAttempt): null {
    this.recorders.countRepairs(attempt);
    return null;
  }

  onAttempt(attempt: AttemptRecord): void {
    this.recorders.countAttempt(attempt);
  }

  onSettled(record: UsageRecord, failure: Failure | null): void {
    this.recorders.recordEnd(record, failure, this);
  }
}

/** Returns a function that counts tokens, cost and the time to the first token of a final record. */
function createRecordMetrics(registry: MetricRegistry): (record: UsageRecord, receivedAt: number) => void {
  const firstToken = registry.histogram(METRICS.timeToFirstToken);
  const tokens = registry.counter(METRICS.tokens);
  const cost = registry.counter(METRICS.cost);
  return (record, receivedAt) => {
    const { model, provider, firstTokenAt } = record;
    if (model === null || provider === null) return;
    if (record.streamed && firstTokenAt !== null)
      firstToken.observe(Math.max(0, firstTokenAt - receivedAt) / 1_000, model, provider);
    // Without an answer the prompt is only an estimate, and nothing is charged.
    if (firstTokenAt === null) return;
    countTokens(tokens, model, record);
    for (const advisor of record.advisors ?? [])
      countTokens(tokens, advisor.modelId ?? OTHER, { ...advisor, reasoningTokens: 0 });
    cost.add(record.costNanodollars, model, provider, "paid");
    cost.add(record.upstreamCostNanodollars, model, provider, "list");
  };
}

type CountedTokens = Pick<
  UsageRecord,
  "promptTokens" | "completionTokens" | "cachedTokens" | "cacheWriteTokens" | "reasoningTokens"
>;

/** Counts tokens by disjoint kinds, so that their sum is the number of all tokens. */
function countTokens(
  tokens: Counter<typeof METRICS.tokens.labels>,
  model: string,
  { promptTokens, completionTokens, cachedTokens, cacheWriteTokens, reasoningTokens }: CountedTokens,
): void {
  tokens.add(Math.max(0, promptTokens - cachedTokens - cacheWriteTokens), model, "prompt");
  if (cachedTokens > 0) tokens.add(cachedTokens, model, "prompt_cached");
  if (cacheWriteTokens > 0) tokens.add(cacheWriteTokens, model, "prompt_cache_write");
  tokens.add(Math.max(0, completionTokens - reasoningTokens), model, "completion");
  if (reasoningTokens > 0) tokens.add(reasoningTokens, model, "reasoning");
}

function createAttemptMetrics(registry: MetricRegistry): (attempt: AttemptRecord) => void {
  const attempts = registry.counter(METRICS.attempts);
  return (attempt) => attempts.add(1, attempt.provider, resultOf(attempt));
}

/** Returns the result of an attempt: `ok`, `cancelled` if its client left, or why it failed. */
export function resultOf({ error, upstreamStatus }: AttemptRecord): string {
  return error ?? (upstreamStatus === null ? "cancelled" : "ok");
}

/** Returns a function that counts the repairs of a request before each attempt that sends it. */
function createRepairMetrics(registry: MetricRegistry): (attempt: BeginningAttempt) => void {
  const counter = registry.counter(METRICS.repairs);
  return ({ repairs }) => {
    if (repairs === null) return;
    for (const [kind, field] of REPAIR_KINDS) if (repairs[field] > 0) counter.add(repairs[field], kind);
  };
}

/** As `gateway_metadata.repairs` of answers names them. */
const REPAIR_KINDS: readonly (readonly [string, keyof RepairCounts])[] = [
  ["duplicate_calls_removed", "duplicateCallsRemoved"],
  ["orphan_results_removed", "orphanResultsRemoved"],
  ["placeholders_added", "placeholdersAdded"],
  ["ids_mapped", "idsMapped"],
];
