import { type CacheMarking, type MarkableMessage, placeTurnMarks } from "../../conversation/cache-marking.ts";
import type { FormatTraits } from "../../conversation/traits/format-traits.ts";
import type { CacheMark, Part } from "../model/parts.ts";
import type { ConversationRequest, Message, Tool } from "../model/request.ts";

const MARK: CacheMark = { ttl: null };

/** Marks a request without marks for the vendor's cache, in the formats that have marks. Marks nothing if `marking` is null. */
export function markCaches(
  request: ConversationRequest,
  { cacheMarks }: Pick<FormatTraits, "cacheMarks">,
  marking: CacheMarking | null,
): ConversationRequest {
  if (marking === null || cacheMarks !== "blocks") return request;
  const shared = marking.shared ? markShared(request) : request;
  return marking.turns ? { ...shared, messages: markTurns(shared.messages) } : shared;
}

/** Marks the last instruction before the turns; the last tool where there is none. */
function markShared(request: ConversationRequest): ConversationRequest {
  const { messages, tools } = request;
  const first = messages.findIndex((message) => !isInstruction(message));
  const before = messages.slice(0, first < 0 ? messages.length : first);
  const at = before.findLastIndex(({ parts }) => parts.some(mayMark));
  if (at >= 0) return { ...request, messages: messages.with(at, markLast(messages[at] as Message)) };
  const tool = tools.findLastIndex(mayMarkTool);
  return tool < 0
    ? request
    : { ...request, tools: tools.with(tool, { ...tools[tool], cache: MARK } as Tool) };
}

function isInstruction({ role }: Message): boolean {
  return role === "system" || role === "developer";
}

function markLast(message: Message): Message {
  return markBlock(message, message.parts.findLastIndex(mayMark));
}

function markBlock(message: Message, block: number): Message {
  return { ...message, parts: message.parts.with(block, { ...(message.parts[block] as Part), cache: MARK }) };
}

/** Returns whether a tool may be marked. Tools that are loaded later are not in the prefix of the prompt. */
function mayMarkTool(tool: Tool): boolean {
  return tool.kind !== "native" && tool.extras?.fields["defer_loading"] !== true;
}

function markTurns(messages: readonly Message[]): readonly Message[] {
  return placeTurnMarks(messages.map(toMarkable)).reduce<readonly Message[]>(
    (marked, { message, block }) => marked.with(message, markBlock(marked[message] as Message, block)),
    messages,
  );
}

function toMarkable(message: Message): MarkableMessage {
  const isOutside = isInstruction(message);
  return {
    isAssistant: message.role === "assistant",
    blocks: isOutside ? [] : message.parts.map(mayMark),
  };
}

function mayMark(part: Part): boolean {
  if (part.kind === "text") return part.text.trim() !== "";
  return part.kind !== "reasoning" && part.kind !== "native" && part.kind !== "refusal";
}
