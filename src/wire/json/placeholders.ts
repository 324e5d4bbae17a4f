import { type ByteRange, ComposedBytes } from "../../base/composed-bytes.ts";
import type { Fields } from "./fields.ts";
import type { JsonNode } from "./scan.ts";

/**
 * A JSON text whose long strings are replaced by short placeholders. Code that works on it may only test whether a string is blank
 * and embed it in longer strings. Parsing and printing a conversation then costs its structure and not its text: a large
 * translated request takes about a quarter less time (docs/adr/0002-splice-not-print.md).
 */
export interface ShortenedJson {
  /** The JSON with placeholders, bytes as Latin-1. */
  readonly text: string;
  /** Returns a string that stands for this JSON: `print` prints the JSON in place of the string and its quotes. */
  embed(json: string): string;
  /**
   * Prints what was made of it, with the original strings in place of the placeholders; it shares their bytes. Returns null if a
   * placeholder was printed into JSON within a JSON string, where the original would need a second escaping.
   */
  print(body: Fields): ComposedBytes | null;
}

/** Encloses the number of a placeholder. A control character: JSON has one spelling for it, and clients hardly ever send it. */
const MARK = "\\u0001";
/** Shorter strings are copied as quickly. */
const LONG_BYTES = 256;

/** A JSON text: its bytes, and the same as Latin-1. */
export interface JsonSource {
  readonly bytes: Buffer;
  readonly text: string;
}

/**
 * Replaces the long ones among these strings of a JSON text; they are in its order. Returns null if none is long, or if the rest of the
 * text contains the mark already.
 */
export function replaceLongStrings(
  { bytes, text }: JsonSource,
  strings: readonly JsonNode[],
): ShortenedJson | null {
  const long = strings.filter((node) => isLong(text, node));
  if (long.length === 0) return null;
  const others = splitAt(text, long);
  if (others.some((part) => part.includes(MARK))) return null;
  const embedded: string[] = [];
  return {
    embed(json) {
      embedded.push(json);
      return `\u0001${long.length + embedded.length - 1}\u0001`;
    },
    text: others.map((part, at) => (at < long.length ? `${part}${MARK}${at}${MARK}` : part)).join(""),
    print(body) {
      const pieces = restore(JSON.stringify(body).split(MARK), long, embedded);
      return pieces === null ? null : new ComposedBytes(bytes, pieces);
    },
  };
}

/** Returns what stands between the values of these strings, with their quotes. */
function splitAt(text: string, strings: readonly JsonNode[]): string[] {
  let from = 0;
  const parts = strings.map(({ start, end }) => {
    const part = text.slice(from, start + 1);
    from = end - 1;
    return part;
  });
  parts.push(text.slice(from));
  return parts;
}

/** Whether the string is long and certainly not blank: like its placeholder, it begins with a letter or a mark. */
function isLong(text: string, { kind, start, end }: JsonNode): boolean {
  if (kind !== "string" || end - start < LONG_BYTES) return false;
  const first = text.charCodeAt(start + 1);
  return first > SPACE && first < DELETE && first !== BACKSLASH;
}

const SPACE = 32;
const BACKSLASH = 92;
const DELETE = 127;

/**
 * Replaces the placeholders by what they stand for. `printed` is the JSON split at the marks, so every second piece is the number of a
 * placeholder: those of the strings come before those of the embedded JSON. Returns null where it is not, or where a mark stands in
 * JSON within a string.
 */
function restore(
  printed: readonly string[],
  strings: readonly JsonNode[],
  embedded: readonly string[],
): readonly (ByteRange | string)[] | null {
  if (printed.length % 2 === 0) return null;
  const pieces: (ByteRange | string)[] = [];
  let text = printed[0] as string;
  for (let at = 1; at < printed.length; at += 2) {
    const number = Number(printed[at]);
    const after = printed[at + 1] as string;
    const node = strings[number];
    const json = embedded[number - strings.length];
    if (node !== undefined && !endsInEscape(text)) {
      pieces.push(text, { start: node.start + 1, end: node.end - 1 });
      text = after;
    } else if (json !== undefined && text.endsWith(QUOTE) && after.startsWith(QUOTE)) {
      // Not joined, because each join would copy what was joined before.
      pieces.push(text.slice(0, -1), json);
      text = after.slice(1);
    } else return null;
  }
  pieces.push(text);
  return pieces;
}

const QUOTE = '"';

/** Whether the piece ends with an odd number of backslashes, which escape the backslash of the mark after it. */
function endsInEscape(piece: string): boolean {
  let at = piece.length;
  while (piece.charCodeAt(at - 1) === BACKSLASH) at--;
  return (piece.length - at) % 2 === 1;
}
