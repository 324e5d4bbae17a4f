import { NO_TOKENS, readCount, type TokenUsage } from "../conversation/usage.ts";
import { asFields, type Fields } from "../json/fields.ts";

/**
 * Reads a usage object; null where it counts nothing. Cohere counts twice: `tokens` is all that its model saw, with
 * what Cohere itself added, and `billed_units` is the client's part, the only one that Cohere charges for ("How does
 * Cohere's pricing work?"). The price is made from these numbers, so they are the billed ones; `tokens` serves where
 * those are missing.
 */
export function readUsage(usage: Fields | null): TokenUsage | null {
  const billed = asFields(usage?.["billed_units"]);
  const seen = asFields(usage?.["tokens"]);
  const seenPrompt = readCount(seen?.["input_tokens"]) ?? 0;
  const promptTokens = readCount(billed?.["input_tokens"]) ?? seenPrompt;
  const completionTokens = readCount(billed?.["output_tokens"]) ?? readCount(seen?.["output_tokens"]) ?? 0;
  if (promptTokens === 0 && completionTokens === 0) return null;
  const cached = readCount(usage?.["cached_tokens"]) ?? 0;
  // Of all it saw. What Cohere added stands first and is cached first, so only what goes beyond that was the client's.
  const added = Math.max(0, seenPrompt - promptTokens);
  const cachedTokens = Math.min(Math.max(0, cached - added), promptTokens);
  return { ...NO_TOKENS, promptTokens, completionTokens, cachedTokens };
}
