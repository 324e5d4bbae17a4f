import { asFields, type Fields } from "../../base/json/fields.ts";
import { parseArguments } from "../../base/json/parse-json.ts";
import type {
  CacheMark,
  Part,
  ReasoningPart,
  ToolCallPart,
  ToolResultPart,
} from "../canonical/model/parts.ts";
import type { ConversationRequest, Message } from "../canonical/model/request.ts";
import { encodeCachePoint } from "./encode-cache-point.ts";
import { createDocumentNames, encodeMedia } from "./encode-media.ts";
import { encodeReasoning } from "./encode-reasoning.ts";
import type { BedrockEncoding } from "./encoding.ts";

/** The parts of a request that are its conversation. */
interface EncodedConversation {
  readonly system: Fields[];
  readonly messages: EncodedMessage[];
}

interface EncodedMessage {
  readonly role: "user" | "assistant";
  readonly content: Fields[];
}

/** The text of a user message that Bedrock demands and the client did not send. */
const OPENING_TEXT = "Continue.";
/** The text next to documents, which Bedrock accepts only together with a text. */
const DOCUMENT_TEXT = "See the attached document.";

/**
 * Encodes a conversation for Converse: first the leading system messages in their own field, then alternating user and assistant messages.
 * The first one is a user's, and none is empty.
 * @throws GatewayError `invalid_request` for media that Bedrock cannot fetch or read.
 */
export function encodeConversation(
  request: ConversationRequest,
  encoding: BedrockEncoding,
): EncodedConversation {
  const encoder = new PartEncoder(encoding);
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
        "A system message after other messages was sent as a user message.",
      );
    append(messages, message.role === "assistant" ? "assistant" : "user", encoder.encodeParts(message, at));
  }
  encoder.warnReasoningOmitted();
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

/** Adds the messages and texts that Bedrock demands, and trims what it rejects. */
function completeTurns(messages: EncodedMessage[], encoding: BedrockEncoding): void {
  if (messages[0]?.role !== "user") {
    encoding.warn("messages", "The conversation does not begin with the user; a first message was added.");
    messages.unshift({ role: "user", content: [{ text: OPENING_TEXT }] });
  }
  for (const { role, content } of messages) {
    const hasDocument = content.some((block) => block["document"] !== undefined);
    const hasText = content.some((block) => block["text"] !== undefined);
    if (role === "user" && hasDocument && !hasText) content.push({ text: DOCUMENT_TEXT });
  }
  const last = messages.at(-1);
  const end = last?.content.at(-1)?.["text"];
  // Claude continues a last message of its own, and rejects one that ends with whitespace.
  if (last?.role === "assistant" && typeof end === "string")
    last.content[last.content.length - 1] = { text: end.trimEnd() };
}

/** Encodes the parts of one conversation as blocks. `at` is the index of the message. */
class PartEncoder {
  private readonly chooseName = createDocumentNames();
  private hasOmittedReasoning = false;

  constructor(private readonly encoding: BedrockEncoding) {}

  encodeSystem(message: Message, at: number): Fields[] {
    return message.parts.flatMap((part, index) => {
      const field = `messages[${at}].content[${index}]`;
      const blocks = part.kind === "text" ? encodeText(part.text) : this.warnOmitted(part.kind, field);
      return withCachePoint(blocks, part.cache, this.encoding);
    });
  }

  encodeParts(message: Message, at: number): Fields[] {
    return message.parts.flatMap((part, index) => {
      const blocks = this.encodePart(part, message.role, `messages[${at}].content[${index}]`);
      return part.kind === "reasoning" ? blocks : withCachePoint(blocks, findMark(part), this.encoding);
    });
  }

  /** Warns once if reasoning was left out. */
  warnReasoningOmitted(): void {
    if (this.hasOmittedReasoning)
      this.encoding.warn("messages", "Reasoning that this model did not write was left out.");
  }

  private encodePart(part: Part, role: Message["role"], field: string): Fields[] {
    switch (part.kind) {
      case "text":
      case "refusal":
        return encodeText(part.text);
      case "reasoning":
        return this.encodeReasoning(part);
      case "tool-call":
        return [encodeCall(part)];
      case "tool-result":
        return [this.encodeResult(part, field)];
      case "native":
        return part.format === "bedrock-converse" ? [part.value] : this.warnOmitted(part.type, field);
      default:
        return role === "assistant"
          ? this.warnOmitted(part.kind, field)
          : [encodeMedia(part, field, this.chooseName)];
    }
  }

  private encodeReasoning(part: ReasoningPart): Fields[] {
    const block = encodeReasoning(part, this.encoding.family);
    this.hasOmittedReasoning ||= block === null;
    return block === null ? [] : [block];
  }

  private encodeResult(part: ToolResultPart, field: string): Fields {
    const content = part.content.flatMap((inner, index) =>
      this.encodeResultPart(inner, `${field}.content[${index}]`),
    );
    const { family } = this.encoding;
    // Only these two families take a status.
    const hasStatus = part.isError && (family === "claude" || family === "nova");
    return { toolResult: { toolUseId: part.callId, content, ...(hasStatus ? { status: "error" } : {}) } };
  }

  private encodeResultPart(part: Part, field: string): Fields[] {
    switch (part.kind) {
      case "text":
      case "refusal":
        return encodeText(part.text);
      case "image":
      case "video":
      case "file":
        return [encodeMedia(part, field, this.chooseName)];
      default:
        return this.warnOmitted(part.kind, field);
    }
  }

  private warnOmitted(what: string, field: string): Fields[] {
    this.encoding.warn(field, `The ${what} was left out: this model's provider does not support it here.`);
    return [];
  }
}

/** Encodes a text. Bedrock rejects blank ones. */
function encodeText(text: string): Fields[] {
  return text.trim() === "" ? [] : [{ text }];
}

function encodeCall(part: ToolCallPart): Fields {
  const input = part.tool === "custom" ? { input: part.arguments } : readInput(part);
  return { toolUse: { toolUseId: part.id, name: part.name, input } };
}

/**
 * Returns the arguments as the object that Bedrock demands. Arguments that are not one are passed as text, so that the model sees
 * its mistake.
 */
function readInput(call: ToolCallPart): unknown {
  if (call.arguments.trim() === "") return {};
  const value = parseArguments(call);
  if (value === null) return {};
  return asFields(value) ?? { arguments: value ?? call.arguments };
}

/**
 * Returns the cache mark of a part. A mark inside a tool result applies to the result, because Bedrock has no place for it
 * inside.
 */
function findMark(part: Part): CacheMark | undefined {
  if (part.cache !== undefined || part.kind !== "tool-result") return part.cache;
  return part.content.findLast((inner) => inner.cache !== undefined)?.cache;
}

function withCachePoint(blocks: Fields[], mark: CacheMark | undefined, encoding: BedrockEncoding): Fields[] {
  return mark === undefined || blocks.length === 0
    ? blocks
    : [...blocks, ...encodeCachePoint(mark, encoding)];
}
