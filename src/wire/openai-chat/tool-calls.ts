import { asFields, type Fields, omit } from "../json/fields.ts";

/** A tool call as a client reads it, whole or in pieces, with what the vendor says beside, as Gemini's `extra_content`. */
export interface ToolCallOut {
  readonly index: number;
  readonly id?: string;
  readonly type?: "function" | "custom";
  readonly function?: { readonly name?: string; readonly arguments: string };
  readonly custom?: { readonly name?: string; readonly input: string };
  readonly [beside: string]: unknown;
}

/** The name that a piece brings; "" where it brings none. */
export function nameOf(call: ToolCallOut): string {
  return call.function?.name ?? call.custom?.name ?? "";
}

/** The text that a piece brings. */
export function textOf(call: ToolCallOut): string {
  return call.function?.arguments ?? call.custom?.input ?? "";
}

/** The tool calls of a delta or message. A call in OpenAI's older `function_call` is the only one. */
export function listCalls(said: Fields): readonly unknown[] {
  const calls = Array.isArray(said["tool_calls"]) ? said["tool_calls"] : [];
  const call = calls.length === 0 ? asFields(said["function_call"]) : null;
  return call === null ? calls : [{ index: 0, type: "function", function: call }];
}

interface KnownCall {
  /** The place the client knows it by. */
  readonly index: number;
  hasArguments: boolean;
  /** Its arguments came whole with its name; more would only break them. */
  readonly isWhole: boolean;
}

/**
 * The tool calls of one choice while they come in pieces. It gives every call an id, an index and a type where the
 * vendor left them out, names each once, and drops calls that come twice (docs/contract.md, "Chat completions").
 */
export interface ToolCallTracker {
  /** Pieces to send for a vendor's pieces; empty where they were duplicates or said nothing. */
  step(pieces: readonly unknown[]): ToolCallOut[];
  /** The place the client knows a vendor's index by; null when unknown or dropped. */
  indexOf(vendorIndex: number): number | null;
  /** How many calls the client knows. */
  count(): number;
  /** Last pieces: `{}` for calls that came without arguments. */
  end(): ToolCallOut[];
}

const DROPPED = "dropped";

/** A tracker that makes missing ids with `makeId` and gives back the client's ids for those that were mapped. */
export function createToolCallTracker(
  makeId: () => string,
  originalIds: ReadonlyMap<string, string> | null,
): ToolCallTracker {
  const calls: KnownCall[] = [];
  const ids = new Set<string>();
  /** The call that a vendor's index stands for now; Gemini reuses one index for several. */
  const current = new Map<number, KnownCall | typeof DROPPED>();
  let lastVendorIndex = -1;

  const open = (piece: Piece, vendorIndex: number): ToolCallOut | null => {
    if (piece.id !== "" && ids.has(piece.id)) {
      current.set(vendorIndex, DROPPED);
      return null;
    }
    const { text } = piece;
    const { isCustom } = piece;
    const isWhole = !isCustom && isWholeObject(text);
    const call = { index: calls.length, hasArguments: isCustom || text !== "", isWhole };
    calls.push(call);
    current.set(vendorIndex, call);
    const id = piece.id === "" ? makeId() : piece.id;
    ids.add(id);
    return {
      index: call.index,
      id: originalIds?.get(id) ?? id,
      type: isCustom ? "custom" : "function",
      ...spell(piece, { name: piece.name }, text),
    };
  };

  const stepOne = (raw: unknown): ToolCallOut | null => {
    const piece = readPiece(raw);
    if (piece === null) return null;
    const startsCall = piece.id !== "" || piece.name !== "";
    const vendorIndex =
      piece.index ?? (startsCall || lastVendorIndex < 0 ? lastVendorIndex + 1 : lastVendorIndex);
    lastVendorIndex = Math.max(lastVendorIndex, vendorIndex);
    const call = current.get(vendorIndex);
    const isNew = call === undefined || (piece.id !== "" && piece.name !== "" && !ids.has(piece.id));
    if (isNew) return open(piece, vendorIndex);
    if (call === DROPPED || isRepeat(call, piece)) return null;
    const text = call.isWhole ? "" : piece.text;
    if (text === "" && Object.keys(piece.beside).length === 0) return null;
    if (text !== "") call.hasArguments = true;
    return { index: call.index, ...spell(piece, {}, text) };
  };

  return {
    step: (pieces) => pieces.map(stepOne).filter((out) => out !== null),
    indexOf(vendorIndex) {
      const call = current.get(vendorIndex);
      return call === undefined || call === DROPPED ? null : call.index;
    },
    count: () => calls.length,
    end() {
      const bare = calls.filter((call) => !call.hasArguments);
      for (const call of bare) call.hasArguments = true;
      return bare.map((call) => ({ index: call.index, function: { arguments: "{}" } }));
    },
  };
}

interface Piece {
  readonly index: number | null;
  /** "" where absent; so are the others. */
  readonly id: string;
  readonly name: string;
  readonly text: string;
  readonly isCustom: boolean;
  /** What else the vendor says of it. */
  readonly beside: Fields;
}

const CALL_FIELDS: ReadonlySet<string> = new Set(["index", "id", "type", "function", "custom"]);

function readPiece(raw: unknown): Piece | null {
  const piece = asFields(raw);
  if (piece === null) return null;
  const kind = readCallKind(piece);
  const inner = asFields(piece[kind]) ?? {};
  const beside = Object.entries(omit(piece, CALL_FIELDS)).filter(([, value]) => value !== null);
  return {
    index: typeof piece["index"] === "number" ? piece["index"] : null,
    id: typeof piece["id"] === "string" ? piece["id"] : "",
    name: typeof inner["name"] === "string" ? inner["name"] : "",
    text: readArguments(kind === "custom" ? inner["input"] : inner["arguments"]),
    isCustom: kind === "custom",
    beside: Object.fromEntries(beside),
  };
}

/** The kind of a tool call: its `type`, or without one the member that says something. Hosts send the other one empty. */
export function readCallKind(call: Fields): "function" | "custom" {
  const { type } = call;
  if (type === "function" || type === "custom") return type;
  return saysSomething(call["custom"]) && !saysSomething(call["function"]) ? "custom" : "function";
}

function saysSomething(member: unknown): boolean {
  return Object.values(asFields(member) ?? {}).some((value) => value !== null && value !== "");
}

/** Name and text under the call's kind, and what stands beside. */
function spell({ isCustom, beside }: Piece, name: { readonly name?: string }, text: string) {
  const inner = isCustom ? { custom: { ...name, input: text } } : { function: { ...name, arguments: text } };
  return { ...inner, ...beside };
}

/** Whether a piece brings only what belongs to the call's name and text. */
export function isPlainPiece(piece: Fields): boolean {
  return Object.keys(omit(piece, CALL_FIELDS)).length === 0;
}

/** The same call once more under the same index: its name again, with all of its arguments. */
function isRepeat(call: KnownCall, piece: Piece): boolean {
  return call.hasArguments && piece.id !== "" && piece.name !== "" && isWholeObject(piece.text);
}

/** `arguments` is a string always; some vendors send the object. */
function readArguments(value: unknown): string {
  if (typeof value === "string") return value;
  return value === undefined || value === null ? "" : JSON.stringify(value);
}

/** Whether a text is one JSON object from end to end. */
export function isWholeObject(text: string): boolean {
  if (!text.startsWith("{") || !text.endsWith("}")) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
