import { asFields, asList, type Fields, omit } from "../json/fields.ts";

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

/** Returns the tool name in a piece; "" where it has none. */
export function nameOf(call: ToolCallOut): string {
  return call.function?.name ?? call.custom?.name ?? "";
}

/** Returns the arguments or input in a piece; "" where it has none. */
export function textOf(call: ToolCallOut): string {
  return call.function?.arguments ?? call.custom?.input ?? "";
}

/** Lists the tool calls of a delta or message. A call in the deprecated `function_call` is listed as the only one. */
export function listCalls(delta: Fields): readonly unknown[] {
  const calls = asList(delta["tool_calls"]);
  const call = calls.length === 0 ? asFields(delta["function_call"]) : null;
  return call === null ? calls : [{ index: 0, type: "function", function: call }];
}

interface KnownCall {
  /** The index of the call in the client's stream. */
  readonly index: number;
  hasArguments: boolean;
  /** Its arguments were complete from the start. Further pieces are dropped, because they would only break them. */
  readonly isWhole: boolean;
}

const DROPPED = "dropped";

/**
 * Tracks the tool calls of one choice. It adds an id, an index and a type where the vendor left them out, names each call once, and
 * drops duplicate calls (docs/api/chat.md, "Tool calls").
 */
export class ToolCallTracker {
  private readonly calls: KnownCall[] = [];
  private readonly ids = new Set<string>();
  /** The current call of each vendor index. Gemini uses one index for several calls in turn. */
  private readonly current = new Map<number, KnownCall | typeof DROPPED>();
  private lastVendorIndex = -1;

  /** `makeId` makes missing ids; `originalIds` are the client's own ids by the mapped ones. */
  constructor(
    private readonly makeId: () => string,
    private readonly originalIds: ReadonlyMap<string, string> | null,
  ) {}

  /** Returns the pieces to send for the vendor's pieces; empty if they were duplicates or had no content. */
  step(pieces: readonly unknown[]): ToolCallOut[] {
    return pieces.map((raw) => this.stepOne(raw)).filter((out) => out !== null);
  }

  /** Returns the client's index for a vendor's index; null where that is unknown or its call was dropped. */
  indexOf(vendorIndex: number): number | null {
    const call = this.current.get(vendorIndex);
    return call === undefined || call === DROPPED ? null : call.index;
  }

  /** Whether the arguments of the call at a vendor's index have begun and may go on. */
  hasOpenArguments(vendorIndex: number): boolean {
    const call = this.current.get(vendorIndex);
    return call !== undefined && call !== DROPPED && call.hasArguments && !call.isWhole;
  }

  /** Returns the number of calls that the client has seen. */
  count(): number {
    return this.calls.length;
  }

  /** Returns the last pieces: `{}` as the arguments of each call that came without any. */
  end(): ToolCallOut[] {
    const bare = this.calls.filter((call) => !call.hasArguments);
    for (const call of bare) call.hasArguments = true;
    return bare.map((call) => ({ index: call.index, function: { arguments: "{}" } }));
  }

  private stepOne(raw: unknown): ToolCallOut | null {
    const piece = readPiece(raw);
    if (piece === null) return null;
    const vendorIndex = this.vendorIndexOf(piece);
    const call = this.current.get(vendorIndex);
    const isNew = call === undefined || (piece.id !== "" && piece.name !== "" && !this.ids.has(piece.id));
    if (isNew) return this.start(piece, vendorIndex);
    if (call === DROPPED || isRepeat(call, piece)) return null;
    const text = call.isWhole ? "" : piece.text;
    if (text === "" && Object.keys(piece.others).length === 0) return null;
    if (text !== "") call.hasArguments = true;
    return { index: call.index, ...encodePiece(piece, {}, text) };
  }

  /** A piece without an index starts the next call, or continues the last one. */
  private vendorIndexOf(piece: Piece): number {
    const last = this.lastVendorIndex;
    const startsCall = piece.id !== "" || piece.name !== "" || last < 0;
    const vendorIndex = piece.index ?? (startsCall ? last + 1 : last);
    this.lastVendorIndex = Math.max(last, vendorIndex);
    return vendorIndex;
  }

  private start(piece: Piece, vendorIndex: number): ToolCallOut | null {
    if (piece.id !== "" && this.ids.has(piece.id)) {
      this.current.set(vendorIndex, DROPPED);
      return null;
    }
    const { text, isCustom } = piece;
    const isWhole = !isCustom && isWholeObject(text);
    const call = { index: this.calls.length, hasArguments: isCustom || text !== "", isWhole };
    this.calls.push(call);
    this.current.set(vendorIndex, call);
    const id = piece.id === "" ? this.makeId() : piece.id;
    this.ids.add(id);
    return {
      index: call.index,
      id: this.originalIds?.get(id) ?? id,
      type: isCustom ? "custom" : "function",
      ...encodePiece(piece, { name: piece.name }, text),
    };
  }
}

interface Piece {
  readonly index: number | null;
  /** "" where absent, like the name and the text. */
  readonly id: string;
  readonly name: string;
  readonly text: string;
  readonly isCustom: boolean;
  /** Further fields of the vendor. */
  readonly others: Fields;
}

const CALL_FIELDS: ReadonlySet<string> = new Set(["index", "id", "type", "function", "custom"]);

function readPiece(raw: unknown): Piece | null {
  const piece = asFields(raw);
  if (piece === null) return null;
  const kind = readCallKind(piece);
  const inner = asFields(piece[kind]) ?? {};
  const others = Object.entries(omit(piece, CALL_FIELDS)).filter(([, value]) => value !== null);
  return {
    index: typeof piece["index"] === "number" ? piece["index"] : null,
    id: typeof piece["id"] === "string" ? piece["id"] : "",
    name: typeof inner["name"] === "string" ? inner["name"] : "",
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

function hasValue(member: unknown): boolean {
  return Object.values(asFields(member) ?? {}).some((value) => value !== null && value !== "");
}

/** Puts the name and the text under the call's kind and adds the vendor's further fields. */
function encodePiece({ isCustom, others }: Piece, name: { readonly name?: string }, text: string) {
  const inner = isCustom ? { custom: { ...name, input: text } } : { function: { ...name, arguments: text } };
  return { ...inner, ...others };
}

/** Returns whether a piece has no fields beyond those of a name and arguments. */
export function isPlainPiece(piece: Fields): boolean {
  return Object.keys(omit(piece, CALL_FIELDS)).length === 0;
}

/** Returns whether a piece repeats the whole call under its index, as some vendors do at the end. */
function isRepeat(call: KnownCall, piece: Piece): boolean {
  return call.hasArguments && piece.id !== "" && piece.name !== "" && isWholeObject(piece.text);
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
