import { isUtf8 } from "node:buffer";
import {
  closingQuote,
  encodeLatin1,
  fields,
  items,
  type JsonNode,
  LEAF,
  memberOf,
  scanJson,
} from "../../json/scan.ts";

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

/** The bytes of an event and of the client's version of it. */
interface TemplateBytes {
  /** The vendor's event up to the opening quote of its text, from the start of its line. */
  readonly head: string;
  /** The vendor's event after the text, up to the end of the blank line or to the opening quote of the padding. */
  readonly tail: string;
  /** The client's event around the text, up to its padding. */
  readonly around: readonly string[];
  /**
   * The bytes after the padding, in the vendor's event (`end`) and in the client's (`rest`); null where there is no padding. OpenAI
   * pads with `obfuscation`.
   */
  readonly padding: { readonly end: string; readonly rest: string } | null;
}

/** Receives copied events in pieces. */
export interface CopiedEvents {
  readonly out: string[];
  /** Bytes of their text. */
  producedBytes: number;
}

/**
 * A pattern for events that differ only in their text. It is made from an event that was parsed and encoded for the client. A later
 * event with the same bytes around its text is recognized by comparison and sent with the text copied into the client's form,
 * without parsing or encoding (docs/adr/0002-splice-not-print.md).
 */
export class ChunkTemplate {
  private readonly head: string;
  private readonly tail: string;
  private readonly around: readonly string[];
  private readonly padding: TemplateBytes["padding"];

  private constructor({ head, tail, around, padding }: TemplateBytes) {
    this.head = head;
    this.tail = tail;
    this.around = around;
    this.padding = padding;
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
      return new ChunkTemplate({ head, tail: `${data.slice(text.end - 1)}\n\n`, around, padding: null });
    const [last = "", rest, ...more] = around.pop()?.split(PADDING_MARK) ?? [];
    if (padding.kind !== "string" || padding.start < text.end || rest === undefined || more.length > 0)
      return null;
    const tail = data.slice(text.end - 1, padding.start + 1);
    const end = `${data.slice(padding.end - 1)}\n\n`;
    return new ChunkTemplate({ head, tail, around: [...around, last], padding: { end, rest } });
  }

  /**
   * Copies the event that begins at `from` if it matches. Returns where the next event begins; -1 if it does not match or is
   * incomplete.
   */
  copyEvent(source: string, from: number, events: CopiedEvents): number {
    const { head, tail, around, padding } = this;
    if (!source.startsWith(head, from)) return -1;
    const textStart = from + head.length;
    // Search for the end of the text only, not for `tail` in all later events.
    const textEnd = closingQuote(source, textStart);
    if (textEnd < 0 || !source.startsWith(tail, textEnd)) return -1;
    const text = source.slice(textStart, textEnd);
    if (!isStringBody(text)) return -1;
    const tailEnd = textEnd + tail.length;
    const paddingEnd = padding === null ? tailEnd : closingQuote(source, tailEnd);
    if (paddingEnd < 0 || (padding !== null && !source.startsWith(padding.end, paddingEnd))) return -1;
    const padded = source.slice(tailEnd, paddingEnd);
    if (!PLAIN.test(padded)) return -1;
    events.producedBytes += text.length;
    const { out } = events;
    // An empty text is not passed on.
    if (text !== "") {
      out.push(around[0] as string);
      for (let i = 1; i < around.length; i++) out.push(text, around[i] as string);
      if (padding !== null) out.push(padded, padding.rest);
    }
    return padding === null ? tailEnd : paddingEnd + padding.end.length;
  }
}

function findText(chunk: JsonNode, field: TextField): JsonNode | undefined {
  const delta = memberOf(memberOf(chunk, "choices")?.items?.[0], "delta");
  if (field !== "arguments") return memberOf(delta, field);
  return memberOf(memberOf(memberOf(delta, "tool_calls")?.items?.[0], "function"), "arguments");
}

const PLAIN = /^[^"\\\x00-\x1f\x80-\xff]*$/;
const ASCII = /^[\x00-\x7f]*$/;
const ESCAPED = /^(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*$/;

/** Returns whether the bytes are the content of one JSON string in complete UTF-8 characters. */
function isStringBody(text: string): boolean {
  if (PLAIN.test(text)) return true;
  if (!ESCAPED.test(text)) return false;
  return ASCII.test(text) || isUtf8(Buffer.from(text, "latin1"));
}
