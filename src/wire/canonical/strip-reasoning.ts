import type { Part } from "./parts.ts";
import type { ConversationRequest, Message, ReasoningParameters } from "./request.ts";

/**
 * The request without reasoning of earlier turns and without vendors' proofs: for a vendor that would refuse those of
 * another. A message that was nothing but reasoning disappears. How the wish for reasoning was spelled goes too: what is
 * left of the conversation may not bear it in that form. `keepsContent`: reasoning among contents stays.
 */
export function stripReasoning(request: ConversationRequest, keepsContent = false): ConversationRequest {
  return {
    ...request,
    reasoning: request.reasoning === null ? null : stripSpelling(request.reasoning),
    messages: request.messages.flatMap((message) => stripMessage(message, keepsContent)),
  };
}

function stripSpelling({ extras: _, ...wish }: ReasoningParameters): ReasoningParameters {
  return wish;
}

function stripMessage(message: Message, keepsContent: boolean): Message[] {
  const stays = (part: Part): boolean =>
    !isReasoning(part) || (keepsContent && part.kind === "reasoning" && part.isContent === true);
  const parts = message.parts.filter(stays).map(stripProof);
  if (parts.length === message.parts.length) return [{ ...message, parts }];
  return parts.length === 0 ? [] : [{ ...message, parts, lacksReasoning: true }];
}

/** In whatever form: what the hub cannot read of it stays a native part under that name. */
function isReasoning(part: Part): boolean {
  return part.kind === "reasoning" || (part.kind === "native" && part.type === "reasoning");
}

function stripProof(part: Part): Part {
  if (part.kind === "reasoning" || !("signature" in part) || part.signature === undefined) return part;
  const { signature: _, ...rest } = part;
  return rest;
}
