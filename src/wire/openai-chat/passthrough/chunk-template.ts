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

/**
 * A pattern for events that differ only in their text. It is learned from an event that was parsed and printed. A later event with
 * the same bytes around its text is recognised by comparison and sent with the text copied into the client's form, without parsing
 * or printing (docs/adr/0002-splice-not-print.md).
 */
export interface ChunkTemplate {
  /** The bytes of the vendor's event up to the opening quote of its text, from the start of its line. */
  readonly head: string;
  /** The bytes after the text, up to the end of the blank line or to the opening quote of the padding. */
  readonly tail: string;
  /** The client's event around the text, up to its padding. */
  readonly around: readonly string[];
  /**
   * The bytes after the padding, in the vendor's event (`end`) and in the client's (`rest`); null where there is no padding. OpenAI
   * pads with `obfuscation`.
   */
  readonly padding: { readonly end: string; readonly rest: string } | null;
}

/** Stands for the padding in a printed chunk. */
export const PADDING_HOLE = "\u0002";

const TEXT_MARK = "\\u0001";
const PADDING_MARK = "\\u0002";

const CALLS = items(fields({ function: fields({ arguments: LEAF }) }));
const DELTA = fields({ content: LEAF, reasoning_content: LEAF, reasoning: LEAF, tool_calls: CALLS });
const CHUNK = fields({ obfuscation: LEAF, choices: items(fields({ delta: DELTA })) });

/** The field of the delta that holds the text. */
export type TextField = "content" | "reasoning_content" | "reasoning" | "arguments";

/**
 * Learns a template. `event` is the vendor's, bytes as Latin-1, and its only text is in `field`; `encoded` is the client's event
 * made from it, with holes in place of the text and the padding; `prefix` is what precedes the data in its line. Returns null if
 * the event is not that simple.
 */
export function learnTemplate(
  prefix: string,
  event: string,
  field: TextField,
  encoded: string,
): ChunkTemplate | null {
  const chunk = scanJson(event, CHUNK);
  const text = findText(chunk, field);
  if (text?.kind !== "string") return null;
  const head = prefix + event.slice(0, text.start + 1);
  const around = encodeLatin1(`data: ${encoded}\n\n`).split(TEXT_MARK);
  const padding = memberOf(chunk, "obfuscation");
  if (padding === undefined) return { head, tail: `${event.slice(text.end - 1)}\n\n`, around, padding: null };
  const [last = "", rest, ...more] = around.pop()?.split(PADDING_MARK) ?? [];
  if (padding.kind !== "string" || padding.start < text.end || rest === undefined || more.length > 0)
    return null;
  const tail = event.slice(text.end - 1, padding.start + 1);
  const end = `${event.slice(padding.end - 1)}\n\n`;
  return { head, tail, around: [...around, last], padding: { end, rest } };
}

function findText(chunk: JsonNode, field: TextField): JsonNode | undefined {
  const delta = memberOf(memberOf(chunk, "choices")?.items?.[0], "delta");
  if (field !== "arguments") return memberOf(delta, field);
  return memberOf(memberOf(memberOf(delta, "tool_calls")?.items?.[0], "function"), "arguments");
}

/** Receives copied events in pieces. */
export interface CopiedEvents {
  readonly out: string[];
  /** Bytes of their text. */
  producedBytes: number;
}

/**
 * Copies the event that begins at `from` if it matches the template. Returns where the next event begins; -1 if it does not match
 * or is incomplete.
 */
export function copyEvent(
  template: ChunkTemplate,
  source: string,
  from: number,
  events: CopiedEvents,
): number {
  const { head, tail, around, padding } = template;
  if (!source.startsWith(head, from)) return -1;
  const textStart = from + head.length;
  // Search for the end of the text only, not for `tail` in all events behind it.
  const cut = closingQuote(source, textStart);
  if (cut < 0 || !source.startsWith(tail, cut)) return -1;
  const text = source.slice(textStart, cut);
  if (!isStringBody(text)) return -1;
  const tailEnd = cut + tail.length;
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

const PLAIN = /^[^"\\\x00-\x1f\x80-\xff]*$/;
const ASCII = /^[\x00-\x7f]*$/;
const ESCAPED = /^(?:[^"\\\x00-\x1f]|\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4}))*$/;

/** Whether the bytes are the content of one JSON string in complete UTF-8 characters. */
function isStringBody(text: string): boolean {
  if (PLAIN.test(text)) return true;
  if (!ESCAPED.test(text)) return false;
  return ASCII.test(text) || isUtf8(Buffer.from(text, "latin1"));
}
