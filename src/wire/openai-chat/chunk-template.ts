import { isUtf8 } from "node:buffer";
import { encodeLatin1, fields, items, type JsonNode, LEAF, memberOf, scanJson } from "../json/scan.ts";

/**
 * Events of one stream look alike but for their text. A template is learned from an event that went the long
 * way; the next event of its looks is recognised by comparing bytes, and sent on with the text copied into the
 * client's form: nothing is parsed and nothing printed (docs/adr/0002-splice-not-print.md).
 */
export interface ChunkTemplate {
  /** What the vendor's event begins with, to the opening quote of its text. */
  readonly head: string;
  /** What follows the text; up to the padding's opening quote where there is padding, else to the end. */
  readonly tail: string;
  /** What follows the padding, null where there is none: OpenAI pads its events with `obfuscation`. */
  readonly end: string | null;
  /** The client's event around the text. */
  readonly around: readonly string[];
  /** The client's events around the padding, within the last of `around`; null where there is none. */
  readonly aroundPadding: readonly [string, string] | null;
}

/** Stands for the text in an event that is made to be cut up; its JSON form is `TEXT_MARK`. */
export const TEXT_HOLE = "\u0001";
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
 * of it with the holes in place of text and padding. Null when the event is not that plain after all.
 */
export function learnTemplate(event: string, field: TextField, encoded: string): ChunkTemplate | null {
  const chunk = scanJson(event, CHUNK);
  const text = findText(chunk, field);
  if (text?.kind !== "string") return null;
  const out = encodeLatin1(`data: ${encoded}\n\n`).split(TEXT_MARK);
  const padding = memberOf(chunk, "obfuscation");
  const head = event.slice(0, text.start + 1);
  if (padding === undefined) {
    return { head, tail: event.slice(text.end - 1), end: null, around: out, aroundPadding: null };
  }
  const around = (out.at(-1) as string).split(PADDING_MARK);
  if (padding.kind !== "string" || padding.start < text.end || around.length !== 2) return null;
  return {
    head,
    tail: event.slice(text.end - 1, padding.start + 1),
    end: event.slice(padding.end - 1),
    around: out,
    aroundPadding: [around[0] as string, around[1] as string],
  };
}

function findText(chunk: JsonNode, field: TextField): JsonNode | undefined {
  const delta = memberOf(memberOf(chunk, "choices")?.items?.[0], "delta");
  if (field !== "arguments") return memberOf(delta, field);
  return memberOf(memberOf(memberOf(delta, "tool_calls")?.items?.[0], "function"), "arguments");
}

/** An event that looks like a template: the client's event for it, and how many bytes of text it brought. */
export interface TemplateMatch {
  readonly out: string;
  readonly textBytes: number;
}

/** Matches the event that stands in `source` from `start` to `end`; null when it looks otherwise. */
export function matchTemplate(
  template: ChunkTemplate,
  source: string,
  start: number,
  end: number,
): TemplateMatch | null {
  if (!source.startsWith(template.head, start)) return null;
  const textStart = start + template.head.length;
  const cut = source.indexOf(template.tail, textStart);
  const tailEnd = cut + template.tail.length;
  if (cut < 0 || tailEnd > end) return null;
  const padding = readPadding(template, source, tailEnd, end);
  if (padding === null) return null;
  const text = source.slice(textStart, cut);
  if (text === "") return NOTHING_SAID;
  return isStringBody(text) ? { out: fill(template, text, padding), textBytes: text.length } : null;
}

const NOTHING_SAID: TemplateMatch = { out: "", textBytes: 0 };

/** The padding behind the tail, "" where the template has none; null when what follows is something else. */
function readPadding(template: ChunkTemplate, source: string, tailEnd: number, end: number): string | null {
  if (template.end === null) return tailEnd === end ? "" : null;
  const paddingEnd = end - template.end.length;
  if (paddingEnd < tailEnd || !source.startsWith(template.end, paddingEnd)) return null;
  const padding = source.slice(tailEnd, paddingEnd);
  return PLAIN.test(padding) ? padding : null;
}

function fill({ around, aroundPadding }: ChunkTemplate, text: string, padding: string): string {
  let out = around[0] as string;
  const last = around.length - 1;
  for (let i = 1; i < last; i++) out += text + around[i];
  if (aroundPadding === null) return out + text + around[last];
  return out + text + aroundPadding[0] + padding + aroundPadding[1];
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
