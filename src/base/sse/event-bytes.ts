import { readLatin1 } from "../text/decode-bytes.ts";

/** Reads single server-sent events from bytes, whose lines end with LF or CRLF. */

const LF = 10;
const CR = 13;

/** Returns where the event at `from` ends, after its blank line; -1 if that has not arrived, or if lines end with a bare CR. */
export function findEventEnd(bytes: Uint8Array, from: number): number {
  for (let at = bytes.indexOf(LF, from); at >= 0; at = bytes.indexOf(LF, at + 1)) {
    if (bytes[at + 1] === LF) return at + 2;
    if (bytes[at + 1] === CR && bytes[at + 2] === LF) return at + 3;
  }
  return -1;
}

/** Returns the text of a whole event, bytes as Latin-1, with LF as line end. */
export function eventText(bytes: Uint8Array, start: number, end: number): string {
  const text = readLatin1(bytes, start, end);
  return text.includes("\r") ? text.replace(/\r\n?/g, "\n") : text;
}
