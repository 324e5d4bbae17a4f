import { asFields, createTable, type Fields, omit } from "../../../../base/json/fields.ts";
import type { Part } from "../../../canonical/model/parts.ts";
import { isHostedCall, nameHostedCall } from "../../hosted-calls.ts";
import { decodePart } from "./decode-part.ts";
import { markSpelling } from "./extras.ts";
import { decodeReasoning, markItem } from "./reasoning-parts.ts";

const MESSAGE_FIELDS = new Set(["role", "content"]);

interface Content {
  readonly parts: Part[];
  readonly asText: boolean;
}

export function decodeContent(content: unknown): Content {
  if (typeof content === "string") return { parts: [{ kind: "text", text: content }], asText: true };
  const list = Array.isArray(content) ? content.map(asFields).filter((part) => part !== null) : [];
  return { parts: list.map(decodePart), asText: false };
}

/** Decodes an item of the model, of an input or an output, as at least one part. */
export function decodeOutputItem(item: Fields): Part[] {
  const type = isMessage(item) ? "message" : String(item["type"]);
  return OUTPUT_DECODERS[type]?.(item) ?? [makeNative(item, type)];
}

function makeNative(item: Fields, type: string): Part {
  const native: Part = { kind: "native", format: "openai-responses", type, value: item };
  const id = item["call_id"];
  if (typeof id !== "string" || id === "") return native;
  if (isHostedCall(type)) {
    return { ...native, call: { id, name: nameHostedCall(type), arguments: readInput(item) } };
  }
  return type.endsWith(OUTPUT) ? { ...native, result: { callId: id, text: readOutput(item) } } : native;
}

const OUTPUT = "_output";

/** Fields of a hosted call that are not its input. */
const NO_INPUT = new Set(["type", "id", "call_id", "status", "execution"]);

/** Returns the result of a hosted call as text; for found tools, their names. */
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

const OUTPUT_DECODERS: Readonly<Record<string, (item: Fields) => Part[] | null>> = createTable({
  message: decodeAssistantMessage,
  reasoning: decodeReasoning,
  function_call: decodeCall,
  custom_tool_call: decodeCall,
  image_generation_call: decodeImage,
});

const IMAGE_FIELDS = new Set(["type", "result"]);

/** Decodes an image that the model generated; null until it is complete. */
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

function decodeAssistantMessage(item: Fields): Part[] | null {
  if (item["role"] !== "assistant") return null;
  const { parts, asText } = decodeContent(item["content"]);
  // A message with an unknown part, or without parts, keeps its form only as a whole.
  if (parts.length === 0 || parts.some((part) => part.kind !== "text" && part.kind !== "refusal"))
    return null;
  const marked = asText ? parts.map((part) => ({ ...part, extras: markSpelling({ asText: true }) })) : parts;
  return markItem(marked, restOfMessage(item));
}

/** Returns the fields of a message item that its parts do not have. */
export function restOfMessage(item: Fields): Fields {
  return omit(item, MESSAGE_FIELDS);
}

function decodeCall(item: Fields): Part[] | null {
  const { type, call_id: id, name, namespace } = item;
  const isCustom = type === "custom_tool_call";
  const text = isCustom ? item["input"] : readArguments(item["arguments"]);
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

/** Returns arguments as a string: some hosts leave out those of a tool without parameters, others send an object. */
function readArguments(value: unknown): string {
  if (typeof value === "string") return value;
  return value === undefined || value === null ? "" : JSON.stringify(value);
}

const CALL_FIELDS = new Set(["type", "call_id", "name"]);

/** Returns the fields of a call's item that its part does not have. */
function restOfCall(item: Fields): Fields {
  const rest = omit(item, CALL_FIELDS);
  delete rest[item["type"] === "custom_tool_call" ? "input" : "arguments"];
  if (typeof rest["namespace"] === "string") delete rest["namespace"];
  return rest;
}

export function isMessage(item: Fields): boolean {
  return item["type"] === undefined || item["type"] === null || item["type"] === "message";
}
