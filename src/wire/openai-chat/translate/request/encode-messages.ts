import { asFields, type Fields, setField } from "../../../../base/json/fields.ts";
import type { Warn } from "../../../canonical/fit/warn.ts";
import { objectArguments } from "../../../canonical/model/object-arguments.ts";
import type {
  MediaPart,
  Part,
  TextPart,
  ToolCallPart,
  ToolResultPart,
} from "../../../canonical/model/parts.ts";
import type { Message } from "../../../canonical/model/request.ts";
import { encodeNative, encodePart } from "../parts/encode-part.ts";
import { keptFields, keptSpelling } from "../parts/extras.ts";
import { encodeMadeImage } from "../parts/made-images.ts";
import { encodeSentReasoning } from "../parts/reasoning-parts.ts";
import { encodeCall } from "../parts/tool-call-parts.ts";

/** Encodes the messages of a request. Media in tool results follow in a user message: this format does not allow them in results. */
export function encodeMessages(messages: readonly Message[], warn: Warn): Fields[] {
  const encoded: Fields[] = [];
  /** Media of tool results, which are sent after all results of their turn. */
  let media: Fields[] = [];
  const sendMedia = (): void => {
    if (media.length > 0) encoded.push({ role: "user", content: media });
    media = [];
  };
  for (const [index, message] of messages.entries()) {
    const context = { message, field: `messages[${index}]`, warn };
    if (message.role === "tool") {
      const results = encodeResults(context);
      for (const result of results.messages) encoded.push(result);
      for (const part of results.media) media.push(part);
      continue;
    }
    sendMedia();
    const single = message.role === "assistant" ? encodeAssistant(context) : encodePrompt(context);
    if (single !== null) encoded.push(single);
  }
  sendMedia();
  return encoded;
}

/** A message to encode, its field in the client's request, and the function that warns of losses. */
interface MessageContext {
  readonly message: Message;
  readonly field: string;
  readonly warn: Warn;
}

/**
 * Separates blocks of a message that become one text. An assistant's blocks are joined without it, because citations split
 * sentences.
 */
const BLOCK_BREAK = "\n\n";

/** Encodes content: as parts if the client sent parts or if there is more than text, otherwise as text, which all hosts accept. */
function encodeContent(
  parts: readonly Part[],
  between: string,
  { message, field, warn }: MessageContext,
): string | readonly Fields[] {
  const cameAsParts = keptSpelling(message)["content"] === "parts";
  const isPlain = !cameAsParts && !parts.some(({ cache }) => cache?.isBreakpoint === true);
  if (isPlain && parts.every(isText)) return joinTexts(parts, between);
  const encoded = parts
    .map((part, index) => encodeContentPart(part, `${field}.content[${index}]`, warn))
    .filter((part) => part !== null);
  const isLeftText = parts.every((part) => isText(part) || isForeign(part));
  return isLeftText && isPlain ? joinTexts(parts.filter(isText), between) : encoded;
}

function isText(part: Part): part is TextPart {
  return part.kind === "text";
}

function isForeign(part: Part): boolean {
  return part.kind === "native" && part.format !== "openai-chat";
}

function joinTexts(parts: readonly TextPart[], between: string): string {
  if (parts.length === 1) return (parts[0] as TextPart).text;
  return parts
    .map(({ text }) => text)
    .filter((text) => text !== "")
    .join(between);
}

function encodeContentPart(part: Part, field: string, warn: Warn): Fields | null {
  const thinking = asFields(keptSpelling(part)["thinking"]);
  return thinking ?? encodePart(part, field, warn);
}

function encodeName({ name }: Message): Fields {
  return name === undefined ? {} : { name };
}

function encodePrompt(context: MessageContext): Fields {
  const { message } = context;
  const role = message.role === "developer" ? (keptSpelling(message)["role"] ?? "system") : message.role;
  const content = encodeContent(message.parts, BLOCK_BREAK, context);
  return { role, content, ...encodeName(message), ...keptFields(message) };
}

/** The content of a tool result that consists of media only. */
const SEE_MEDIA = "The result follows in the next message.";

/**
 * Encodes a tool message as one message per result. Media are returned separately, unless the client sent them within the results.
 */
function encodeResults(context: MessageContext) {
  const { message, field, warn } = context;
  const messages: Fields[] = [];
  const media: Fields[] = [];
  const results = message.parts.filter((part): part is ToolResultPart => part.kind === "tool-result");
  const isOurs = keptSpelling(message)["content"] === "parts";
  for (const result of results) {
    const isText = (part: Part) => isOurs || part.kind === "text" || isDocument(part);
    const texts = result.content.filter(isText);
    const others = result.content.filter((part) => !isText(part));
    const content = encodeContent(texts.map(readDocument), BLOCK_BREAK, context);
    const sent = others
      .map((part, index) => encodePart(part, `${field}.content[${index}]`, warn))
      .filter((part) => part !== null);
    for (const part of sent) media.push(part);
    messages.push({
      role: "tool",
      tool_call_id: result.callId,
      content: content === "" && sent.length > 0 ? SEE_MEDIA : content,
      ...(results.length === 1 ? encodeName(message) : {}),
      ...keptFields(message),
    });
  }
  return { messages, media };
}

function isDocument(part: Part): boolean {
  return part.kind === "file" && part.source.kind === "text";
}

/** Returns a text document as a text part. */
function readDocument(part: Part): Part {
  return part.kind === "file" && part.source.kind === "text"
    ? { kind: "text", text: part.source.text }
    : part;
}

/** Encodes an assistant message; null if nothing is left, because all of it exists only in another format. */
function encodeAssistant(context: MessageContext): Fields | null {
  const { message, field, warn } = context;
  const members = sortIntoMembers(message);
  const at = (member: Member) => members[member] ?? NO_PARTS;
  const content = encodeContent(at("content"), "", context);
  const calls = at("call").map((part) => encodeCallPart(part, field, warn));
  const refusal = at("refusal").map((part) => ("text" in part ? part.text : ""));
  for (const part of at("nowhere")) warn(field, `An earlier answer's ${part.kind} was left out.`);
  const fields = {
    ...encodeSentReasoning(
      at("reasoning").filter((part) => part.kind === "reasoning"),
      at("call").filter((part) => part.kind === "tool-call"),
      message.parts.findLast(
        (part): part is TextPart => part.kind === "text" && part.signature !== undefined,
      ),
    ),
    ...encodeSentImages(at("images"), field, warn),
    ...(refusal.length === 0 ? {} : { refusal: refusal.join("") }),
    ...at("audio").reduce((_, part) => (part.kind === "native" ? { audio: part.value } : {}), {}),
    ...(calls.length === 0 ? {} : { tool_calls: calls }),
    ...keptFields(message),
  };
  const isBare = Object.keys(fields).length === 0;
  if (isBare && content.length === 0 && message.parts.length > 0 && message.extras === undefined) return null;
  const spelled = content.length === 0 ? spellEmptyContent(message, isBare) : { content };
  return { role: "assistant", ...spelled, ...encodeName(message), ...fields };
}

function encodeCallPart(part: Part, field: string, warn: Warn): Fields | null {
  if (part.kind === "tool-call") return encodeCall(completeCall(part));
  return part.kind === "native" ? encodeNative(part, field, warn) : null;
}

/** Returns a call whose arguments every host can parse. */
function completeCall(call: ToolCallPart): ToolCallPart {
  const args = call.tool === "function" ? objectArguments(call.arguments) : call.arguments;
  return args === call.arguments ? call : { ...call, arguments: args };
}

/**
 * Spells absent content as the client did; otherwise as null, or as "" in a message without any other field, because hosts reject
 * null there.
 */
function spellEmptyContent(message: Message, isBare: boolean): Fields {
  const { content: spelled } = keptSpelling(message);
  if (spelled === "parts") return { content: [] };
  if (spelled === "empty" || isBare) return { content: "" };
  return spelled === "absent" ? {} : { content: null };
}

/** Encodes images that the client sent back in the field in which it got them. */
function encodeSentImages(parts: readonly Part[], field: string, warn: Warn): Fields {
  const images = parts.filter((part): part is MediaPart => part.kind === "image");
  return images.length === 0 ? {} : { images: images.map((part) => encodeMadeImage(part, field, warn)) };
}

const NO_PARTS: readonly Part[] = [];

function sortIntoMembers(message: Message): Partial<Record<Member, Part[]>> {
  const members: Partial<Record<Member, Part[]>> = {};
  for (const part of message.parts) {
    const member = memberFor(part, message);
    const parts = members[member] ?? [];
    if (parts.push(part) === 1) setField(members, member, parts);
  }
  return members;
}

/** The field of an assistant message that a part belongs to; `nowhere` if it cannot be sent. */
type Member = "reasoning" | "content" | "images" | "refusal" | "audio" | "call" | "nowhere";

function memberFor(part: Part, message: Message): Member {
  const spelling = keptSpelling(part);
  switch (part.kind) {
    case "tool-call":
      return "call";
    case "reasoning":
      return spelling["thinking"] === undefined ? "reasoning" : "content";
    case "refusal":
      return spelling["place"] === "content" ? "content" : "refusal";
    case "native":
      return spelling["place"] === "call" || spelling["place"] === "audio" ? spelling["place"] : "content";
    case "text":
      return "content";
    default:
      if (spelling["place"] === "images") return "images";
      // Most hosts reject media in assistant messages.
      return keptSpelling(message)["content"] === "parts" ? "content" : "nowhere";
  }
}
