import type { FormatName } from "../../conversation/traits/format-name.ts";
import type { Part, ToolCallPart, ToolResultPart } from "../model/parts.ts";
import type { ConversationRequest, Message } from "../model/request.ts";

/**
 * Converts tool calls and results that exist only in their own format to plain ones, if the target uses another format and both call and
 * result are present. Otherwise the target's encoder would omit the call, and the result would have no call.
 */
export function adoptHostedCalls(request: ConversationRequest, format: FormatName): ConversationRequest {
  const calls = listIds(request.messages, (part) => hostedCallOf(part, format)?.id);
  if (calls.size === 0) return request;
  const results = listIds(request.messages, (part) =>
    part.kind === "tool-result" ? part.callId : hostedResultOf(part, format)?.callId,
  );
  const pairs = calls.intersection(results);
  return {
    ...request,
    messages: request.messages.flatMap((message) => adoptMessage(message, format, pairs)),
  };
}

function listIds(
  messages: readonly Message[],
  read: (part: Part) => string | undefined,
): ReadonlySet<string> {
  const ids = new Set<string>();
  for (const { parts } of messages) {
    for (const part of parts) {
      const id = read(part);
      if (id !== undefined) ids.add(id);
    }
  }
  return ids;
}

/** Returns the plain form of a call that another format has; null for anything else. */
function hostedCallOf(part: Part, format: FormatName): ToolCallPart | null {
  if (part.kind !== "native" || part.call === undefined || part.format === format) return null;
  return { kind: "tool-call", tool: "function", ...part.call };
}

/** Returns the plain form of a result that another format has; null for anything else. */
function hostedResultOf(part: Part, format: FormatName): ToolResultPart | null {
  if (part.kind !== "native" || part.result === undefined || part.format === format) return null;
  const { callId, text } = part.result;
  return { kind: "tool-result", callId, tool: "function", content: [{ kind: "text", text }], isError: false };
}

/** Returns the message with plain calls. Results among its parts become messages of their own. */
function adoptMessage(message: Message, format: FormatName, pairs: ReadonlySet<string>): Message[] {
  if (!message.parts.some((part) => part.kind === "native" && part.format !== format)) return [message];
  const adopted: Message[] = [];
  let parts: Part[] = [];
  const close = (): void => {
    if (parts.length > 0)
      adopted.push(adopted.length === 0 ? { ...message, parts } : { role: message.role, parts });
    parts = [];
  };
  for (const part of message.parts) {
    const call = hostedCallOf(part, format);
    const result = hostedResultOf(part, format);
    if (result !== null && pairs.has(result.callId)) {
      close();
      adopted.push({ role: "tool", parts: [result] });
    } else parts.push(call !== null && pairs.has(call.id) ? call : part);
  }
  close();
  return adopted;
}
