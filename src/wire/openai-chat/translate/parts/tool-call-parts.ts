import { asFields, asText, type Fields, NO_FIELDS, unknownFields } from "../../../../base/json/fields.ts";
import { type NativePart, REASONING_ORIGINS, type ToolCallPart } from "../../../canonical/model/parts.ts";
import { readCallKind } from "../../tool-calls.ts";
import { keepNative } from "./decode-part.ts";
import { keepExtras, keptFields, keptSpelling, withExtras } from "./extras.ts";
import { encodeExtraContent, encodeSignatureDetail, readExtraContent } from "./signatures.ts";

/** How the thought signature of a call was spelled: as `extra_content`, or as a detail at an index of `reasoning_details`. */
interface SpelledSignature {
  readonly extraContent?: unknown;
  readonly detail?: Fields;
  readonly index?: number;
}

/** Decodes a tool call of a message; null for a kind that the canonical model does not have. */
export function decodeCall(raw: Fields): ToolCallPart | null {
  const type = asText(raw["type"]) || readCallKind(raw);
  const inner = asFields(raw[type]);
  const name = asText(inner?.["name"]);
  if ((type !== "function" && type !== "custom") || inner === null || name === null) return null;
  const text = type === "function" ? "arguments" : "input";
  const { call, fields } = KNOWN[type];
  const rest = unknownFields(inner, fields);
  const signed = readExtraContent(raw["extra_content"]);
  const known = signed === null ? call : call.union(EXTRA_CONTENT);
  const spelling: Fields = {
    ...(rest === NO_FIELDS ? NO_FIELDS : { inner: rest }),
    ...(signed === null ? NO_FIELDS : { signature: { extraContent: raw["extra_content"] } }),
  };
  const called: ToolCallPart = {
    kind: "tool-call",
    id: asText(raw["id"]) ?? "",
    name,
    tool: type,
    arguments: readArguments(inner[text]),
  };
  const signature = signed === null ? null : { value: signed, origin: REASONING_ORIGINS.gemini };
  return withExtras(
    signature === null ? called : { ...called, signature },
    unknownFields(raw, known),
    spelling,
  );
}

/** Returns a native part for a call of a kind that the canonical model does not have. */
export function keepUnknownCall(raw: Fields): NativePart {
  const native = keepNative(raw, "tool_call", { place: "call" });
  const id = asText(raw["id"]);
  if (id === null || id === "") return native;
  const name = asText(raw["type"]) ?? "unknown";
  return { ...native, call: { id, name, arguments: JSON.stringify(raw[name] ?? {}) } };
}

/** Fields of a call and of its function that the canonical model has. */
const KNOWN: Readonly<Record<"function" | "custom", Record<"call" | "fields", ReadonlySet<string>>>> = {
  function: { call: new Set(["id", "type", "function"]), fields: new Set(["name", "arguments"]) },
  custom: { call: new Set(["id", "type", "custom"]), fields: new Set(["name", "input"]) },
};
const EXTRA_CONTENT: ReadonlySet<string> = new Set(["extra_content"]);

function readArguments(value: unknown): string {
  if (typeof value === "string") return value;
  return value === undefined || value === null ? "" : JSON.stringify(value);
}

/** Returns the call with its thought signature, which came as the detail at this index of `reasoning_details`. */
export function attachSignature(call: ToolCallPart, detail: Fields, index: number): ToolCallPart {
  const spelling = keptSpelling(call);
  const signature = { ...asFields(spelling["signature"]), detail, index };
  return {
    ...call,
    signature: call.signature ?? { value: asText(detail["data"]) ?? "", origin: REASONING_ORIGINS.gemini },
    ...keepExtras(keptFields(call), { ...spelling, signature }),
  };
}

/** Encodes a call as an entry of `tool_calls`. Empty arguments become `{}`. */
export function encodeCall(call: ToolCallPart): Fields {
  const inner = asFields(keptSpelling(call)["inner"]);
  const text = call.tool === "function" ? { arguments: call.arguments || "{}" } : { input: call.arguments };
  const extraContent = spellExtraContent(call);
  return {
    id: call.id,
    type: call.tool,
    [call.tool]: { name: call.name, ...text, ...inner },
    ...(extraContent === null ? {} : { extra_content: extraContent }),
    ...keptFields(call),
  };
}

function spellExtraContent(call: ToolCallPart): unknown {
  const spelled = readSpelling(call);
  if (spelled === null) return encodeExtraContent(call);
  return spelled.extraContent ?? null;
}

/**
 * Encodes a call's thought signature as a detail, with its original index; null if it has none or the client spelled it
 * differently.
 */
export function spellSignatureDetail(
  call: ToolCallPart,
  index: number,
): { readonly detail: Fields; readonly index: number | null } | null {
  const spelled = readSpelling(call);
  if (spelled === null) {
    const detail = encodeSignatureDetail(call, index);
    return detail === null ? null : { detail, index: null };
  }
  if (spelled.detail === undefined) return null;
  return { detail: { ...spelled.detail, id: call.id }, index: spelled.index ?? null };
}

/** Returns how the client spelled the thought signature, if that is still the same; otherwise it is sent in both spellings. */
function readSpelling(call: ToolCallPart): SpelledSignature | null {
  const spelled = asFields(keptSpelling(call)["signature"]) as SpelledSignature | null;
  const value = spelled?.detail?.["data"] ?? readExtraContent(spelled?.extraContent);
  return spelled !== null && value === call.signature?.value ? spelled : null;
}
