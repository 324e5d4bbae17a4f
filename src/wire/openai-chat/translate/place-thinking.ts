import { type Part, plainReasoning, type ReasoningPart } from "../../canonical/parts.ts";
import type { ConversationRequest, Message } from "../../canonical/request.ts";
import { keepExtras } from "./extras.ts";

/**
 * Puts the reasoning of earlier turns among the contents, as `thinking` parts: for hosts that take it there and nowhere
 * else. Only reasoning that is text alone goes; what bears a proof is another vendor's.
 */
export function placeThinking(request: ConversationRequest): ConversationRequest {
  return { ...request, messages: request.messages.map(placeInMessage) };
}

function placeInMessage(message: Message): Message {
  if (message.role !== "assistant" || !message.parts.some(isPlain)) return message;
  const parts: Part[] = [];
  let thought = "";
  const flush = (): void => {
    if (thought !== "") parts.push(makeThinking(thought));
    thought = "";
  };
  for (const part of message.parts) {
    if (isPlain(part)) {
      thought += part.text;
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
