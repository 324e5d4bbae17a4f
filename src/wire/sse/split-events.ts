/**
 * Splits a stream of server-sent events, bytes read as Latin-1, into their data (WHATWG HTML, "Server-sent
 * events"). Pieces may break anywhere, also inside a character or between CR and LF.
 */

/**
 * Takes one event: its data, lines joined, stands in `text` from `start` to `end`; `name` is its name or "". The text is
 * not cut out, because most events are only compared.
 */
export type OnEvent = (text: string, start: number, end: number, name: string) => void;

export interface EventSplitter {
  /** Takes the next piece and calls `onEvent` for each event that it completes. */
  push(piece: string, onEvent: OnEvent): void;
  /** Ends the stream: an event that lacks only its blank line still counts, as vendors leave it out. */
  end(onEvent: OnEvent): void;
}

/**
 * Takes an event whole that it knows by its looks: `from` is where it begins in `text`. Gives where the next begins,
 * behind the blank line; `from` where it knows no such event.
 */
export type PassKnown = (text: string, from: number) => number;

/** An event over the bound. */
export class EventTooLargeError extends Error {}

/**
 * A splitter that refuses events of more than `maxEventBytes`, with an `EventTooLargeError`. What `passKnown` takes is not
 * looked at further.
 */
export function createEventSplitter(maxEventBytes: number, passKnown: PassKnown = passNone): EventSplitter {
  /** What came since the last blank line; joined only once one comes, so that a large event costs its length once. */
  let held: string[] = [];
  let heldBytes = 0;
  let sawCr = false;
  let swallowLf = false;

  /** CR and CRLF become LF, from the first CR on. */
  const unifyLineEnds = (piece: string): string => {
    if (swallowLf && piece.startsWith("\n")) piece = piece.slice(1);
    swallowLf = false;
    if (!piece.includes("\r")) return piece;
    sawCr = true;
    swallowLf = piece.endsWith("\r");
    return piece.replace(/\r\n?/g, "\n");
  };

  const splitInto = (text: string, onEvent: OnEvent): string => {
    let from = 0;
    for (;;) {
      const passed = passKnown(text, from);
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
  };

  const hold = (text: string): void => {
    if (text === "") return;
    held.push(text);
    heldBytes += text.length;
    if (heldBytes > maxEventBytes) throw new EventTooLargeError(`an event of over ${maxEventBytes} bytes`);
  };

  const takeHeld = (): string => {
    const text = held.length === 1 ? (held[0] as string) : held.join("");
    held = [];
    heldBytes = 0;
    return text;
  };

  return {
    push(piece, onEvent) {
      if (piece === "") return;
      const text = sawCr || piece.includes("\r") ? unifyLineEnds(piece) : piece;
      const completes = text.includes("\n\n") || (text.startsWith("\n") && held.at(-1)?.endsWith("\n"));
      if (!completes) return hold(text);
      const rest = splitInto(takeHeld() + text, onEvent);
      hold(rest);
    },
    end(onEvent) {
      const block = takeHeld().replace(/\n+$/, "");
      if (block !== "") readBlock(block, 0, block.length, onEvent);
    },
  };
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
