import type { CacheMark, Part, ReasoningPart, ToolCallPart, ToolResultPart } from "../canonical/parts.ts";
import type { ConversationRequest, Message } from "../canonical/request.ts";
import { asFields, type Fields } from "../json/fields.ts";
import { parseArguments } from "../json/parse-json.ts";
import { encodeCachePoint } from "./encode-cache-point.ts";
import { createDocumentNames, encodeMedia } from "./encode-media.ts";
import type { Encoding } from "./encoding.ts";
import { encodeReasoning } from "./reasoning-origin.ts";

/** The parts of a request that are its conversation. */
export interface EncodedConversation {
  readonly system: Fields[];
  readonly messages: EncodedMessage[];
}

interface EncodedMessage {
  readonly role: "user" | "assistant";
  readonly content: Fields[];
}

/** Stands where Bedrock demands a user's words and there are none. */
const NO_WORDS = "Continue.";
/** Stands beside documents, which Bedrock takes only together with a text. */
const ABOUT_DOCUMENTS = "See the attached document.";

/**
 * Puts a conversation into Converse's shape: system messages at its start apart, users and assistants in turns, none of
 * them empty, the first a user's.
 * @throws GatewayError `invalid_request` for media that Bedrock cannot reach or read.
 */
export function encodeConversation(request: ConversationRequest, encoding: Encoding): EncodedConversation {
  const encoder = createPartEncoder(encoding);
  const system: Fields[] = [];
  const messages: EncodedMessage[] = [];
  let isStart = true;
  for (const [at, message] of request.messages.entries()) {
    const isSystem = message.role === "system" || message.role === "developer";
    isStart &&= isSystem;
    if (isStart) {
      for (const block of encoder.encodeSystem(message, at)) system.push(block);
      continue;
    }
    if (isSystem)
      encoding.warn(
        `messages[${at}].role`,
        "A system message after the first others was sent as the user's.",
      );
    append(messages, message.role === "assistant" ? "assistant" : "user", encoder.encodeParts(message, at));
  }
  encoder.warnOfReasoning();
  completeTurns(messages, encoding);
  if (request.cache !== undefined)
    messages.at(-1)?.content.push(...encodeCachePoint(request.cache, encoding));
  return { system, messages };
}

function append(messages: EncodedMessage[], role: EncodedMessage["role"], content: Fields[]): void {
  if (content.length === 0) return;
  const last = messages.at(-1);
  if (last?.role !== role) messages.push({ role, content });
  else for (const block of content) last.content.push(block);
}

/** Adds and trims what Bedrock refuses a conversation for. */
function completeTurns(messages: EncodedMessage[], encoding: Encoding): void {
  if (messages[0]?.role !== "user") {
    encoding.warn("messages", "The conversation does not begin with the user; a first message was added.");
    messages.unshift({ role: "user", content: [{ text: NO_WORDS }] });
  }
  for (const { role, content } of messages) {
    const hasDocument = content.some((block) => block["document"] !== undefined);
    const hasText = content.some((block) => block["text"] !== undefined);
    if (role === "user" && hasDocument && !hasText) content.push({ text: ABOUT_DOCUMENTS });
  }
  const last = messages.at(-1);
  const end = last?.content.at(-1)?.["text"];
  // Claude goes on with a last message of its own, and refuses one that ends in blanks.
  if (last?.role === "assistant" && typeof end === "string")
    last.content[last.content.length - 1] = { text: end.trimEnd() };
}

interface PartEncoder {
  encodeSystem(message: Message, at: number): Fields[];
  encodeParts(message: Message, at: number): Fields[];
  warnOfReasoning(): void;
}

function createPartEncoder(encoding: Encoding): PartEncoder {
  const chooseName = createDocumentNames();
  let reasoningLeftOut = false;

  const encodeThought = (part: ReasoningPart): Fields[] => {
    const block = encodeReasoning(part, encoding.family);
    reasoningLeftOut ||= block === null;
    return block === null ? [] : [block];
  };

  const encodeResult = (part: ToolResultPart, field: string): Fields => {
    const content = part.content.flatMap((inner, at) => encodeResultPart(inner, `${field}.content[${at}]`));
    // Only these two families know the field.
    const saysStatus = part.isError && (encoding.family === "claude" || encoding.family === "nova");
    return { toolResult: { toolUseId: part.callId, content, ...(saysStatus ? { status: "error" } : {}) } };
  };

  const encodeResultPart = (part: Part, field: string): Fields[] => {
    switch (part.kind) {
      case "text":
      case "refusal":
        return encodeText(part.text);
      case "image":
      case "video":
      case "file":
        return [encodeMedia(part, field, chooseName)];
      default:
        return leaveOut(part.kind, field);
    }
  };

  const leaveOut = (what: string, field: string): Fields[] => {
    encoding.warn(field, `The ${what} was left out: this model's provider takes none here.`);
    return [];
  };

  const encodePart = (part: Part, role: Message["role"], field: string): Fields[] => {
    switch (part.kind) {
      case "text":
      case "refusal":
        return encodeText(part.text);
      case "reasoning":
        return encodeThought(part);
      case "tool-call":
        return [encodeCall(part)];
      case "tool-result":
        return [encodeResult(part, field)];
      case "native":
        return part.format === "bedrock-converse" ? [part.value] : leaveOut(part.type, field);
      default:
        return role === "assistant" ? leaveOut(part.kind, field) : [encodeMedia(part, field, chooseName)];
    }
  };

  return {
    encodeSystem: (message, at) =>
      message.parts.flatMap((part, place) => {
        const field = `messages[${at}].content[${place}]`;
        const blocks = part.kind === "text" ? encodeText(part.text) : leaveOut(part.kind, field);
        return withCachePoint(blocks, part.cache, encoding);
      }),
    encodeParts: (message, at) =>
      message.parts.flatMap((part, place) => {
        const blocks = encodePart(part, message.role, `messages[${at}].content[${place}]`);
        return part.kind === "reasoning" ? blocks : withCachePoint(blocks, findMark(part), encoding);
      }),
    warnOfReasoning() {
      if (reasoningLeftOut)
        encoding.warn("messages", "Reasoning that this model did not write was left out.");
    },
  };
}

/** Bedrock refuses blank texts. */
function encodeText(text: string): Fields[] {
  return text.trim() === "" ? [] : [{ text }];
}

function encodeCall(part: ToolCallPart): Fields {
  const input = part.tool === "custom" ? { input: part.arguments } : readInput(part);
  return { toolUse: { toolUseId: part.id, name: part.name, input } };
}

/** Arguments as the object that Bedrock demands. What a model wrote wrongly is kept as text, for it to see. */
function readInput(call: ToolCallPart): Fields {
  if (call.arguments.trim() === "") return {};
  const value = parseArguments(call);
  if (value === null) return {};
  return asFields(value) ?? { arguments: value ?? call.arguments };
}

/** A mark inside a tool's result stands for the result: there is no place for it inside. */
function findMark(part: Part): CacheMark | undefined {
  if (part.cache !== undefined || part.kind !== "tool-result") return part.cache;
  return part.content.findLast((inner) => inner.cache !== undefined)?.cache;
}

function withCachePoint(blocks: Fields[], mark: CacheMark | undefined, encoding: Encoding): Fields[] {
  return mark === undefined || blocks.length === 0
    ? blocks
    : [...blocks, ...encodeCachePoint(mark, encoding)];
}
