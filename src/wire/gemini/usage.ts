import { asFields, type Fields } from "../../base/json/fields.ts";
import { fitParts, NO_TOKENS, readCount, type TokenUsage } from "../conversation/usage.ts";

/**
 * Reads `usageMetadata`; null if it counts no tokens, as in all but the last chunk of Vertex AI. `searches` is counted elsewhere
 * in the answer.
 */
export function readUsage(usage: Fields, searches: number): TokenUsage | null {
  const prompt = readCount(usage["promptTokenCount"]);
  const candidates = readCount(usage["candidatesTokenCount"]);
  const thoughts = readCount(usage["thoughtsTokenCount"]) ?? 0;
  if (!prompt && !candidates && !thoughts) return null;
  // Content that Google's tools fetched is billed as prompt.
  const promptTokens = (prompt ?? 0) + (readCount(usage["toolUsePromptTokenCount"]) ?? 0);
  const total = readCount(usage["totalTokenCount"]);
  const isThoughtsInside = thoughts > 0 && total === promptTokens + (candidates ?? 0);
  return fitParts({
    ...NO_TOKENS,
    promptTokens,
    completionTokens: (candidates ?? 0) + (isThoughtsInside ? 0 : thoughts),
    cachedTokens: readCount(usage["cachedContentTokenCount"]) ?? 0,
    reasoningTokens: thoughts,
    audioPromptTokens: countModality("AUDIO", usage["promptTokensDetails"]),
    audioCompletionTokens: countModality("AUDIO", usage["candidatesTokensDetails"]),
    imageCompletionTokens: countModality("IMAGE", usage["candidatesTokensDetails"]),
    searches,
  });
}

function countModality(modality: "AUDIO" | "IMAGE", details: unknown): number {
  if (!Array.isArray(details)) return 0;
  let count = 0;
  for (const each of details) {
    const detail = asFields(each);
    if (detail?.["modality"] === modality) count += readCount(detail["tokenCount"]) ?? 0;
  }
  return count;
}
