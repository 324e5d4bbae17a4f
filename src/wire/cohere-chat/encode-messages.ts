import { rejectField } from "../../base/failures/errors.ts";
import type { Fields } from "../../base/json/fields.ts";
import { objectArguments } from "../canonical/model/object-arguments.ts";
import type {
  MediaPart,
  Part,
  ReasoningPart,
  ToolCallPart,
  ToolResultPart,
} from "../canonical/model/parts.ts";
import type { Message } from "../canonical/model/request.ts";
import type { Warning } from "../conversation/warning.ts";

/** The properties of a model that decide how messages are encoded. */
interface MessageRules {
  /** Whether the model thinks and takes its thoughts as content; other models plan their tool calls. */
  readonly thinks: boolean;
  readonly warn: (field: Warning["field"], message: string) => void;
}

/** The rules, and a callback for reasoning that is left out, which one warning reports. */
interface Encoding extends MessageRules {
  readonly onOmittedReasoning: () => void;
}

/**
 * Encodes messages for Cohere: one for each tool result, none empty. Images of tool results follow the results in a user message,
 * because only users may send images.
 * @throws GatewayError `invalid_request` for media that Cohere does not read.
 */
export function encodeMessages(messages: readonly Message[], rules: MessageRules): Fields[] {
  const encoded: Fields[] = [];
  let images: Fields[] = [];
  let hasOmittedReasoning = false;
  const encoding: Encoding = {
    ...rules,
    onOmittedReasoning: () => {
      hasOmittedReasoning = true;
    },
  };
  const flushImages = (): void => {
    if (images.length > 0) encoded.push({ role: "user", content: images });
    images = [];
  };
  for (const [at, message] of messages.entries()) {
    const results = message.parts.filter((part) => part.kind === "tool-result");
    if (results.length === 0) flushImages();
    for (const [index, result] of results.entries()) {
      const field = `messages[${at}].content[${index}]`;
      encoded.push(encodeResult(result, field, encoding));
      for (const image of listImages(result.content, `${field}.content`)) images.push(image);
    }
    const others = message.parts.filter((part) => part.kind !== "tool-result");
    if (others.length === 0) continue;
    flushImages();
    encoded.push(...encodeMessage({ ...message, parts: others }, at, encoding));
  }
  flushImages();
  if (hasOmittedReasoning) rules.warn("messages", "Reasoning that this model cannot use was left out.");
  return encoded;
}

function encodeMessage(message: Message, at: number, encoding: Encoding): Fields[] {
  if (message.role === "assistant") return encodeAssistant(message, at, encoding);
  const content = message.parts.flatMap((part, index) =>
    encodeInputPart(part, `messages[${at}].content[${index}]`, encoding),
  );
  if (content.length === 0) return [];
  const role = message.role === "user" || message.role === "tool" ? "user" : "system";
  return [{ role, content: unwrapText(content) }];
}

/** Encodes a part of a user or system message. */
function encodeInputPart(part: Part, field: string, encoding: Encoding): Fields[] {
  switch (part.kind) {
    case "text":
    case "refusal":
      return encodeText(part.text);
    case "image":
    case "audio":
    case "video":
    case "file":
      return [encodeMedia(part, field)];
    default:
      return warnOmitted(part, field, encoding);
  }
}

function encodeAssistant(message: Message, at: number, encoding: Encoding): Fields[] {
  const calls = message.parts.filter((part) => part.kind === "tool-call").map(encodeCall);
  const reasoning = message.parts.filter((part) => part.kind === "reasoning").filter(isOwn);
  const hasPlan = !encoding.thinks && calls.length > 0;
  const content = message.parts.flatMap((part, index): Fields[] => {
    const field = `messages[${at}].content[${index}]`;
    if (part.kind === "tool-call") return [];
    if (part.kind === "text" || part.kind === "refusal") return encodeText(part.text);
    if (part.kind !== "reasoning") return warnOmitted(part, field, encoding);
    if (isOwn(part) && encoding.thinks) return [{ type: "thinking", thinking: part.text }];
    if (!isOwn(part) || !hasPlan) encoding.onOmittedReasoning();
    return [];
  });
  if (content.length === 0 && calls.length === 0) return [];
  const plan = reasoning.map((part) => part.text).join("");
  return [
    {
      role: "assistant",
      ...(content.length === 0 ? {} : { content: unwrapText(content) }),
      ...(hasPlan && plan !== "" ? { tool_plan: plan } : {}),
      ...(calls.length === 0 ? {} : { tool_calls: calls }),
    },
  ];
}

/** Returns whether reasoning may be Cohere's own, which is neither signed nor encrypted. */
function isOwn(part: ReasoningPart): boolean {
  return part.origin === null && part.signature === null && part.encrypted === null && part.text !== "";
}

function encodeCall(part: ToolCallPart): Fields {
  const text =
    part.tool === "custom" ? JSON.stringify({ input: part.arguments }) : objectArguments(part.arguments);
  return { id: part.id, type: "function", function: { name: part.name, arguments: text } };
}

/** The text of a result that holds only images, which follow it. */
const SEE_IMAGES = "The result follows in the next message.";

function encodeResult(part: ToolResultPart, field: string, encoding: Encoding): Fields {
  const texts = part.content.flatMap((inner, at): string[] => {
    const place = `${field}.content[${at}]`;
    if (inner.kind === "text" || inner.kind === "refusal") return [inner.text];
    if (inner.kind === "image") return [];
    const document = inner.kind === "file" ? readDocument(inner) : null;
    if (document !== null) return [document];
    if (inner.kind === "file" || inner.kind === "audio" || inner.kind === "video") encodeMedia(inner, place);
    warnOmitted(inner, place, encoding);
    return [];
  });
  const isImagesOnly = texts.length === 0 && part.content.some(({ kind }) => kind === "image");
  return { role: "tool", tool_call_id: part.callId, content: isImagesOnly ? SEE_IMAGES : texts.join("\n") };
}

function listImages(parts: readonly Part[], field: string): Fields[] {
  return parts.flatMap((part, at) => (part.kind === "image" ? [encodeMedia(part, `${field}[${at}]`)] : []));
}

/** Encodes an image, or a document that is text. */
function encodeMedia(part: MediaPart, field: string): Fields {
  const { source } = part;
  const document = readDocument(part);
  if (document !== null) {
    return { type: "text", text: part.name ? `${part.name}\n\n${document}` : document };
  }
  if (part.kind !== "image")
    rejectField(field, `is ${part.kind}, which this model's provider does not read; send text or images`);
  const detail = part.detail === "low" || part.detail === "high" ? { detail: part.detail } : {};
  if (source.kind === "url") return { type: "image_url", image_url: { url: source.url, ...detail } };
  if (source.kind !== "base64") rejectField(field, "is not here; send the image itself as base64");
  return {
    type: "image_url",
    image_url: { url: `data:${source.mediaType};base64,${source.data}`, ...detail },
  };
}

/** Returns the text of a text file; null for any other part. */
function readDocument({ kind, source }: MediaPart): string | null {
  if (kind !== "file") return null;
  if (source.kind === "text") return source.text;
  if (source.kind !== "base64" || !/^(text\/|application\/json)/.test(source.mediaType)) return null;
  return Buffer.from(source.data, "base64").toString("utf8");
}

function warnOmitted(part: Part, field: string, { warn }: Encoding): [] {
  const what = part.kind === "native" ? part.type : part.kind;
  warn(field, `The ${what} was left out: this model's provider does not support it here.`);
  return [];
}

function encodeText(text: string): Fields[] {
  return text.trim() === "" ? [] : [{ type: "text", text }];
}

/** Returns a single text in its short form, as a string. */
function unwrapText(content: readonly Fields[]): unknown {
  const [only] = content;
  return content.length === 1 && only?.["type"] === "text" ? only["text"] : content;
}
