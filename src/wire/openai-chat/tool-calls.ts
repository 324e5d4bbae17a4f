import { asFields } from "../json/fields.ts";

/** A tool call as a client reads it, whole or in pieces. */
export interface ToolCallOut {
  readonly index: number;
  readonly id?: string;
  readonly type?: "function";
  readonly function: { readonly name?: string; readonly arguments: string };
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
    const call = { index: calls.length, hasArguments: text !== "", isWhole: isWholeObject(text) };
    calls.push(call);
    current.set(vendorIndex, call);
    const id = piece.id === "" ? makeId() : piece.id;
    ids.add(id);
    return {
      index: call.index,
      id: originalIds?.get(id) ?? id,
      type: "function",
      function: { name: piece.name, arguments: text },
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
    if (call === DROPPED || call.isWhole || piece.text === "" || isRepeat(call, piece)) return null;
    call.hasArguments = true;
    return { index: call.index, function: { arguments: piece.text } };
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
}

function readPiece(raw: unknown): Piece | null {
  const piece = asFields(raw);
  if (piece === null) return null;
  const fn = asFields(piece["function"]) ?? {};
  return {
    index: typeof piece["index"] === "number" ? piece["index"] : null,
    id: typeof piece["id"] === "string" ? piece["id"] : "",
    name: typeof fn["name"] === "string" ? fn["name"] : "",
    text: readArguments(fn["arguments"]),
  };
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
