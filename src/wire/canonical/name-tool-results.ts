import type { Part } from "./parts.ts";
import type { ConversationRequest, Message } from "./request.ts";

/**
 * Fills in the tool's name on results that came without it, from the call before that has their id; Gemini wants it.
 * Of calls with one id the last before the result counts, as an id may come again in a later turn.
 */
export function nameToolResults(request: ConversationRequest): ConversationRequest {
  const names = new Map<string, string>();
  return { ...request, messages: request.messages.map((message) => nameMessage(message, names)) };
}

function nameMessage(message: Message, names: Map<string, string>): Message {
  for (const part of message.parts) if (part.kind === "tool-call") names.set(part.id, part.name);
  return message.role === "tool"
    ? { ...message, parts: message.parts.map((part) => name(part, names)) }
    : message;
}

function name(part: Part, names: ReadonlyMap<string, string>): Part {
  if (part.kind !== "tool-result" || part.toolName !== undefined) return part;
  const toolName = names.get(part.callId);
  return toolName === undefined ? part : { ...part, toolName };
}
