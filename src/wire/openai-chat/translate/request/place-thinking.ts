import { type Part, plainReasoning, type ReasoningPart } from "../../../canonical/model/parts.ts";
import type { ConversationRequest, Message } from "../../../canonical/model/request.ts";
import { keepExtras } from "../parts/extras.ts";

/**
 * Moves the reasoning of earlier turns into the content as `thinking` parts, for hosts that accept it only there. Signed or
 * encrypted reasoning is left out, because another vendor made it.
 */
export function placeThinking(request: ConversationRequest): ConversationRequest {
  return { ...request, messages: request.messages.map(placeInMessage) };
}

function placeInMessage(message: Message): Message {
  if (message.role !== "assistant" || !message.parts.some(isPlain)) return message;
  const parts: Part[] = [];
  let thinking = "";
  const flush = (): void => {
    if (thinking !== "") parts.push(makeThinking(thinking));
    thinking = "";
  };
  for (const part of message.parts) {
    if (isPlain(part)) {
      thinking += part.text;
      continue;
    }
    flush();
    parts.push(part);
  }
  flush();
  return { ...message, parts };
}

function isPlain(part: Part): part is ReasoningPart {
  return (
    part.kind === "reasoning" &&
    part.isContent !== true &&
    part.text !== "" &&
    part.signature === null &&
    part.encrypted === null
  );
}

function makeThinking(text: string): ReasoningPart {
  const thinking = { type: "thinking", thinking: [{ type: "text", text }], closed: true };
  return { ...plainReasoning(text), isContent: true, ...keepExtras({}, { thinking }) };
}
