import { REASONING_ORIGINS, type ReasoningPart } from "../canonical/model/parts.ts";
import type { ModelFamily } from "./model-family.ts";

/** The origin of redacted reasoning. Converse does not say which model made it, and only Bedrock takes it back. */
export const BEDROCK_ORIGIN = "bedrock-converse-v1";

/** Encodes a signed or redacted piece of reasoning; null if the model would reject it. */
export function encodeReasoning(part: ReasoningPart, family: ModelFamily) {
  const isFromClaude = part.origin === REASONING_ORIGINS.anthropic && family === "claude";
  if (part.encrypted !== null && (isFromClaude || part.origin === BEDROCK_ORIGIN)) {
    return { reasoningContent: { redactedContent: part.encrypted } };
  }
  if (part.signature === null || !isFromClaude) return null;
  return { reasoningContent: { reasoningText: { text: part.text, signature: part.signature } } };
}
