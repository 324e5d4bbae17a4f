import { asFields, type Fields } from "../../base/json/fields.ts";
import { fitParts, NO_TOKENS, readCount, type TokenUsage } from "../conversation/usage.ts";

/**
 * Reads a usage object; null if it counts no tokens. `inputTokens` does not include tokens read from or written to the cache
 * (Bedrock user guide, "Prompt caching"), so the prompt is the sum of the three.
 */
export function readUsage(usage: Fields | null): TokenUsage | null {
  const input = readCount(usage?.["inputTokens"]) ?? 0;
  const completionTokens = readCount(usage?.["outputTokens"]) ?? 0;
  const cachedTokens = readCount(usage?.["cacheReadInputTokens"]) ?? 0;
  const cacheWriteTokens = readCount(usage?.["cacheWriteInputTokens"]) ?? 0;
  const promptTokens = input + cachedTokens + cacheWriteTokens;
  if (promptTokens === 0 && completionTokens === 0) return null;
  return fitParts({
    ...NO_TOKENS,
    promptTokens,
    completionTokens,
    cachedTokens,
    cacheWriteTokens,
    cacheWrite1hTokens: countHourCacheWrites(usage?.["cacheDetails"]),
  });
}

function countHourCacheWrites(details: unknown): number {
  if (!Array.isArray(details)) return 0;
  return details
    .map(asFields)
    .filter((detail) => detail?.["ttl"] === "1h")
    .reduce((sum, detail) => sum + (readCount(detail?.["inputTokens"]) ?? 0), 0);
}
