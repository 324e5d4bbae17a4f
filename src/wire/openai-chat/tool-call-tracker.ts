import { JsonProgress } from "./json-progress.ts";
import { type CallPiece, encodePiece, isWholeObject, readPiece, type ToolCallOut } from "./tool-calls.ts";

/** A call whose beginning was sent to the client. */
interface StartedCall {
  /** The index of the call in the client's stream. */
  readonly index: number;
  readonly name: string;
  readonly isCustom: boolean;
  /** The vendor's id; "" until it arrives. */
  id: string;
  hasArguments: boolean;
  /** Whether its arguments were complete in the first piece. Further pieces are dropped, because they would corrupt them. */
  readonly isWhole: boolean;
  /** The arguments that were read here. */
  readonly progress: JsonProgress;
  readonly beginning: string;
  chars: number;
  /** Further pieces may have been copied without being read here. */
  isCopied: boolean;
}

/** A call that is held back until its name arrives. A call that may repeat the previous one is held back until its arguments arrive. */
interface HeldCall {
  readonly held: CallPiece;
  readonly waitsForArguments: boolean;
}

const DROPPED = "dropped";
/** The arguments of a call without a name are kept up to this length. A longer one is dropped. */
const MAX_HELD_CHARS = 1024 * 1024;
/** Characters by which repeated arguments are recognized, with their length. */
const BEGINNING_CHARS = 256;

/**
 * Tracks the tool calls of one choice. It adds an id, an index and a type where the vendor left them out, separates calls that share an
 * index, names each call once and first, and drops duplicate calls and those without a name (docs/api/chat.md, "Tool calls").
 */
export class ToolCallTracker {
  /** Counts the calls that have begun, also those that the client has not seen. */
  begun = 0;
  private readonly calls: StartedCall[] = [];
  private readonly byId = new Map<string, StartedCall>();
  /** The current call of each vendor index. Gemini uses one index for several calls in turn. */
  private readonly current = new Map<number, StartedCall | HeldCall | typeof DROPPED>();
  private lastVendorIndex = -1;

  /** `makeId` makes missing ids; `originalIds` are the client's own ids by the mapped ones. */
  constructor(
    private readonly makeId: () => string,
    private readonly originalIds: ReadonlyMap<string, string> | null,
  ) {}

  /** Returns the pieces to send for the vendor's pieces; empty if they were held back, were duplicates or had no content. */
  step(pieces: readonly unknown[]): ToolCallOut[] {
    return pieces.map((raw) => this.stepOne(raw)).filter((out) => out !== null);
  }

  /** Returns the client's index for a vendor's index; null if that is unknown or its call was dropped or is held back. */
  indexOf(vendorIndex: number): number | null {
    return this.startedAt(vendorIndex)?.index ?? null;
  }

  /**
   * Permits further arguments of the call at a vendor's index to be copied to the client. Returns the client's index; null if the call has
   * not begun its arguments, or if they are complete.
   */
  allowCopies(vendorIndex: number): number | null {
    const call = this.startedAt(vendorIndex);
    if (call === null || !call.hasArguments || call.isWhole) return null;
    call.isCopied = true;
    return call.index;
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

  private startedAt(vendorIndex: number): StartedCall | null {
    const call = this.current.get(vendorIndex);
    return call === undefined || call === DROPPED || "held" in call ? null : call;
  }

  private stepOne(raw: unknown): ToolCallOut | null {
    const piece = readPiece(raw);
    if (piece === null) return null;
    const named = this.callOfId(piece);
    if (named !== undefined) return this.grow(named, piece);
    const vendorIndex = this.vendorIndexOf(piece);
    const call = this.current.get(vendorIndex);
    if (call === undefined || this.startsAnother(call, piece)) return this.begin(piece, vendorIndex);
    if (call === DROPPED) return null;
    return "held" in call ? this.growHeld(call, piece, vendorIndex) : this.grow(call, piece);
  }

  /** Returns the call that a piece continues by its id: without an index, or without a name. */
  private callOfId({ id, index, name }: CallPiece): StartedCall | undefined {
    if (id === "" || (index !== null && (name !== "" || this.current.get(index) === DROPPED)))
      return undefined;
    return this.byId.get(id);
  }

  /** A piece without an index starts the next call, or continues the last one. */
  private vendorIndexOf(piece: CallPiece): number {
    const last = this.lastVendorIndex;
    const vendorIndex = piece.index ?? (this.startsNext(piece) ? last + 1 : last);
    this.lastVendorIndex = Math.max(last, vendorIndex);
    return vendorIndex;
  }

  private startsNext(piece: CallPiece): boolean {
    const call = this.current.get(this.lastVendorIndex);
    return call === undefined || this.startsAnother(call, piece);
  }

  /** Returns whether a piece starts another call than the current one of its index. Some vendors give all calls the same index. */
  private startsAnother(call: StartedCall | HeldCall | typeof DROPPED, piece: CallPiece): boolean {
    const hasNewId = piece.id !== "" && !this.byId.has(piece.id);
    if (call === DROPPED) return hasNewId && piece.name !== "";
    if ("held" in call) return startsAfterHeld(call, piece);
    // Some hosts make an id for every piece, so that only a name or arguments after the last brace start a call.
    if (piece.name === "") return isComplete(call) && piece.text.trim() !== "";
    if (piece.id !== "" && !hasNewId) return false;
    if (piece.name !== call.name || (hasNewId && call.id !== "")) return true;
    if (!mayBeComplete(call)) return false;
    return hasNewId || piece.index === null || !repeats(call, piece);
  }

  private begin(piece: CallPiece, vendorIndex: number): ToolCallOut | null {
    this.begun++;
    if (piece.name !== "" && !this.mayRepeat(piece, vendorIndex)) return this.start(piece, vendorIndex);
    this.current.set(vendorIndex, { held: piece, waitsForArguments: piece.name !== "" });
    return null;
  }

  /** Whether a piece may only repeat the name of the current call, or begin one of the same name. */
  private mayRepeat(piece: CallPiece, vendorIndex: number): boolean {
    const call = this.startedAt(vendorIndex);
    return call?.name === piece.name && piece.id === "" && piece.text.trim() === "";
  }

  private growHeld({ held, waitsForArguments }: HeldCall, piece: CallPiece, at: number): ToolCallOut | null {
    const { index, name, isCustom } = held.name === "" ? piece : held;
    const id = held.id === "" ? piece.id : held.id;
    const text = held.text + piece.text;
    const others = { ...held.others, ...piece.others };
    const grown: CallPiece = { index, id, name, text, isCustom, others };
    if (name !== "" && !(waitsForArguments && text.trim() === "")) return this.start(grown, at);
    const isTooLong = text.length > MAX_HELD_CHARS;
    this.current.set(at, isTooLong ? DROPPED : { held: grown, waitsForArguments });
    return null;
  }

  private grow(call: StartedCall, piece: CallPiece): ToolCallOut | null {
    if (call.id === "" && piece.id !== "") {
      call.id = piece.id;
      this.byId.set(piece.id, call);
    }
    if (isRepeat(call, piece)) return null;
    const text = call.isWhole ? "" : piece.text;
    if (text === "" && Object.keys(piece.others).length === 0) return null;
    addText(call, text);
    return { index: call.index, ...encodePiece(piece, {}, text) };
  }

  private start(piece: CallPiece, vendorIndex: number): ToolCallOut | null {
    if (piece.id !== "" && this.byId.has(piece.id)) {
      this.current.set(vendorIndex, DROPPED);
      return null;
    }
    const call = startCall(piece, this.calls.length);
    this.calls.push(call);
    this.current.set(vendorIndex, call);
    const id = piece.id === "" ? this.makeId() : piece.id;
    this.byId.set(id, call);
    return {
      index: call.index,
      id: this.originalIds?.get(id) ?? id,
      type: piece.isCustom ? "custom" : "function",
      ...encodePiece(piece, { name: piece.name }, piece.text),
    };
  }
}

function startCall({ id, name, text, isCustom }: CallPiece, index: number): StartedCall {
  const call: StartedCall = {
    index,
    name,
    isCustom,
    id,
    hasArguments: isCustom,
    isWhole: !isCustom && isWholeObject(text),
    progress: new JsonProgress(),
    beginning: text.slice(0, BEGINNING_CHARS),
    chars: 0,
    isCopied: false,
  };
  addText(call, text);
  return call;
}

/** Adds arguments. White space does not count: `{}` may still follow it. */
function addText(call: StartedCall, text: string): void {
  call.chars += text.length;
  if (text.trim() !== "") call.hasArguments = true;
  if (!call.isCustom && !call.isCopied) call.progress.push(text);
}

/** Returns whether a piece starts a new call after a held one. It does if both have names, and their names or ids differ. */
function startsAfterHeld({ held }: HeldCall, piece: CallPiece): boolean {
  const isNamedTwice = held.name !== "" && piece.name !== "" && held.name !== piece.name;
  const hasOtherId = held.id !== "" && piece.id !== "" && held.id !== piece.id;
  return isNamedTwice || (hasOtherId && piece.name !== "" && held.name !== "");
}

function isComplete(call: StartedCall): boolean {
  return !call.isCopied && call.progress.isComplete;
}

function mayBeComplete(call: StartedCall): boolean {
  return call.isCopied || isComplete(call);
}

/** Returns whether a piece repeats the whole call under its index, as some vendors do at the end. */
function isRepeat(call: StartedCall, piece: CallPiece): boolean {
  return mayBeComplete(call) && piece.name !== "" && isWholeObject(piece.text);
}

/** Returns whether a piece without an id repeats the arguments of a call with the same name. */
function repeats(call: StartedCall, { text }: CallPiece): boolean {
  if (!isWholeObject(text)) return false;
  return call.isCopied || (text.length === call.chars && text.startsWith(call.beginning));
}
