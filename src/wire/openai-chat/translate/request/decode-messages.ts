import {
  asFields,
  asObjects,
  asText,
  type Fields,
  omit,
  unknownFields,
} from "../../../../base/json/fields.ts";
import type { Part, ToolResultPart } from "../../../canonical/model/parts.ts";
import type { Message } from "../../../canonical/model/request.ts";
import { decodePart, keepNative } from "../parts/decode-part.ts";
import { keepExtras, keptFields, keptSpelling, withExtras } from "../parts/extras.ts";
import { decodeSentImages } from "../parts/made-images.ts";
import { readReasoning } from "../parts/reasoning-parts.ts";
import { decodeExtraContent } from "../parts/signatures.ts";
import { decodeCall, keepUnknownCall } from "../parts/tool-call-parts.ts";

/** Decodes the messages of a request. Keeps how each was spelled, so that `encodeRequest` can give back the same message. */
export function decodeMessages(raw: readonly Fields[]): Message[] {
  /** Ids of calls to custom tools. In this format their results have the form of function results. */
  const custom = new Set<string>();
  return raw.map((message) => {
    const role = message["role"] as Message["role"];
    if (role === "tool") return decodeToolMessage(message, custom);
    if (role !== "assistant") return decodePrompt(message, role);
    const decoded = decodeAssistant(message);
    for (const part of decoded.parts)
      if (part.kind === "tool-call" && part.tool === "custom") custom.add(part.id);
    return decoded;
  });
}

const AS_TEXT: Fields = {};

/** Decodes the content of a message. `spelling` keeps how it was spelled where that is not the usual way. */
function readContent(message: Fields): { readonly parts: readonly Part[]; readonly spelling: Fields } {
  const content = message["content"];
  if (Array.isArray(content)) {
    return { parts: asObjects(content).map(decodePart), spelling: { content: "parts" } };
  }
  const text = asText(content);
  if (text !== null && text !== "") return { parts: [{ kind: "text", text }], spelling: AS_TEXT };
  const spelled = text === "" ? "empty" : "content" in message ? "null" : "absent";
  return { parts: [], spelling: { content: spelled } };
}

/** Adds the name of the participant. */
function withName(message: Message, raw: Fields): Message {
  const name = asText(raw["name"]);
  return name === null ? message : { ...message, name };
}

const PROMPT_FIELDS: ReadonlySet<string> = new Set(["role", "content"]);
const RESULT_FIELDS: ReadonlySet<string> = PROMPT_FIELDS.union(new Set(["tool_call_id"]));
const CALL_FIELDS: ReadonlySet<string> = PROMPT_FIELDS.union(new Set(["tool_calls"]));

const NAME: ReadonlySet<string> = new Set(["name"]);

/** Returns the fields that the canonical model does not have. A `name` that is not a string stays among them. */
function restOf(message: Fields, known: ReadonlySet<string>): Fields {
  const rest = unknownFields(message, known);
  return typeof rest["name"] === "string" ? omit(rest, NAME) : rest;
}

function decodePrompt(message: Fields, role: "system" | "developer" | "user"): Message {
  const { parts, spelling } = readContent(message);
  // All hosts know `system`; the role `developer` is kept for those that know it.
  const spelled = role === "developer" ? { ...spelling, role } : spelling;
  return withExtras(withName({ role, parts }, message), restOf(message, PROMPT_FIELDS), spelled);
}

function decodeToolMessage(message: Fields, custom: ReadonlySet<string>): Message {
  const { parts, spelling } = readContent(message);
  const callId = asText(message["tool_call_id"]);
  const name = asText(message["name"]);
  const result: ToolResultPart = {
    kind: "tool-result",
    callId: callId ?? "",
    tool: custom.has(callId ?? "") ? "custom" : "function",
    content: parts,
    isError: false,
  };
  const named = name === null ? result : { ...result, toolName: name };
  const known = callId === null ? PROMPT_FIELDS : RESULT_FIELDS;
  return withExtras(withName({ role: "tool", parts: [named] }, message), restOf(message, known), spelling);
}

function decodeAssistant(message: Fields): Message {
  const { parts, spelling } = readContent(message);
  const rawCalls = asObjects(message["tool_calls"]);
  const calls = rawCalls.map((raw) => decodeCall(raw) ?? keepUnknownCall(raw));
  const reasoning = readReasoning(message, calls);
  const refusal = asText(message["refusal"]);
  const audio = asFields(message["audio"]);
  const images = decodeSentImages(message["images"]);
  const content = attachSentSignature(parts, message["extra_content"]);
  const others = [...reasoning.fields];
  if (refusal !== null) others.push("refusal");
  if (audio !== null) others.push("audio");
  if (images !== null) others.push("images");
  if (content !== parts) others.push("extra_content");
  const usual = Array.isArray(message["tool_calls"]) ? CALL_FIELDS : PROMPT_FIELDS;
  const known = others.length === 0 ? usual : usual.union(new Set(others));
  const all: Part[] = [...reasoning.parts, ...content, ...(images ?? [])];
  if (refusal !== null) all.push({ kind: "refusal", text: refusal });
  if (audio !== null) all.push(keepNative(audio, "audio", { place: "audio" }));
  for (const call of reasoning.calls) all.push(call);
  return withExtras(withName({ role: "assistant", parts: all }, message), restOf(message, known), spelling);
}

/**
 * Moves the thought signature of a message to its last text and keeps how it was spelled. Returns the same parts if there is no
 * signature or no text.
 */
function attachSentSignature(parts: readonly Part[], extraContent: unknown): readonly Part[] {
  const signed = decodeExtraContent(extraContent);
  const at = parts.findLastIndex((part) => part.kind === "text");
  const text = parts[at];
  if (signed.signature === undefined || text === undefined) return parts;
  const spelled = keepExtras(keptFields(text), { ...keptSpelling(text), extraContent });
  return parts.with(at, { ...text, ...signed, ...spelled } as Part);
}
