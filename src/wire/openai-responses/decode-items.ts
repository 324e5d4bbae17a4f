import { fail } from "../../base/errors.ts";
import type { Part } from "../canonical/parts.ts";
import type { Message } from "../canonical/request.ts";
import { asFields, type Fields, omit } from "../json/fields.ts";
import { decodeContentPart } from "./content.ts";
import { markSpelling } from "./extras.ts";
import { attachProofs } from "./proofs.ts";
import { decodeReasoning, markItem } from "./reasoning.ts";

/**
 * A request's input as messages. Items of the model that stand together are one turn and become one assistant message;
 * results that stand together become one tool message. Items that only this format knows, but for calls, part nothing: between two
 * results they go behind them, so that both stay with their calls.
 * @throws GatewayError `invalid_request` for an item that is no object.
 */
export function decodeInput(items: readonly unknown[]): Message[] {
  const reading: Reading = { messages: [], turn: [], results: [] };
  for (const [place, raw] of items.entries()) {
    const item = asFields(raw);
    if (item === null) refuseItem(place);
    readItem(reading, item);
  }
  closeResults(reading);
  closeTurn(reading);
  return reading.messages;
}

interface Reading {
  readonly messages: Message[];
  /** Parts of the assistant message that is open; it follows the results. */
  turn: Part[];
  /** Parts of the tool message that is open. */
  results: Part[];
}

function readItem(reading: Reading, item: Fields): void {
  if (isResult(item)) {
    if (reading.results.length === 0) closeTurn(reading);
    reading.results.push(decodeResult(item));
  } else if (isSpokenTo(item)) {
    closeResults(reading);
    closeTurn(reading);
    reading.messages.push(decodeMessage(item));
  } else {
    const parts = decodeOutputItem(item);
    if (parts.some(isOfTurn)) closeResults(reading);
    for (const part of parts) reading.turn.push(part);
  }
}

/** Whether a part belongs to a turn of the model, and not to whatever stands around it. */
function isOfTurn(part: Part): boolean {
  return part.kind !== "native" || part.call !== undefined;
}

function closeTurn(reading: Reading): void {
  const parts = attachProofs(reading.turn);
  if (parts.length > 0) reading.messages.push({ role: "assistant", parts });
  reading.turn = [];
}

function closeResults(reading: Reading): void {
  if (reading.results.length > 0) reading.messages.push({ role: "tool", parts: reading.results });
  reading.results = [];
}

function refuseItem(place: number): never {
  const field = `input[${place}]`;
  return fail("invalid_request", `${field} must be an object, such as a message with role and content.`, {
    metadata: { field },
  });
}

function isResult(item: Fields): boolean {
  return item["type"] === "function_call_output" || item["type"] === "custom_tool_call_output";
}

function isMessage(item: Fields): boolean {
  return item["type"] === undefined || item["type"] === null || item["type"] === "message";
}

const SPOKEN_TO = new Set<unknown>(["system", "developer", "user"]);

function isSpokenTo(item: Fields): boolean {
  return isMessage(item) && SPOKEN_TO.has(item["role"]);
}

const MESSAGE_FIELDS = new Set(["role", "content"]);

function decodeMessage(item: Fields): Message {
  const content = decodeContent(item["content"]);
  const spelling = { item: omit(item, MESSAGE_FIELDS), ...(content.asText ? { asText: true as const } : {}) };
  return {
    role: item["role"] as "system" | "developer" | "user",
    parts: content.parts,
    extras: markSpelling(spelling),
  };
}

interface Content {
  readonly parts: Part[];
  readonly asText: boolean;
}

function decodeContent(content: unknown): Content {
  if (typeof content === "string") return { parts: [{ kind: "text", text: content }], asText: true };
  const list = Array.isArray(content) ? content.map(asFields).filter((part) => part !== null) : [];
  return { parts: list.map(decodeContentPart), asText: false };
}

/** An item that the model made, of an input or an output, as parts: at least one. */
export function decodeOutputItem(item: Fields): Part[] {
  const type = isMessage(item) ? "message" : String(item["type"]);
  return OUTPUT_DECODERS[type]?.(item) ?? [makeNative(item, type)];
}

function makeNative(item: Fields, type: string): Part {
  const native: Part = { kind: "native", format: "openai-responses", type, value: item };
  const id = item["call_id"];
  if (typeof id !== "string" || id === "") return native;
  if (isHostedCall(type)) {
    return { ...native, call: { id, name: type.slice(0, -CALL.length), arguments: readInput(item) } };
  }
  return type.endsWith(OUTPUT) ? { ...native, result: { callId: id, text: readOutput(item) } } : native;
}

const CALL = "_call";
const OUTPUT = "_output";

/** Whether a type of items is one of calls, such as `tool_search_call`. Their results may be plain ones. */
export function isHostedCall(type: string): boolean {
  return type.endsWith(CALL);
}

/** Fields of a hosted call that say nothing of what is called with what. */
const NO_INPUT = new Set(["type", "id", "call_id", "status", "execution"]);

/** What an item says that answers a hosted call: of tools that were found their names. */
function readOutput(item: Fields): string {
  const { output, tools } = item;
  if (typeof output === "string") return output;
  const names = Array.isArray(tools) ? tools.map((tool) => asFields(tool)?.["name"]) : [null];
  return names.every((name) => typeof name === "string")
    ? names.join("\n")
    : JSON.stringify(output ?? omit(item, NO_INPUT));
}

function readInput(item: Fields): string {
  const input = item["arguments"] ?? omit(item, NO_INPUT);
  return typeof input === "string" ? input : JSON.stringify(input);
}

const OUTPUT_DECODERS: Readonly<Record<string, (item: Fields) => Part[] | null>> = {
  message: decodeSpoken,
  reasoning: decodeReasoning,
  function_call: decodeCall,
  custom_tool_call: decodeCall,
  image_generation_call: decodeImage,
};

const IMAGE_FIELDS = new Set(["type", "result"]);

/** An image that the model made, once it is there. */
function decodeImage(item: Fields): Part[] | null {
  const { result: data, output_format: format } = item;
  if (typeof data !== "string" || data === "") return null;
  const source = {
    kind: "base64",
    mediaType: `image/${typeof format === "string" ? format : "png"}`,
    data,
  } as const;
  return [{ kind: "image", source, extras: markSpelling({ item: omit(item, IMAGE_FIELDS) }) }];
}

function decodeSpoken(item: Fields): Part[] | null {
  if (item["role"] !== "assistant") return null;
  const { parts, asText } = decodeContent(item["content"]);
  // A message with a part that nobody knows, or with none, keeps its form only whole.
  if (parts.length === 0 || parts.some((part) => part.kind !== "text" && part.kind !== "refusal"))
    return null;
  const marked = asText ? parts.map((part) => ({ ...part, extras: markSpelling({ asText: true }) })) : parts;
  return markItem(marked, restOfMessage(item));
}

/** What of a message item its parts do not say. */
export function restOfMessage(item: Fields): Fields {
  return omit(item, MESSAGE_FIELDS);
}

function decodeCall(item: Fields): Part[] | null {
  const { type, call_id: id, name, namespace } = item;
  const isCustom = type === "custom_tool_call";
  const text = isCustom ? item["input"] : item["arguments"];
  if (typeof name !== "string" || typeof text !== "string") return null;
  return [
    {
      kind: "tool-call",
      id: typeof id === "string" ? id : "",
      name,
      tool: isCustom ? "custom" : "function",
      arguments: text,
      ...(typeof namespace === "string" ? { namespace } : {}),
      extras: markSpelling({ item: restOfCall(item) }),
    },
  ];
}

const CALL_FIELDS = new Set(["type", "call_id", "name"]);

/** What of a call's item its part does not say. */
export function restOfCall(item: Fields): Fields {
  const rest = omit(item, CALL_FIELDS);
  delete rest[item["type"] === "custom_tool_call" ? "input" : "arguments"];
  if (typeof rest["namespace"] === "string") delete rest["namespace"];
  return rest;
}

const RESULT_FIELDS = new Set(["type", "call_id", "output"]);

function decodeResult(item: Fields): Part {
  const { parts, asText } = decodeContent(item["output"]);
  const spelling = { item: omit(item, RESULT_FIELDS), ...(asText ? { asText: true as const } : {}) };
  return {
    kind: "tool-result",
    callId: typeof item["call_id"] === "string" ? item["call_id"] : "",
    tool: item["type"] === "custom_tool_call_output" ? "custom" : "function",
    content: parts,
    isError: false,
    extras: markSpelling(spelling),
  };
}
