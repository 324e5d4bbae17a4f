// Replaces `JSON.stringify` of a conversation with long texts, and prints the same.

import type { Fields } from "../../base/json/fields.ts";
import { BACKSLASH, isEscaped, isSameText, type JsonNode } from "../../base/json/scan.ts";
import { type ByteRange, ComposedBytes } from "../../base/text/composed-bytes.ts";

/**
 * A JSON text whose long strings are replaced by short placeholders. Code that works on it may only test whether a string is blank
 * and embed it in longer strings. Parsing and printing a conversation then costs its structure and not its text: a large
 * translated request takes about a quarter less time (docs/adr/0002-splice-not-print.md).
 */
interface ShortenedJson {
  /** The JSON with placeholders, bytes as Latin-1. */
  readonly text: string;
  /**
   * Prints the body that was made from the shortened one, with the original strings in place of the placeholders. The result shares their
   * bytes. Returns null if a placeholder was printed into JSON within a JSON string, where the original would need a second escaping.
   */
  print(body: Fields): ComposedBytes | null;
}

/** Encloses the number of a placeholder. A control character: JSON has one spelling for it, and clients hardly ever send it. */
const MARK = "\\u0001";
/** Shorter strings are copied as quickly. */
const LONG_BYTES = 256;

/** A JSON text: its bytes, and the same as Latin-1. */
interface JsonSource {
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
  const short = shorten(text, long);
  if (countMarks(short) !== 2 * long.length) return null;
  return {
    text: short,
    print(body) {
      const pieces = restore(JSON.stringify(body), long);
      return pieces === null ? null : ComposedBytes.of(bytes, pieces);
    },
  };
}

/** Puts placeholders in place of the values of strings. */
function shorten(text: string, strings: readonly JsonNode[]): string {
  /** The latest string of each length. */
  const latest = new Map<number, number>();
  let short = "";
  let from = 0;
  for (let at = 0; at < strings.length; at++) {
    const node = strings[at] as JsonNode;
    const length = node.end - node.start;
    const other = latest.get(length);
    // The same text after another gets its placeholder, so that both are equal.
    const isSame = other !== undefined && isSameText(text, strings[other] as JsonNode, node);
    const number = isSame ? other : at;
    latest.set(length, number);
    short += `${text.slice(from, node.start + 1)}${MARK}${number}${MARK}`;
    from = node.end - 1;
  }
  return short + text.slice(from);
}

function countMarks(text: string): number {
  let count = 0;
  for (let at = text.indexOf(MARK); at >= 0; at = text.indexOf(MARK, at + MARK.length)) count++;
  return count;
}

/** Whether the string is long and certainly not blank: like its placeholder, it begins with a letter or a mark. */
function isLong(text: string, { kind, start, end }: JsonNode): boolean {
  if (kind !== "string" || end - start < LONG_BYTES) return false;
  const first = text.charCodeAt(start + 1);
  return first > SPACE && first < DELETE && first !== BACKSLASH;
}

const SPACE = 32;
const DELETE = 127;

/**
 * Replaces the placeholders in printed JSON by the strings they stand for. Returns null if a mark is not that of a placeholder, or
 * stands in JSON within a string.
 */
function restore(printed: string, strings: readonly JsonNode[]): readonly (ByteRange | string)[] | null {
  const pieces: (ByteRange | string)[] = [];
  let from = 0;
  for (let mark = printed.indexOf(MARK); mark >= 0; mark = printed.indexOf(MARK, from)) {
    const second = printed.indexOf(MARK, mark + MARK.length);
    const number = readNumber(printed, mark + MARK.length, second);
    const node = strings[number];
    if (node === undefined || isEscaped(printed, mark)) return null;
    pieces.push(printed.slice(from, mark), { start: node.start + 1, end: node.end - 1 });
    from = second + MARK.length;
  }
  pieces.push(printed.slice(from));
  return pieces;
}

const ZERO = 48;

/** Reads the digits from `start` to `end`; NaN for anything else. */
function readNumber(text: string, start: number, end: number): number {
  if (start >= end) return Number.NaN;
  let number = 0;
  for (let at = start; at < end; at++) {
    const digit = text.charCodeAt(at) - ZERO;
    if (digit < 0 || digit > 9) return Number.NaN;
    number = number * 10 + digit;
  }
  return number;
}
