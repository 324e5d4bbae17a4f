import { asFields, asList, type Fields, omit } from "../../base/json/fields.ts";

/**
 * A tool call, or a piece of one, as the client gets it. It may have further fields of the vendor, such as Gemini's
 * `extra_content`.
 */
export interface ToolCallOut {
  readonly index: number;
  readonly id?: string;
  readonly type?: "function" | "custom";
  readonly function?: { readonly name?: string; readonly arguments: string };
  readonly custom?: { readonly name?: string; readonly input: string };
  readonly [others: string]: unknown;
}

/** Returns the tool name in a piece; "" if it has none. */
export function nameOf(call: ToolCallOut): string {
  return call.function?.name ?? call.custom?.name ?? "";
}

/** Returns the arguments or input in a piece; "" if it has none. */
export function textOf(call: ToolCallOut): string {
  return call.function?.arguments ?? call.custom?.input ?? "";
}

/**
 * Lists the tool calls of a delta or message. A call in the deprecated `function_call` is listed as the only one, unless it is empty, as
 * in all messages of some hosts.
 */
export function listCalls(delta: Fields): readonly unknown[] {
  const calls = asList(delta["tool_calls"]);
  const call = calls.length === 0 ? asFields(delta["function_call"]) : null;
  return call === null || !hasValue(call) ? calls : [{ index: 0, type: "function", function: call }];
}

/** A piece of a tool call as the vendor sent it. */
export interface CallPiece {
  readonly index: number | null;
  /** "" if absent or blank, like the name. */
  readonly id: string;
  readonly name: string;
  readonly text: string;
  readonly isCustom: boolean;
  /** Further fields of the vendor. */
  readonly others: Fields;
}

const CALL_FIELDS: ReadonlySet<string> = new Set(["index", "id", "type", "function", "custom"]);

/** Reads a piece of a call; null if it is no object. */
export function readPiece(raw: unknown): CallPiece | null {
  const piece = asFields(raw);
  if (piece === null) return null;
  const kind = readCallKind(piece);
  const inner = asFields(piece[kind]) ?? {};
  const others = Object.entries(omit(piece, CALL_FIELDS)).filter(([, value]) => value !== null);
  return {
    index: typeof piece["index"] === "number" ? piece["index"] : null,
    id: readName(piece["id"]),
    name: readName(inner["name"]),
    text: readArguments(kind === "custom" ? inner["input"] : inner["arguments"]),
    isCustom: kind === "custom",
    others: Object.fromEntries(others),
  };
}

/**
 * Returns the kind of a tool call: its `type`, or without one the member that has content. Some hosts send the other member empty.
 */
export function readCallKind(call: Fields): "function" | "custom" {
  const { type } = call;
  if (type === "function" || type === "custom") return type;
  return hasValue(call["custom"]) && !hasValue(call["function"]) ? "custom" : "function";
}

/** Returns an id or a name; "" for one that is blank. */
function readName(value: unknown): string {
  return typeof value === "string" && value.trim() !== "" ? value : "";
}

function hasValue(member: unknown): boolean {
  return Object.values(asFields(member) ?? {}).some((value) => value !== null && value !== "");
}

/** Puts the name and the text under the call's kind and adds the vendor's further fields. */
export function encodePiece({ isCustom, others }: CallPiece, name: { readonly name?: string }, text: string) {
  const inner = isCustom ? { custom: { ...name, input: text } } : { function: { ...name, arguments: text } };
  return { ...inner, ...others };
}

/** Returns whether a piece has no fields beyond those of a name and arguments. */
export function isPlainPiece(piece: Fields): boolean {
  return Object.keys(omit(piece, CALL_FIELDS)).length === 0;
}

/** Returns arguments as a string; some vendors send an object. */
function readArguments(value: unknown): string {
  if (typeof value === "string") return value;
  return value === undefined || value === null ? "" : JSON.stringify(value);
}

/** Returns whether a text is one complete JSON object. */
export function isWholeObject(text: string): boolean {
  if (!text.startsWith("{") || !text.endsWith("}")) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
