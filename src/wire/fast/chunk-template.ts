// Replaces `ChatRelay.readEvent` for events that continue a text, and gives the client the same.
import { isUtf8 } from "node:buffer";
import {
  fields,
  items,
  type JsonNode,
  JsonSyntaxError,
  LEAF,
  memberOf,
  scanJson,
} from "../../base/json/scan.ts";
import type { ByteOutput } from "../../base/text/byte-output.ts";
import { readLatin1 } from "../../base/text/decode-bytes.ts";

/** The field of the delta that contains the text. */
export type TextField = "content" | "reasoning_content" | "reasoning" | "arguments";

/** An event of the vendor that is an example of those to copy. */
interface ExampleEvent {
  /** The text before the data in its line. */
  readonly prefix: string;
  /** Bytes as Latin-1. */
  readonly data: string;
}

/** Stands for the padding in an encoded event. */
export const PADDING_PLACEHOLDER = "\u0002";

const TEXT_MARK = "\\u0001";
const PADDING_MARK = "\\u0002";

/** The parts of the events around their text. */
interface TemplateParts {
  /** The vendor's event up to the opening quote of its text, from the start of its line. */
  readonly head: Buffer;
  /** The client's event up to the text. */
  readonly beforeText: Buffer;
  /** The vendor's event after the text, up to its blank line or to the opening quote of the padding. */
  readonly tail: Buffer;
  /** The client's event after the text, up to the same text again or to its padding. */
  readonly afterText: readonly Buffer[];
  /**
   * The bytes after the padding, in the vendor's event (`end`) and in the client's (`rest`); null if there is no padding. OpenAI
   * pads with `obfuscation`.
   */
  readonly padding: { readonly end: Buffer; readonly rest: Buffer } | null;
}

/** A text that was copied. */
interface CopiedEvent {
  /** Where the next event begins. */
  readonly next: number;
  readonly textBytes: number;
}

/**
 * Copies the events of one stream that differ only in their text. An event with the same bytes around its text is recognized by
 * comparison and sent with the text copied into the client's form, without parsing or encoding (docs/adr/0002-splice-not-print.md).
 */
export class ChunkTemplate {
  private constructor(private readonly parts: TemplateParts) {}

  /**
   * Makes a template from an event whose only text is in `field` of the first choice. `encoded` is the client's event, with placeholders for
   * the text and the padding. Returns null if the event is not that simple.
   */
  static create({ prefix, data }: ExampleEvent, field: TextField, encoded: string): ChunkTemplate | null {
    const chunk = tryScan(data);
    const text = findText(chunk, field);
    if (text?.kind !== "string") return null;
    const head = toBytes(prefix + data.slice(0, text.start + 1));
    const [beforeText = "", ...after] = encoded.split(TEXT_MARK);
    const around = { head, beforeText: toBytes(beforeText) };
    const padding = memberOf(chunk, "obfuscation");
    if (padding === undefined) {
      const tail = toBytes(data.slice(text.end - 1));
      return new ChunkTemplate({ ...around, tail, afterText: after.map(toBytes), padding: null });
    }
    const [last = "", rest, ...more] = after.pop()?.split(PADDING_MARK) ?? [];
    if (padding.kind !== "string" || padding.start < text.end || rest === undefined || more.length > 0)
      return null;
    return new ChunkTemplate({
      ...around,
      tail: toBytes(data.slice(text.end - 1, padding.start + 1)),
      afterText: [...after, last].map(toBytes),
      padding: { end: toBytes(data.slice(padding.end - 1)), rest: toBytes(rest) },
    });
  }

  /** Copies the event that begins at `from` if it matches. Returns null if it does not match or is incomplete. */
  copyEvent(source: Uint8Array, from: number, out: ByteOutput): CopiedEvent | null {
    const { head, beforeText, tail, afterText, padding } = this.parts;
    if (!isAt(source, from, head)) return null;
    const textStart = from + head.length;
    const textEnd = findBodyEnd(source, textStart);
    // An event with an empty text is not sent, but its other fields may be.
    if (textEnd <= textStart || !isAt(source, textEnd, tail)) return null;
    const paddingStart = textEnd + tail.length;
    const paddingEnd = padding === null ? paddingStart : findPlainEnd(source, paddingStart);
    if (padding !== null && (source[paddingEnd] !== QUOTE || !isAt(source, paddingEnd, padding.end)))
      return null;
    const dataEnd = padding === null ? paddingEnd : paddingEnd + padding.end.length;
    const next = dataEnd + blankLineAt(source, dataEnd);
    if (next === dataEnd) return null;
    out.append(beforeText);
    for (const after of afterText) {
      out.appendRange(source, textStart, textEnd);
      out.append(after);
    }
    if (padding !== null) {
      out.appendRange(source, paddingStart, paddingEnd);
      out.append(padding.rest);
    }
    return { next, textBytes: textEnd - textStart };
  }
}

const QUOTE = 34;
const BACKSLASH = 92;
const LF = 10;
const CR = 13;

/** Up to this length a loop compares faster than a call of the runtime. Bytes. */
const SHORT_BYTES = 64;

/** Returns whether `bytes` are in `source` at `from`. */
function isAt(source: Uint8Array, from: number, bytes: Buffer): boolean {
  const { length } = bytes;
  if (length > SHORT_BYTES)
    return from + length <= source.length && bytes.compare(source, from, from + length) === 0;
  for (let at = 0; at < length; at++) if (source[from + at] !== bytes[at]) return false;
  return true;
}

/** Returns the length of the line end and the blank line at `at`; 0 if there are none. */
function blankLineAt(source: Uint8Array, at: number): number {
  if (source[at] === LF) return source[at + 1] === LF ? 2 : 0;
  const isCrLf = source[at] === CR && source[at + 1] === LF && source[at + 2] === CR && source[at + 3] === LF;
  return isCrLf ? 4 : 0;
}

/** Returns the offset of the first byte from `from` on that is not printable ASCII, or is a quote or a backslash. */
function findPlainEnd(source: Uint8Array, from: number): number {
  let at = from;
  for (; at < source.length; at++) {
    const byte = source[at] as number;
    if (byte === QUOTE || byte === BACKSLASH || byte < 0x20 || byte > 0x7e) break;
  }
  return at;
}

/**
 * Returns the offset of the closing quote if the bytes from `from` on are the content of one JSON string in complete UTF-8 characters;
 * -1 if they are not.
 */
function findBodyEnd(source: Uint8Array, from: number): number {
  let at = findPlainEnd(source, from);
  if (source[at] === QUOTE) return at;
  while (at < source.length && source[at] !== QUOTE) at += source[at] === BACKSLASH ? 2 : 1;
  return at < source.length && isStringBody(source.subarray(from, at)) ? at : -1;
}

const ESCAPED = /^(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*$/;

function isStringBody(bytes: Uint8Array): boolean {
  return ESCAPED.test(readLatin1(bytes)) && isUtf8(bytes);
}

const CALLS = items(fields({ function: fields({ arguments: LEAF }) }));
const DELTA = fields({ content: LEAF, reasoning_content: LEAF, reasoning: LEAF, tool_calls: CALLS });
const CHUNK = fields({ obfuscation: LEAF, choices: items(fields({ delta: DELTA })) });

/** Scans an event that was parsed. Undefined if it has a member twice, which only a parser accepts. */
function tryScan(data: string): JsonNode | undefined {
  try {
    return scanJson(data, CHUNK);
  } catch (error) {
    if (error instanceof JsonSyntaxError) return undefined;
    throw error;
  }
}

function findText(chunk: JsonNode | undefined, field: TextField): JsonNode | undefined {
  const delta = memberOf(memberOf(chunk, "choices")?.items?.[0], "delta");
  if (field !== "arguments") return memberOf(delta, field);
  return memberOf(memberOf(memberOf(delta, "tool_calls")?.items?.[0], "function"), "arguments");
}

function toBytes(latin1: string): Buffer {
  return Buffer.from(latin1, "latin1");
}
