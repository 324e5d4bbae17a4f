import type { OutlineMessage, Repair, RepairedMessage, ToolCallRules } from "../conversation/outline.ts";
import { INTERRUPTED, repairToolCalls } from "../conversation/repair-tool-calls.ts";
import type { Part, ToolCallPart, ToolResultPart } from "./parts.ts";
import type { ConversationRequest, Message } from "./request.ts";

/** A request whose tool calls the target accepts; `repair` is null where nothing had to change. */
export interface RepairedConversation {
  readonly request: ConversationRequest;
  readonly repair: Repair | null;
}

/** Where an entry of the outline comes from, in its order; `result` is null where it is no tool result. */
interface Source {
  readonly message: Message;
  readonly result: ToolResultPart | null;
}

/** Tool-call repair on a conversation in the hub (docs/contract.md, "Tool-call repair"; see `repairToolCalls`). */
export function repairConversation(request: ConversationRequest, rules: ToolCallRules): RepairedConversation {
  const repair = repairToolCalls(outline(request.messages), rules);
  if (repair === null) return { request, repair };
  const sources = request.messages.flatMap(readSources);
  return { request: { ...request, messages: layOut(sources, repair.messages) }, repair };
}

/** The messages in their order; of a tool message each result. */
function outline(messages: readonly Message[]): OutlineMessage[] {
  const outlined: OutlineMessage[] = [];
  for (const { role, parts } of messages) {
    if (role === "assistant") outlined.push({ kind: "assistant", callIds: listCallIds(parts) });
    else if (role !== "tool") outlined.push(OTHER);
    else for (const part of parts) if (isResult(part)) outlined.push({ kind: "result", callId: part.callId });
  }
  return outlined;
}

const OTHER: OutlineMessage = { kind: "other" };

function listCallIds(parts: readonly Part[]): string[] {
  const ids: string[] = [];
  for (const part of parts) if (isCall(part)) ids.push(part.id);
  return ids;
}

function readSources(message: Message): Source[] {
  if (message.role !== "tool") return [{ message, result: null }];
  return message.parts.filter(isResult).map((result) => ({ message, result }));
}

function isResult(part: Part): part is ToolResultPart {
  return part.kind === "tool-result";
}

function isCall(part: Part): part is ToolCallPart {
  return part.kind === "tool-call";
}

/** The repaired messages. Results that came in one message and still stand together stay in one. */
function layOut(sources: readonly Source[], repaired: readonly RepairedMessage[]): Message[] {
  const messages: Message[] = [];
  /** The message that the results at the end of `messages` came in. */
  let gathering: Message | null = null;
  let calls: readonly ToolCallPart[] = [];
  for (const entry of repaired) {
    const { message, part } = carryBack(entry, sources, calls);
    if (part === null) {
      if (message.role === "assistant") calls = message.parts.filter(isCall);
      messages.push(message);
    } else if (gathering === message) {
      const last = messages.at(-1) as Message;
      messages[messages.length - 1] = { ...last, parts: [...last.parts, part] };
    } else {
      messages.push({ ...message, parts: [part] });
    }
    gathering = part === null ? null : message;
  }
  return messages;
}

const PLACEHOLDERS: Message = { role: "tool", parts: [] };

/** The message that a repaired one stands for, and the tool result in it that is meant, or null. */
function carryBack(
  entry: RepairedMessage,
  sources: readonly Source[],
  calls: readonly ToolCallPart[],
): { readonly message: Message; readonly part: ToolResultPart | null } {
  if (entry.kind === "placeholder") {
    return { message: PLACEHOLDERS, part: makePlaceholder(entry.callId, calls) };
  }
  const { message, result } = sources[entry.from] as Source;
  if (result === null) {
    return { message: entry.calls === null ? message : keepCalls(message, entry.calls), part: null };
  }
  return { message, part: entry.callId === null ? result : { ...result, callId: entry.callId } };
}

/** The message with the calls that stay, under their new ids. */
function keepCalls(
  message: Message,
  kept: readonly { readonly from: number; readonly id: string }[],
): Message {
  const ids = new Map(kept.map(({ from, id }) => [from, id]));
  let place = 0;
  const parts = message.parts.flatMap((part): Part[] => {
    if (!isCall(part)) return [part];
    const id = ids.get(place++);
    return id === undefined ? [] : [id === part.id ? part : { ...part, id }];
  });
  return { ...message, parts };
}

function makePlaceholder(callId: string, calls: readonly ToolCallPart[]): ToolResultPart {
  const call = calls.find(({ id }) => id === callId);
  return {
    kind: "tool-result",
    callId,
    ...(call === undefined ? {} : { toolName: call.name }),
    tool: call?.tool ?? "function",
    content: [{ kind: "text", text: INTERRUPTED }],
    isError: true,
  };
}
