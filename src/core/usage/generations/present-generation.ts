import { formatNanodollars, toDollars } from "../../../base/numbers/money.ts";
import type { UnitCounts } from "../../../wire/conversation/usage.ts";
import type { Names } from "../../accounts/stores/find-names.ts";
import {
  isOfTokens,
  listAdvisorLines,
  listPriceLines,
  type PriceLine,
  priceAdvisor,
  priceCacheSaving,
  priceWhole,
} from "../../catalog/prices/price-usage.ts";
import {
  type AdvisorRecord,
  type AttemptRecord,
  marginOf,
  outcomeOf,
  type UsageRecord,
} from "../records/records.ts";
import { presentStep } from "../records/route-step.ts";
import { presentRepairs } from "../records/work-record.ts";
import { KeyNumbers, resultOfAttempt, resultOfEntry } from "./candidate-results.ts";
import { explainGeneration } from "./explain-generation.ts";

/** How much of a generation is shown. */
interface GenerationView {
  /** Also shows answers of providers that reveal something about the operator's accounts there. */
  readonly isForOperator: boolean;
}

/** Makes the view of a generation for `GET generation?id=`. The caller is left out: only the caller may ask. */
export function presentGeneration(
  record: UsageRecord,
  { isForOperator }: GenerationView = { isForOperator: false },
): Record<string, unknown> {
  const { createdAt, firstTokenAt, finishedAt } = record;
  return {
    id: record.id,
    request_id: record.requestId,
    session_id: record.sessionId ?? null,
    tags: record.tags ?? [],
    api: record.api,
    client: record.client ?? null,
    client_version: record.clientVersion ?? null,
    requested_model: record.requestedModel,
    fallback_models: record.fallbackModels ?? [],
    named_routes: (record.namedRoutes ?? []).map(presentStep),
    shadow_of: record.shadowOf ?? null,
    model: record.model,
    provider_name: record.provider,
    streamed: record.streamed,
    outcome: outcomeOf(record),
    cancelled: record.outcome === "cancelled",
    status: record.status,
    error_type: record.error,
    error_message: record.errorMessage ?? null,
    error_field: record.errorField ?? null,
    explanation: explainGeneration(record, { isForOperator }),
    finish_reason: record.finishReason,
    native_finish_reason: record.nativeFinishReason,
    replay_of: record.replayOf ?? null,
    replay_by: record.replayBy ?? null,
    replay_saved_nanodollars: record.replaySavedNanodollars ?? 0,
    created_at: new Date(createdAt).toISOString(),
    // Milliseconds.
    latency: firstTokenAt === null ? null : firstTokenAt - createdAt,
    generation_time: firstTokenAt === null || finishedAt === null ? null : finishedAt - firstTokenAt,
    ...presentTokens(record),
    ...presentCosts(record, isForOperator),
    repairs: record.work?.repairs === undefined ? null : presentRepairs(record.work.repairs),
    warnings: (record.work?.warnings ?? []).map(({ field, message }) => ({ field, message })),
    guardrails: (record.work?.warnings ?? []).flatMap(({ guardrail }) => guardrail ?? []),
    cache_marks: record.work?.cacheMarks ?? [],
    advisors: (record.advisors ?? []).map((advisor) => presentAdvisor(advisor, record, isForOperator)),
    ...presentRouting(record, isForOperator),
  };
}

/** Makes the view of a generation for its caller, with the fields that clients of OpenRouter read (docs/migrate-from/openrouter.md). */
export function presentOwnGeneration(record: UsageRecord): Record<string, unknown> {
  const native = (count: number) => (record.estimated ? null : count);
  return {
    ...presentGeneration(record),
    api_type: API_TYPES.get(record.api) ?? null,
    usage: toDollars(record.costNanodollars),
    num_media_prompt: record.images,
    native_tokens_prompt: native(record.promptTokens),
    native_tokens_completion: native(record.completionTokens),
    native_tokens_cached: native(record.cachedTokens),
    native_tokens_reasoning: native(record.reasoningTokens),
    native_tokens_completion_images: native(record.imageCompletionTokens),
    ...NOT_RECORDED,
  };
}

/** The `api_type` of a client API. */
const API_TYPES: ReadonlyMap<string, string> = new Map([
  ["chat.completions", "completions"],
  ["responses", "completions"],
  ["messages", "completions"],
  ["completions", "completions"],
  ["fim", "completions"],
  ["embeddings", "embeddings"],
  ["rerank", "rerank"],
  ["images", "image"],
  ["speech", "tts"],
  ["transcriptions", "stt"],
]);

/** Fields of OpenRouter's generations that are not recorded here. Their values mean nothing. */
const NOT_RECORDED = {
  app_id: null,
  data_region: "global",
  external_user: null,
  http_referer: null,
  moderation_latency: null,
  num_fetches: null,
  num_input_audio_prompt: null,
  num_media_completion: null,
  num_search_results: null,
  origin: "",
  preset_id: null,
  provider_responses: null,
  router: null,
  service_tier: null,
  upstream_id: null,
  user_agent: null,
  web_search_engine: null,
  workspace_id: null,
};

/** Makes the view of a generation in a list, with who made it. */
export function presentGenerationLine(record: UsageRecord, names: Names): Record<string, unknown> {
  const { createdAt, firstTokenAt, finishedAt } = record;
  return {
    id: record.id,
    request_id: record.requestId,
    created_at: new Date(createdAt).toISOString(),
    account_id: record.accountId,
    account_name: names.account(record.accountId),
    key_id: record.keyId,
    key_name: names.key(record.keyId),
    user_id: record.userId,
    user_name: names.account(record.userId),
    team_id: record.teamId ?? null,
    team_name: names.team(record.teamId ?? null),
    session_id: record.sessionId ?? null,
    tags: record.tags ?? [],
    client: record.client ?? null,
    client_version: record.clientVersion ?? null,
    api: record.api,
    requested_model: record.requestedModel,
    model: record.model,
    provider_name: record.provider,
    streamed: record.streamed,
    outcome: outcomeOf(record),
    status: record.status,
    error_type: record.error,
    error_message: record.errorMessage ?? null,
    replay_of: record.replayOf ?? null,
    finish_reason: record.finishReason,
    latency: firstTokenAt === null ? null : firstTokenAt - createdAt,
    duration: finishedAt === null ? null : finishedAt - createdAt,
    attempts: record.attempts.length,
    tokens_prompt: record.promptTokens,
    tokens_completion: record.completionTokens,
    tokens_cached: record.cachedTokens,
    total_cost: toDollars(record.costNanodollars),
    total_cost_nanodollars: record.costNanodollars,
    is_byok: record.isByok,
  };
}

function presentTokens(record: UsageRecord): Record<string, unknown> {
  return {
    tokens_prompt: record.promptTokens,
    tokens_completion: record.completionTokens,
    tokens_cached: record.cachedTokens,
    tokens_cache_write: record.cacheWriteTokens,
    tokens_cache_write_1h: record.cacheWrite1hTokens,
    tokens_reasoning: record.reasoningTokens,
    tokens_audio_prompt: record.audioPromptTokens,
    tokens_audio_completion: record.audioCompletionTokens,
    tokens_image_completion: record.imageCompletionTokens,
    images_prompt: record.images,
    web_searches: record.searches,
    search_context: record.searchContext,
    units: record.units === undefined ? null : presentUnits(record.units),
    estimated: record.estimated,
  };
}

function presentUnits(units: UnitCounts): Record<string, unknown> {
  const { characters = 0, audioSeconds = 0, generatedImages = 0, imageSize, imageQuality } = units;
  return {
    characters,
    audio_seconds: audioSeconds,
    generated_images: generatedImages,
    image_size: imageSize ?? null,
    image_quality: imageQuality ?? null,
  };
}

function presentCosts(record: UsageRecord, isForOperator: boolean): Record<string, unknown> {
  const list = showsList(record, isForOperator) ? record.upstreamCostNanodollars : priceCharged(record);
  return {
    total_cost: toDollars(record.costNanodollars),
    total_cost_nanodollars: record.costNanodollars,
    upstream_inference_cost: toDollars(list),
    cache_discount: toDollars(priceCacheSaving(record.prices, record)),
    is_byok: record.isByok,
    prices: record.prices,
    pricing: presentPricing(record),
    list_prices: isForOperator ? (record.listPrices ?? record.prices) : null,
    margin_nanodollars: isForOperator ? marginOf(record) : null,
  };
}

/** Whether the provider's list price is shown. Callers must not be able to compute the operator's markup. */
function showsList({ isByok, listPrices }: UsageRecord, isForOperator: boolean): boolean {
  return isForOperator || isByok || listPrices === undefined;
}

/** Returns the cost by the prices that the account pays, whether or not its allowance covered it. Nanodollars. */
function priceCharged(record: UsageRecord): number {
  if (record.outcome === "open") return 0;
  return priceWhole({ prices: record.prices, usage: record, advisors: record.advisors ?? [] });
}

/** Returns the plan and the attempts of a generation. The names of platform keys are the operator's. */
function presentRouting(record: UsageRecord, isForOperator: boolean): Record<string, unknown> {
  const numbers = new KeyNumbers(record);
  const ownKeys = new Set(record.attempts.filter(({ isByok }) => isByok).map(({ key }) => key));
  const nameKey = ({ key }: { readonly key?: string }) =>
    key !== undefined && (isForOperator || ownKeys.has(key)) ? key : null;
  return {
    plan: record.plan.map((entry) => ({
      provider_name: entry.provider,
      model: entry.model,
      key: nameKey(entry),
      key_number: numbers.find(entry),
      is_candidate: entry.isCandidate,
      result: resultOfEntry(entry, record),
      reason: entry.why,
      ...(entry.until === undefined ? {} : { until: new Date(entry.until).toISOString() }),
      ...(entry.format === undefined ? {} : { upstream_format: entry.format }),
    })),
    attempts: record.attempts.map((attempt) => ({
      provider_name: attempt.provider,
      model: attempt.model ?? null,
      key: nameKey(attempt),
      key_number: numbers.find(attempt),
      result: resultOfAttempt(attempt),
      ...presentAttempt(attempt, isForOperator),
    })),
  };
}

function presentAttempt(attempt: AttemptRecord, isForOperator: boolean): Record<string, unknown> {
  const isKnown = isForOperator || attempt.isByok || attempt.isPrivate !== true;
  return {
    upstream_model: attempt.upstreamModel,
    upstream_format: attempt.format ?? null,
    is_byok: attempt.isByok,
    started_at: new Date(attempt.startedAt).toISOString(),
    duration_ms: attempt.durationMs,
    upstream_status: isForOperator ? attempt.upstreamStatus : publicStatus(attempt),
    error_type: attempt.error,
    upstream_code: isKnown ? (attempt.upstreamCode ?? null) : null,
    upstream_message: isKnown ? (attempt.upstreamMessage ?? null) : null,
  };
}

/**
 * Returns the upstream's status, if the caller may know it. A status below 500 of an attempt that failed as `unavailable` means that the
 * account at the provider has no credit. Only the owner of a BYOK key may know that.
 */
function publicStatus({ error, upstreamStatus, isByok }: AttemptRecord): number | null {
  if (isByok) return upstreamStatus;
  return error === "unavailable" && upstreamStatus !== null && upstreamStatus < 500 ? null : upstreamStatus;
}

/**
 * Returns the products of counts and prices. Their sum, rounded half up, is the charge to the account, or for BYOK keys without a fee the
 * provider's bill.
 */
function presentPricing(record: UsageRecord): Record<string, unknown>[] {
  if (record.outcome === "open") return [];
  const own = record.prices === null ? [] : listPriceLines(record.prices, record).map(presentLine);
  const advisors = (record.advisors ?? []).flatMap((advisor) =>
    listAdvisorLines(advisor).map((line) => ({ model: nameOf(advisor), ...presentLine(line) })),
  );
  return [...own, ...advisors];
}

function presentLine({ kind, count, price, cost }: PriceLine): Record<string, unknown> {
  return {
    kind,
    ...(isOfTokens(kind) ? { tokens: count } : { count }),
    price,
    cost_nanodollars: formatNanodollars(cost),
  };
}

function presentAdvisor(
  advisor: AdvisorRecord,
  record: UsageRecord,
  isForOperator: boolean,
): Record<string, unknown> {
  const list = showsList(record, isForOperator) ? advisor.upstreamCostNanodollars : priceAdvisor(advisor);
  return {
    model: nameOf(advisor),
    tokens_prompt: advisor.promptTokens,
    tokens_completion: advisor.completionTokens,
    tokens_cached: advisor.cachedTokens,
    tokens_cache_write: advisor.cacheWriteTokens,
    upstream_inference_cost: toDollars(list),
  };
}

function nameOf({ modelId, model }: AdvisorRecord): string {
  return modelId ?? model;
}
