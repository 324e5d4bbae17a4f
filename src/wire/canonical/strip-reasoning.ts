import type { Part } from "./parts.ts";
import type { ConversationRequest, Message } from "./request.ts";

/**
 * The request without reasoning of earlier turns and without vendors' proofs: for a vendor that would refuse those of
 * another. A message that was nothing but reasoning disappears.
 */
export function stripReasoning(request: ConversationRequest): ConversationRequest {
  return { ...request, messages: request.messages.flatMap(stripMessage) };
}

function stripMessage(message: Message): Message[] {
  const parts = message.parts.filter((part) => part.kind !== "reasoning").map(stripProof);
  return parts.length === 0 && message.parts.length > 0 ? [] : [{ ...message, parts }];
}

function stripProof(part: Part): Part {
  if ((part.kind !== "text" && part.kind !== "tool-call") || part.signature === undefined) return part;
  const { signature: _, ...rest } = part;
  return rest;
}
