import { asFields, type Fields } from "../../base/json/fields.ts";
import type { UsageReport } from "../canonical/model/format.ts";
import {
  fitParts,
  NO_TOKENS,
  readCount,
  readModes,
  readReportedCost,
  type TokenUsage,
  withPriceFacts,
} from "../conversation/usage.ts";

/**
 * Decodes the `usage` of a response; null if it counts no tokens. `searchesSeen` is the number of searches in the stream's items,
 * for outputs that leave them out.
 */
export function readUsage(response: Fields, searchesSeen = 0): TokenUsage | null {
  const usage = asFields(response["usage"]);
  const input = readCount(usage?.["input_tokens"]);
  const output = readCount(usage?.["output_tokens"]);
  if (usage === null || (!input && !output)) return null;
  const inputDetails = asFields(usage["input_tokens_details"]) ?? {};
  const outputDetails = asFields(usage["output_tokens_details"]) ?? {};
  const counted = fitParts({
    ...NO_TOKENS,
    promptTokens: input ?? 0,
    completionTokens: output ?? 0,
    cachedTokens: readCount(inputDetails["cached_tokens"]) ?? 0,
    cacheWriteTokens: readCount(inputDetails["cache_write_tokens"]) ?? 0,
    reasoningTokens: readCount(outputDetails["reasoning_tokens"]) ?? 0,
    audioPromptTokens: readCount(inputDetails["audio_tokens"]) ?? 0,
    audioCompletionTokens: readCount(outputDetails["audio_tokens"]) ?? 0,
    imageCompletionTokens: readCount(outputDetails["image_tokens"]) ?? 0,
    searches: countReported(response, usage) ?? Math.max(searchesSeen, countInOutput(response["output"])),
  });
  return withPriceFacts(counted, readModes(response), readReportedCost(usage));
}

/** Returns the number of searches that the vendor reports: OpenAI next to the usage, xAI in it. Null if it reports none. */
function countReported(response: Fields, usage: Fields): number | null {
  const reported = readCount(asFields(asFields(response["tool_usage"])?.["web_search"])?.["num_requests"]);
  if (reported !== null) return reported;
  const tools = asFields(usage["server_side_tool_usage_details"]);
  if (tools === null) return null;
  return (readCount(tools["web_search_calls"]) ?? 0) + (readCount(tools["x_search_calls"]) ?? 0);
}

function countInOutput(output: unknown): number {
  if (!Array.isArray(output)) return 0;
  return output.filter((item) => isSearch(asFields(item) ?? {})).length;
}

/** Returns whether an item is a billed search. Opening a found page, or searching in it, is not billed. */
export function isSearch({ type, status, action }: Fields): boolean {
  if (type !== "web_search_call" && type !== "x_search_call") return false;
  const actionType = asFields(action)?.["type"];
  return status !== "failed" && (actionType === undefined || actionType === "search");
}

/** Encodes the `usage` for clients: tokens as OpenAI counts them, and the cost. `vendor` is the vendor's own object. */
export function encodeUsage(report: UsageReport, vendor: Fields): Record<string, unknown> {
  const { usage } = report;
  return {
    ...vendor,
    input_tokens: usage.promptTokens,
    input_tokens_details: {
      ...asFields(vendor["input_tokens_details"]),
      cached_tokens: usage.cachedTokens,
      cache_write_tokens: usage.cacheWriteTokens,
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
    cost_details: {
      upstream_inference_cost: report.upstreamInferenceCost,
      upstream_inference_input_cost: report.upstreamPromptCost,
      upstream_inference_output_cost: report.upstreamCompletionCost,
    },
    is_byok: report.isByok,
    ...(usage.estimated ? { estimated: true } : {}),
  };
}
