import { REASONING_ORIGINS, type ReasoningPart } from "../canonical/parts.ts";
import type { ModelFamily } from "./model-family.ts";

/** Whose redacted reasoning it is: which model's, Converse does not say, and only Bedrock takes it back. */
export const BEDROCK_ORIGIN = "bedrock-converse-v1";

/** A signed or redacted piece of reasoning as a block; null where this model would refuse it. */
export function encodeReasoning(part: ReasoningPart, family: ModelFamily) {
  const isClaudes = part.origin === REASONING_ORIGINS.anthropic && family === "claude";
  if (part.encrypted !== null && (isClaudes || part.origin === BEDROCK_ORIGIN)) {
    return { reasoningContent: { redactedContent: part.encrypted } };
  }
  if (part.signature === null || !isClaudes) return null;
  return { reasoningContent: { reasoningText: { text: part.text, signature: part.signature } } };
}
