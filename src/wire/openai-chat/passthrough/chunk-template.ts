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
 * Events of one stream look alike but for their text. A template is learned from an event that went the long
 * way; the next event of its looks is recognised by comparing bytes, and sent on with the text copied into the
 * client's form: nothing is parsed and nothing printed (docs/adr/0002-splice-not-print.md).
 */
export interface ChunkTemplate {
  /** What the vendor's event begins with, from its line's first byte to the opening quote of its text. */
  readonly head: string;
  /** What follows the text: to the end of the blank line, or to the padding's opening quote. */
  readonly tail: string;
  /** The client's event around the text, as far as to its padding. */
  readonly around: readonly string[];
  /** What follows the padding, in the vendor's event and in the client's; null where there is none: OpenAI pads with `obfuscation`. */
  readonly padding: { readonly end: string; readonly rest: string } | null;
}

/** Stands for the padding. */
export const PADDING_HOLE = "\u0002";

const TEXT_MARK = "\\u0001";
const PADDING_MARK = "\\u0002";

const CALLS = items(fields({ function: fields({ arguments: LEAF }) }));
const DELTA = fields({ content: LEAF, reasoning_content: LEAF, reasoning: LEAF, tool_calls: CALLS });
const CHUNK = fields({ obfuscation: LEAF, choices: items(fields({ delta: DELTA })) });

/** Where the text of an event stands in its delta. */
export type TextField = "content" | "reasoning_content" | "reasoning" | "arguments";

/**
 * Learns from a vendor's event, bytes read as Latin-1, whose only text stands in `field`, and the client's event made
 * of it with the holes in place of text and padding. `prefix` is what stands before the event's data in its line. Null
 * when the event is not that plain after all.
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

/** Where recognised events go, in pieces. */
export interface CopiedEvents {
  readonly out: string[];
  /** Bytes of their text. */
  producedBytes: number;
}

/**
 * Copies the event that begins at `from` in `source`, where it looks like the template. Gives where the next begins; -1 when it
 * looks otherwise, or is not there whole.
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
  // What the text is followed by is looked for where it ends, and not in all events behind it.
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
  // What says nothing is not passed on.
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

/** Whether the bytes are the inside of one JSON string, in whole UTF-8 characters. */
function isStringBody(text: string): boolean {
  if (PLAIN.test(text)) return true;
  if (!ESCAPED.test(text)) return false;
  return ASCII.test(text) || isUtf8(Buffer.from(text, "latin1"));
}
