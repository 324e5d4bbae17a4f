import type { Fields } from "./fields.ts";
import { encodeLatin1, type JsonNode } from "./scan.ts";

/**
 * A JSON text without its long strings: each has a short stand-in, of which no more may be asked than whether it is
 * blank, and which may be put into longer strings. Reading and printing a conversation costs its structure then, and
 * no longer its words (docs/adr/0002-splice-not-print.md).
 */
export interface SkippedCandidate {
  /** The text with the stand-ins, bytes read as Latin-1. */
  readonly text: string;
  /**
   * Prints what was made of it, the strings as they came; null where a stand-in was printed into JSON within JSON.
   * `mayOverwrite`: nobody needs the bytes it was made of any more, so that it may take their place where it fits.
   */
  print(body: Fields, mayOverwrite: boolean): Buffer | null;
}

/** A control character: JSON has one spelling for it, and hardly anyone sends one. */
const STAND_IN = "\\u0001";
/** Shorter ones are copied as quickly. */
const LONG_BYTES = 256;

/**
 * Sets the long ones among these strings aside. `bytes` are JSON, `text` the same read as Latin-1, in which they stand in
 * this order. Null where that would save nothing, or the stand-ins' character is there already.
 */
export function setAside(bytes: Buffer, text: string, strings: readonly JsonNode[]): SkippedCandidate | null {
  const long = strings.filter((node) => isLong(text, node));
  if (long.length === 0 || bytes.includes(STAND_IN)) return null;
  const short: string[] = [];
  let from = 0;
  for (const { start, end } of long) {
    short.push(text.slice(from, start + 1), STAND_IN, String(short.length / 4), STAND_IN);
    from = end - 1;
  }
  short.push(text.slice(from));
  return {
    text: short.join(""),
    print(body, mayOverwrite) {
      const pieces = encodeLatin1(JSON.stringify(body)).split(STAND_IN);
      if (!putBack(pieces, text, long)) return null;
      let size = 0;
      for (const piece of pieces) size += piece.length;
      // A large buffer of its own costs more than all the rest here.
      const out = mayOverwrite && size <= bytes.length ? bytes : Buffer.allocUnsafe(size);
      let at = 0;
      for (const piece of pieces) at += out.write(piece, at, "latin1");
      return out.subarray(0, size);
    },
  };
}

/** One that begins with a letter or a mark is not blank, as its stand-in is not. */
function isLong(text: string, { kind, start, end }: JsonNode): boolean {
  if (kind !== "string" || end - start < LONG_BYTES) return false;
  const first = text.charCodeAt(start + 1);
  return first > SPACE && first < DELETE && first !== BACKSLASH;
}

const SPACE = 32;
const BACKSLASH = 92;
const DELETE = 127;

/** Puts the strings in place of their stand-ins, each a number between two marks; false where that cannot be. */
function putBack(pieces: string[], text: string, strings: readonly JsonNode[]): boolean {
  for (let at = 1; at < pieces.length; at += 2) {
    const node = strings[Number(pieces[at])];
    if (node === undefined || endsInEscape(pieces[at - 1] as string)) return false;
    pieces[at] = text.slice(node.start + 1, node.end - 1);
  }
  return pieces.length % 2 === 1;
}

/** Whether the backslash of a mark behind it is itself escaped: then the mark is text of JSON within JSON. */
function endsInEscape(piece: string): boolean {
  let at = piece.length;
  while (piece.charCodeAt(at - 1) === BACKSLASH) at--;
  return (piece.length - at) % 2 === 1;
}
