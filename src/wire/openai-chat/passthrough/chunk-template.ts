import { isUtf8 } from "node:buffer";
import type { ByteOutput } from "../../../base/byte-output.ts";
import { readLatin1 } from "../../../base/decode-bytes.ts";
import { encodeLatin1, fields, items, type JsonNode, LEAF, memberOf, scanJson } from "../../json/scan.ts";

/** Stands for the padding in an encoded chunk. */
export const PADDING_PLACEHOLDER = "\u0002";

const TEXT_MARK = "\\u0001";
const PADDING_MARK = "\\u0002";

const CALLS = items(fields({ function: fields({ arguments: LEAF }) }));
const DELTA = fields({ content: LEAF, reasoning_content: LEAF, reasoning: LEAF, tool_calls: CALLS });
const CHUNK = fields({ obfuscation: LEAF, choices: items(fields({ delta: DELTA })) });

/** The field of the delta that contains the text. */
export type TextField = "content" | "reasoning_content" | "reasoning" | "arguments";

/** An event of the vendor: its data, bytes as Latin-1, and what precedes the data in its line. */
interface VendorEvent {
  readonly prefix: string;
  readonly data: string;
}

/** An event as bytes in Latin-1, and the client's version of it. */
interface TemplateText {
  /** The vendor's event up to the opening quote of its text, from the start of its line. */
  readonly head: string;
  /** The vendor's event after the text, up to its blank line or to the opening quote of the padding. */
  readonly tail: string;
  /** The client's event around the text, up to its padding. */
  readonly around: readonly string[];
  /**
   * The bytes after the padding, in the vendor's event (`end`) and in the client's (`rest`); null where there is no padding. OpenAI
   * pads with `obfuscation`.
   */
  readonly padding: { readonly end: string; readonly rest: string } | null;
}

/** A text that was copied. */
export interface CopiedEvent {
  /** Where the next event begins. */
  readonly next: number;
  readonly textBytes: number;
}

/**
 * A pattern for events that differ only in their text. It is made from an event that was parsed and encoded for the client. A later
 * event with the same bytes around its text is recognized by comparison and sent with the text copied into the client's form,
 * without parsing or encoding (docs/adr/0002-splice-not-print.md).
 */
export class ChunkTemplate {
  private readonly head: Buffer;
  private readonly tail: Buffer;
  private readonly around: readonly Buffer[];
  private readonly padding: { readonly end: Buffer; readonly rest: Buffer } | null;

  private constructor({ head, tail, around, padding }: TemplateText) {
    this.head = toBytes(head);
    this.tail = toBytes(tail);
    this.around = around.map(toBytes);
    this.padding = padding === null ? null : { end: toBytes(padding.end), rest: toBytes(padding.rest) };
  }

  /**
   * Makes a template from an event whose only text is in `field`. `encoded` is the client's event made from it, with placeholders
   * for the text and the padding. Returns null if the event is not that simple.
   */
  static create({ prefix, data }: VendorEvent, field: TextField, encoded: string): ChunkTemplate | null {
    const chunk = scanJson(data, CHUNK);
    const text = findText(chunk, field);
    if (text?.kind !== "string") return null;
    const head = prefix + data.slice(0, text.start + 1);
    const around = encodeLatin1(`data: ${encoded}\n\n`).split(TEXT_MARK);
    const padding = memberOf(chunk, "obfuscation");
    if (padding === undefined)
      return new ChunkTemplate({ head, tail: data.slice(text.end - 1), around, padding: null });
    const [last = "", rest, ...more] = around.pop()?.split(PADDING_MARK) ?? [];
    if (padding.kind !== "string" || padding.start < text.end || rest === undefined || more.length > 0)
      return null;
    const tail = data.slice(text.end - 1, padding.start + 1);
    const end = data.slice(padding.end - 1);
    return new ChunkTemplate({ head, tail, around: [...around, last], padding: { end, rest } });
  }

  /** Copies the event that begins at `from` if it matches. Returns null if it does not match or is incomplete. */
  copyEvent(source: Uint8Array, from: number, out: ByteOutput): CopiedEvent | null {
    const { head, tail, around, padding } = this;
    if (!isAt(source, from, head)) return null;
    const textStart = from + head.length;
    const textEnd = findBodyEnd(source, textStart);
    if (textEnd < 0 || !isAt(source, textEnd, tail)) return null;
    const paddingStart = textEnd + tail.length;
    const paddingEnd = padding === null ? paddingStart : findPlainEnd(source, paddingStart);
    if (padding !== null && (source[paddingEnd] !== QUOTE || !isAt(source, paddingEnd, padding.end)))
      return null;
    const dataEnd = padding === null ? paddingEnd : paddingEnd + padding.end.length;
    const next = dataEnd + blankLineAt(source, dataEnd);
    if (next === dataEnd) return null;
    const textBytes = textEnd - textStart;
    // An empty text is not passed on.
    if (textBytes === 0) return { next, textBytes };
    out.append(around[0] as Buffer);
    for (let i = 1; i < around.length; i++) {
      out.appendRange(source, textStart, textEnd);
      out.append(around[i] as Buffer);
    }
    if (padding !== null) {
      out.appendRange(source, paddingStart, paddingEnd);
      out.append(padding.rest);
    }
    return { next, textBytes };
  }
}

function findText(chunk: JsonNode, field: TextField): JsonNode | undefined {
  const delta = memberOf(memberOf(chunk, "choices")?.items?.[0], "delta");
  if (field !== "arguments") return memberOf(delta, field);
  return memberOf(memberOf(memberOf(delta, "tool_calls")?.items?.[0], "function"), "arguments");
}

const QUOTE = 34;
const BACKSLASH = 92;
const LF = 10;
const CR = 13;

function toBytes(latin1: string): Buffer {
  return Buffer.from(latin1, "latin1");
}

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
