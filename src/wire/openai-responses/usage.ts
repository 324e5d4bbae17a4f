import type { UsageReport } from "../canonical/format.ts";
import { NO_TOKENS, readCount, type TokenUsage } from "../conversation/usage.ts";
import { asFields, type Fields } from "../json/fields.ts";

/** Reads the `usage` of a response. Null when it counts nothing. */
export function decodeUsage(value: unknown): TokenUsage | null {
  const usage = asFields(value);
  const input = readCount(usage?.["input_tokens"]);
  const output = readCount(usage?.["output_tokens"]);
  if (usage === null || (!input && !output)) return null;
  const inputDetails = asFields(usage["input_tokens_details"]) ?? {};
  const outputDetails = asFields(usage["output_tokens_details"]) ?? {};
  const promptTokens = input ?? 0;
  return {
    ...NO_TOKENS,
    promptTokens,
    completionTokens: output ?? 0,
    cachedTokens: Math.min(readCount(inputDetails["cached_tokens"]) ?? 0, promptTokens),
    cacheWriteTokens: readCount(inputDetails["cache_write_tokens"]) ?? 0,
    reasoningTokens: readCount(outputDetails["reasoning_tokens"]) ?? 0,
    audioPromptTokens: readCount(inputDetails["audio_tokens"]) ?? 0,
    audioCompletionTokens: readCount(outputDetails["audio_tokens"]) ?? 0,
  };
}

/** The `usage` that clients read: tokens as OpenAI counts them, and the cost. `vendor` is the vendor's own object. */
export function encodeUsage(report: UsageReport, vendor: Fields): Record<string, unknown> {
  const { usage } = report;
  return {
    ...vendor,
    input_tokens: usage.promptTokens,
    input_tokens_details: {
      ...asFields(vendor["input_tokens_details"]),
      cached_tokens: usage.cachedTokens,
      ...(usage.cacheWriteTokens > 0 ? { cache_write_tokens: usage.cacheWriteTokens } : {}),
      ...(usage.audioPromptTokens > 0 ? { audio_tokens: usage.audioPromptTokens } : {}),
    },
    output_tokens: usage.completionTokens,
    output_tokens_details: {
      ...asFields(vendor["output_tokens_details"]),
      reasoning_tokens: usage.reasoningTokens,
      ...(usage.audioCompletionTokens > 0 ? { audio_tokens: usage.audioCompletionTokens } : {}),
    },
    total_tokens: usage.promptTokens + usage.completionTokens,
    cost: report.cost,
    cost_details: { upstream_inference_cost: report.upstreamInferenceCost },
    is_byok: report.isByok,
    ...(usage.estimated ? { estimated: true } : {}),
  };
}
