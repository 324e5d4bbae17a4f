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
  const text = latin1(bytes, start, end);
  return text.includes("\r") ? text.replace(/\r\n?/g, "\n") : text;
}

/** Decodes the bytes from `start` to `end` as Latin-1. */
export function latin1(bytes: Uint8Array, start = 0, end = bytes.length): string {
  // Not on a `Buffer` over the same memory: making one costs as much as decoding an event.
  return Buffer.prototype.toString.call(bytes, "latin1", start, end);
}
