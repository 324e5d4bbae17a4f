/**
 * Splits a stream of server-sent events, bytes as Latin-1 (WHATWG HTML, "Server-sent events"). Pieces may be cut anywhere, also
 * inside a character or between CR and LF.
 */

/**
 * Receives an event: its data, with lines joined, is in `text` from `start` to `end`; `name` is its name or "". The data are not
 * cut out, because most events are only compared.
 */
export type OnEvent = (text: string, start: number, end: number, name: string) => void;

/** An event is larger than the limit. */
export class EventTooLargeError extends Error {}

/** Splits a stream into events, and throws an `EventTooLargeError` for events of more than `maxEventBytes`. */
export class EventSplitter {
  /**
   * The pieces since the last blank line. They are joined only once a blank line arrives, so that a large event costs linear time.
   */
  private held: string[] = [];
  private heldBytes = 0;
  private sawCr = false;
  private swallowLf = false;

  constructor(private readonly maxEventBytes: number) {}

  /** Whether the next piece begins with an event: nothing of an earlier one waits for its end. */
  get isBetweenEvents(): boolean {
    return this.held.length === 0 && !this.swallowLf;
  }

  /** Reads the next piece and calls `onEvent` for each event that it completes. */
  push(piece: string, onEvent: OnEvent): void {
    if (piece === "") return;
    const text = this.sawCr || piece.includes("\r") ? this.unifyLineEnds(piece) : piece;
    const completes = text.includes("\n\n") || (text.startsWith("\n") && this.held.at(-1)?.endsWith("\n"));
    this.hold(completes ? this.splitInto(this.takeHeld() + text, onEvent) : text);
  }

  /** Ends the stream. A last event without its blank line counts, because some vendors leave that out. */
  end(onEvent: OnEvent): void {
    const block = this.takeHeld().replace(/\n+$/, "");
    if (block !== "") readBlock(block, 0, block.length, onEvent);
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

  private splitInto(text: string, onEvent: OnEvent): string {
    let from = 0;
    for (;;) {
      const end = text.indexOf("\n\n", from);
      if (end < 0) break;
      if (end > from) readBlock(text, from, end, onEvent);
      from = end + 2;
    }
    return from === 0 ? text : text.slice(from);
  }

  private hold(text: string): void {
    if (text === "") return;
    this.held.push(text);
    this.heldBytes += text.length;
    if (this.heldBytes > this.maxEventBytes)
      throw new EventTooLargeError(`an event of over ${this.maxEventBytes} bytes`);
  }

  private takeHeld(): string {
    if (this.held.length === 0) return "";
    const text = this.held.length === 1 ? (this.held[0] as string) : this.held.join("");
    this.held = [];
    this.heldBytes = 0;
    return text;
  }
}

/** U+FEFF in UTF-8, as Latin-1. */
const BOM = "\u00ef\u00bb\u00bf";

/** Reads a block. Nearly all have one data line, possibly after a name; others are read line by line. */
function readBlock(text: string, from: number, end: number, onEvent: OnEvent): void {
  const line = endOfLine(text, from, end);
  if (line === end && text.startsWith("data:", from)) {
    onEvent(text, startOfValue(text, from + 5), end, "");
    return;
  }
  const data = line + 1;
  const isNamed = text.startsWith("event:", from) && text.startsWith("data:", data);
  if (isNamed && endOfLine(text, data, end) === end) {
    onEvent(text, startOfValue(text, data + 5), end, text.slice(startOfValue(text, from + 6), line));
    return;
  }
  readLines(text.slice(from, end), onEvent);
}

function endOfLine(text: string, from: number, end: number): number {
  const newline = text.indexOf("\n", from);
  return newline < 0 || newline > end ? end : newline;
}

/** Skips the one space that may precede a value. */
function startOfValue(text: string, at: number): number {
  return text.charCodeAt(at) === 32 ? at + 1 : at;
}

function readLines(block: string, onEvent: OnEvent): void {
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
  if (data.length === 0 && error !== "") onEvent(error, 0, error.length, "error");
  if (data.length === 0) return;
  const joined = data.join("\n");
  onEvent(joined, 0, joined.length, name);
}
