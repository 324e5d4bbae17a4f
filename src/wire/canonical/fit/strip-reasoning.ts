import type { Part } from "../model/parts.ts";
import type { ConversationRequest, Message, ReasoningParameters } from "../model/request.ts";

/**
 * Removes the reasoning of earlier turns and the vendors' signatures, for a vendor that would reject those of another. Messages that held
 * only reasoning are dropped. The spelling of the reasoning parameters is dropped as well, because it may be invalid for the remaining
 * conversation. If `keepsContent` is set, reasoning within contents is kept.
 */
export function stripReasoning(request: ConversationRequest, keepsContent = false): ConversationRequest {
  return {
    ...request,
    reasoning: request.reasoning === null ? null : stripSpelling(request.reasoning),
    messages: request.messages.flatMap((message) => stripMessage(message, keepsContent)),
  };
}

/** Returns reasoning parameters without their spelling, which may be invalid for a conversation that lost its reasoning. */
export function stripSpelling({ extras: _, ...parameters }: ReasoningParameters): ReasoningParameters {
  return parameters;
}

function stripMessage(message: Message, keepsContent: boolean): Message[] {
  const stays = (part: Part): boolean =>
    !isReasoning(part) || (keepsContent && part.kind === "reasoning" && part.isContent === true);
  const parts = message.parts.filter(stays).map(stripSignature);
  if (parts.length === message.parts.length) return [{ ...message, parts }];
  return parts.length === 0 ? [] : [{ ...message, parts, lacksReasoning: true }];
}

/** Whether a part is reasoning in any form. Reasoning that the canonical model cannot represent is a native part of that name. */
function isReasoning(part: Part): boolean {
  return part.kind === "reasoning" || (part.kind === "native" && part.type === "reasoning");
}

function stripSignature(part: Part): Part {
  if (part.kind === "reasoning" || !("signature" in part) || part.signature === undefined) return part;
  const { signature: _, ...rest } = part;
  return rest;
}
