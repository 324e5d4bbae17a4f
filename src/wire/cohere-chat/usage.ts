import { asFields, type Fields } from "../../base/json/fields.ts";
import { NO_TOKENS, readCount, type TokenUsage } from "../conversation/usage.ts";

/**
 * Reads a usage object; null if it counts no tokens. Cohere counts twice: `tokens` is all that its model read, including what
 * Cohere added, and `billed_units` is the client's part, the only one that Cohere charges for ("How does Cohere's pricing
 * work?"). Prices are computed from the billed numbers; `tokens` is used where they are missing.
 */
export function readUsage(usage: Fields | null): TokenUsage | null {
  const billed = asFields(usage?.["billed_units"]);
  const seen = asFields(usage?.["tokens"]);
  const seenPrompt = readCount(seen?.["input_tokens"]) ?? 0;
  const promptTokens = readCount(billed?.["input_tokens"]) ?? seenPrompt;
  const completionTokens = readCount(billed?.["output_tokens"]) ?? readCount(seen?.["output_tokens"]) ?? 0;
  if (promptTokens === 0 && completionTokens === 0) return null;
  const cached = readCount(usage?.["cached_tokens"]) ?? 0;
  // Counts all that the model read. What Cohere added comes first and is cached first, so only the excess was the client's.
  const added = Math.max(0, seenPrompt - promptTokens);
  const cachedTokens = Math.min(Math.max(0, cached - added), promptTokens);
  return { ...NO_TOKENS, promptTokens, completionTokens, cachedTokens };
}
