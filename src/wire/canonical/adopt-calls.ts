import { mapSame } from "./map-same.ts";
import type { FormatName, Part, ToolCallPart } from "./parts.ts";
import type { ConversationRequest, Message } from "./request.ts";

/**
 * Makes plain tool calls of the calls that only their own format has, where they have a plain result and the target
 * speaks another format. Otherwise the target's encoder would leave the call out, and its result would answer nothing.
 */
export function adoptHostedCalls(request: ConversationRequest, format: FormatName): ConversationRequest {
  const isForeign = (part: Part): boolean => hostedCallOf(part, format) !== null;
  if (!request.messages.some(({ parts }) => parts.some(isForeign))) return request;
  const answered = listAnsweredIds(request.messages);
  const adopt = (part: Part): Part => {
    const call = hostedCallOf(part, format);
    return call !== null && answered.has(call.id) ? call : part;
  };
  const messages = request.messages.map((message) => {
    const parts = mapSame(message.parts, adopt);
    return parts === message.parts ? message : { ...message, parts };
  });
  return { ...request, messages };
}

/** The call that a part of another format is; null for all else. */
function hostedCallOf(part: Part, format: FormatName): ToolCallPart | null {
  if (part.kind !== "native" || part.call === undefined || part.format === format) return null;
  return { kind: "tool-call", tool: "function", ...part.call };
}

function listAnsweredIds(messages: readonly Message[]): ReadonlySet<string> {
  const ids = new Set<string>();
  for (const { parts } of messages)
    for (const part of parts) if (part.kind === "tool-result") ids.add(part.callId);
  return ids;
}
