/**
 * Splits a stream of server-sent events, bytes as Latin-1 (WHATWG HTML, "Server-sent events"). Pieces may be cut anywhere, also
 * inside a character or between CR and LF.
 */

/** An event of a stream. Its data are given as a position in the text, because most events are only compared. */
export interface SplitEvent {
  readonly text: string;
  /** Where the data begin in the text, with their lines joined. */
  readonly start: number;
  readonly end: number;
  /** "" for an event without a name. */
  readonly name: string;
}

/** Splits a stream into events of at most `maxEventBytes`. */
export class EventSplitter {
  /** Whether an event is larger than the limit. Nothing that follows can be read. */
  isTooLarge = false;
  /**
   * The pieces since the last blank line. They are joined only once a blank line arrives, so that a large event costs linear time.
   */
  private held: string[] = [];
  private heldBytes = 0;
  private sawCr = false;
  private swallowLf = false;

  constructor(private readonly maxEventBytes: number) {}

  /** Reads the next piece and returns the events that it completes. */
  push(piece: string): readonly SplitEvent[] {
    if (piece === "" || this.isTooLarge) return NO_EVENTS;
    const text = this.sawCr || piece.includes("\r") ? this.unifyLineEnds(piece) : piece;
    if (text.includes("\n\n") || (text.startsWith("\n") && this.held.at(-1)?.endsWith("\n")))
      return this.split(this.takeHeld() + text);
    this.hold(text);
    return NO_EVENTS;
  }

  /** Ends the stream. A last event without its blank line counts, because some vendors leave that out. */
  end(): readonly SplitEvent[] {
    const block = this.takeHeld().replace(/\n+$/, "");
    const event = block === "" ? null : readBlock(block, 0, block.length);
    return event === null ? NO_EVENTS : [event];
  }

  /** Replaces CR and CRLF by LF, from the first CR on. */
  private unifyLineEnds(piece: string): string {
    const rest = this.swallowLf && piece.startsWith("\n") ? piece.slice(1) : piece;
    this.swallowLf = false;
    if (!rest.includes("\r")) return rest;
    this.sawCr = true;
    this.swallowLf = rest.endsWith("\r");
    return rest.replace(/\r\n?/g, "\n");
  }

  /** Returns the events of a text, and holds what follows the last one. */
  private split(text: string): SplitEvent[] {
    const events: SplitEvent[] = [];
    let from = 0;
    for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n", from)) {
      const event = end > from ? readBlock(text, from, end) : null;
      if (event !== null) events.push(event);
      from = end + 2;
    }
    this.hold(text.slice(from));
    return events;
  }

  private hold(text: string): void {
    if (text === "") return;
    this.held.push(text);
    this.heldBytes += text.length;
    if (this.heldBytes > this.maxEventBytes) this.isTooLarge = true;
  }

  private takeHeld(): string {
    if (this.held.length === 0) return "";
    const text = this.held.length === 1 ? (this.held[0] as string) : this.held.join("");
    this.held = [];
    this.heldBytes = 0;
    return text;
  }
}

const NO_EVENTS: readonly SplitEvent[] = [];

/** U+FEFF in UTF-8, as Latin-1. */
const BOM = "\u00ef\u00bb\u00bf";

/** Reads a block; null if it has no data. Nearly all have one data line, possibly after a name; others are read line by line. */
function readBlock(text: string, from: number, end: number): SplitEvent | null {
  const line = endOfLine(text, from, end);
  if (line === end && text.startsWith("data:", from))
    return { text, start: startOfValue(text, from + 5), end, name: "" };
  const data = line + 1;
  const isNamed = text.startsWith("event:", from) && text.startsWith("data:", data);
  if (!isNamed || endOfLine(text, data, end) !== end) return readLines(text.slice(from, end));
  const name = text.slice(startOfValue(text, from + 6), line);
  return { text, start: startOfValue(text, data + 5), end, name };
}

function endOfLine(text: string, from: number, end: number): number {
  const newline = text.indexOf("\n", from);
  return newline < 0 || newline > end ? end : newline;
}

/** Skips the one space that may precede a value. */
function startOfValue(text: string, at: number): number {
  return text.charCodeAt(at) === 32 ? at + 1 : at;
}

function readLines(block: string): SplitEvent | null {
  const data: string[] = [];
  let name = "";
  let error = "";
  for (const raw of block.split("\n")) {
    const line = raw.startsWith(BOM) ? raw.slice(BOM.length) : raw;
    const colon = line.indexOf(":");
    if (colon === 0) continue;
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(line.charCodeAt(colon + 1) === 32 ? colon + 2 : colon + 1);
    if (field === "data") data.push(value);
    else if (field === "event") name = value;
    else if (field === "error") error = value;
  }
  // No field of the standard: some hosts end a stream with a line `error: {…}`.
  if (data.length === 0)
    return error === "" ? null : { text: error, start: 0, end: error.length, name: "error" };
  const joined = data.join("\n");
  return { text: joined, start: 0, end: joined.length, name };
}
