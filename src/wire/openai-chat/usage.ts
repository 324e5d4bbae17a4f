import { asFields, asList, type Fields } from "../../base/json/fields.ts";
import { encodeCostDetails } from "../canonical/model/cost-details.ts";
import type { UsageReport } from "../canonical/model/format.ts";
import {
  fitParts,
  readCount,
  readModes,
  readReportedCost,
  readSearchContext,
  type ServedModes,
  type TokenUsage,
  withPriceFacts,
} from "../conversation/usage.ts";

/** Returns the mode in which an answer was served, if a chunk names it. `before` is the mode that earlier chunks named. */
export function followModes(before: ServedModes | undefined, chunk: Fields): ServedModes | undefined {
  return typeof chunk["service_tier"] === "string" ? readModes(chunk) : before;
}

/**
 * Returns the usage of a chunk or answer, wherever the vendor puts it; null if there is none. `before` is the mode that earlier chunks
 * named.
 */
export function findUsage(body: Fields, before?: ServedModes): TokenUsage | null {
  const found =
    asFields(body["usage"]) ??
    asFields(asFields(body["x_groq"])?.["usage"]) ??
    // Moonshot puts it into the first choice.
    asFields(asFields(asList(body["choices"])[0])?.["usage"]);
  const usage = found === null ? null : readUsage(found);
  if (usage === null || found === null) return null;
  return withPriceFacts(usage, followModes(before, body), readReportedCost(found));
}

const NO_DETAILS: Fields = {};

/** Reads a usage object of any vendor of this format. Returns null if it counts nothing. */
function readUsage(usage: Fields): TokenUsage | null {
  const prompt = readCount(usage["prompt_tokens"]) ?? sumCached(usage);
  const completion = readCount(usage["completion_tokens"]);
  // Some vendors send zeros until the last event.
  if (!prompt && !completion) return null;
  const promptDetails = asFields(usage["prompt_tokens_details"]) ?? NO_DETAILS;
  const completionDetails = asFields(usage["completion_tokens_details"]) ?? NO_DETAILS;
  const promptTokens = prompt ?? 0;
  const completionTokens = completion ?? 0;
  const reasoningTokens = readCount(completionDetails["reasoning_tokens"]) ?? 0;
  const total = readCount(usage["total_tokens"]);
  // xAI does not count reasoning as part of the completion. The total shows that; without a total, so does more reasoning than completion.
  const isSeparate =
    reasoningTokens > 0 &&
    (total === null
      ? reasoningTokens > completionTokens
      : total === promptTokens + completionTokens + reasoningTokens);
  const cached =
    readCount(promptDetails["cached_tokens"]) ??
    readCount(usage["prompt_cache_hit_tokens"]) ??
    readCount(usage["cached_tokens"]);
  return fitParts({
    promptTokens,
    completionTokens: isSeparate ? completionTokens + reasoningTokens : completionTokens,
    cachedTokens: cached ?? 0,
    cacheWriteTokens: readCount(promptDetails["cache_write_tokens"]) ?? 0,
    cacheWrite1hTokens: 0,
    reasoningTokens,
    audioPromptTokens: readCount(promptDetails["audio_tokens"]) ?? 0,
    audioCompletionTokens: readCount(completionDetails["audio_tokens"]) ?? 0,
    imageCompletionTokens: readCount(completionDetails["image_tokens"]) ?? 0,
    images: 0,
    searches: countSearches(usage),
    searchContext: readSearchContext(usage["search_context_size"]),
    estimated: false,
  });
}

/** Returns the prompt tokens of a vendor that reports only cached and uncached tokens; null if it reports neither. */
function sumCached(usage: Fields): number | null {
  const hit = readCount(usage["prompt_cache_hit_tokens"]);
  const miss = readCount(usage["prompt_cache_miss_tokens"]);
  return hit === null && miss === null ? null : (hit ?? 0) + (miss ?? 0);
}

/** Counts searches. Perplexity reports queries, xAI the sources it used, and resellers of Claude count as Anthropic does. */
function countSearches(usage: Fields): number {
  const count =
    readCount(usage["num_search_queries"]) ??
    readCount(usage["num_sources_used"]) ??
    readCount(asFields(usage["server_tool_use"])?.["web_search_requests"]);
  return count ?? 0;
}

/** Encodes the `usage` object for clients (docs/api/chat.md, "Usage"). JSON leaves out what is undefined. */
export function encodeUsage(report: UsageReport): Record<string, unknown> {
  const { usage, cost, isByok } = report;
  return {
    prompt_tokens: usage.promptTokens,
    completion_tokens: usage.completionTokens,
    total_tokens: usage.promptTokens + usage.completionTokens,
    prompt_tokens_details: {
      cached_tokens: usage.cachedTokens,
      cache_write_tokens: usage.cacheWriteTokens,
      audio_tokens: usage.audioPromptTokens > 0 ? usage.audioPromptTokens : undefined,
    },
    completion_tokens_details: {
      reasoning_tokens: usage.reasoningTokens,
      audio_tokens: usage.audioCompletionTokens > 0 ? usage.audioCompletionTokens : undefined,
      image_tokens: usage.imageCompletionTokens > 0 ? usage.imageCompletionTokens : undefined,
    },
    server_tool_use: usage.searches > 0 ? { web_search_requests: usage.searches } : undefined,
    cost,
    cost_details: encodeCostDetails(report),
    is_byok: isByok,
    estimated: usage.estimated ? true : undefined,
  };
}
