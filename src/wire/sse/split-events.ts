/**
 * Splits a stream of server-sent events, bytes read as Latin-1, into their data (WHATWG HTML, "Server-sent
 * events"). Pieces may break anywhere, also inside a character or between CR and LF.
 */

/**
 * Takes one event: its data, lines joined, stands in `text` from `start` to `end`; `name` is its name or "". The text is
 * not cut out, because most events are only compared.
 */
export type OnEvent = (text: string, start: number, end: number, name: string) => void;

/**
 * Takes an event whole that it knows by its looks: `from` is where it begins in `text`. Gives where the next begins,
 * behind the blank line; `from` where it knows no such event.
 */
export type PassKnown = (text: string, from: number) => number;

/** An event over the bound. */
export class EventTooLargeError extends Error {}

/**
 * A splitter that refuses events of more than `maxEventBytes`, with an `EventTooLargeError`. What `passKnown` takes is not
 * looked at further. A class, because one is made for every stream: its methods are not.
 */
export class EventSplitter {
  /** What came since the last blank line; joined only once one comes, so that a large event costs its length once. */
  private held: string[] = [];
  private heldBytes = 0;
  private sawCr = false;
  private swallowLf = false;

  constructor(
    private readonly maxEventBytes: number,
    private readonly passKnown: PassKnown = passNone,
  ) {}

  /** Takes the next piece and calls `onEvent` for each event that it completes. */
  push(piece: string, onEvent: OnEvent): void {
    if (piece === "") return;
    const text = this.sawCr || piece.includes("\r") ? this.unifyLineEnds(piece) : piece;
    const completes = text.includes("\n\n") || (text.startsWith("\n") && this.held.at(-1)?.endsWith("\n"));
    this.hold(completes ? this.splitInto(this.takeHeld() + text, onEvent) : text);
  }

  /** Ends the stream: an event that lacks only its blank line still counts, as vendors leave it out. */
  end(onEvent: OnEvent): void {
    const block = this.takeHeld().replace(/\n+$/, "");
    if (block !== "") readBlock(block, 0, block.length, onEvent);
  }

  /** CR and CRLF become LF, from the first CR on. */
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
      const passed = this.passKnown(text, from);
      if (passed > from) {
        from = passed;
        continue;
      }
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
    const text = this.held.length === 1 ? (this.held[0] as string) : this.held.join("");
    this.held = [];
    this.heldBytes = 0;
    return text;
  }
}

function passNone(_text: string, from: number): number {
  return from;
}

/** U+FEFF in UTF-8, read as Latin-1. */
const BOM = "\u00ef\u00bb\u00bf";

/** Nearly every block is one data line, or one behind its name; anything else goes the long way. */
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

/** Behind the one space that a value may have before it. */
function startOfValue(text: string, at: number): number {
  return text.charCodeAt(at) === 32 ? at + 1 : at;
}

function readLines(block: string, onEvent: OnEvent): void {
  const data: string[] = [];
  let name = "";
  for (const raw of block.split("\n")) {
    const line = raw.startsWith(BOM) ? raw.slice(BOM.length) : raw;
    const colon = line.indexOf(":");
    if (colon === 0) continue;
    const field = colon < 0 ? line : line.slice(0, colon);
    const value = colon < 0 ? "" : line.slice(line.charCodeAt(colon + 1) === 32 ? colon + 2 : colon + 1);
    if (field === "data") data.push(value);
    else if (field === "event") name = value;
  }
  if (data.length === 0) return;
  const joined = data.join("\n");
  onEvent(joined, 0, joined.length, name);
}
