import { isDeepStrictEqual } from "node:util";
import type { Fields } from "../../json/fields.ts";
import {
  encodeLatin1,
  fields,
  items,
  type JsonNode,
  JsonSyntaxError,
  LEAF,
  memberOf,
  scanJson,
} from "../../json/scan.ts";
import { ChunkTemplate, type EventParts, type TextField, type TextPlace } from "./chunk-template.ts";

/** Stands for the padding in an encoded chunk. */
export const PADDING_PLACEHOLDER = "\u0002";

const TEXT_MARK = "\\u0001";
const PADDING_MARK = "\\u0002";

/** The fields of an event that identify its stream. */
type StreamField = "id" | "created";

const CALLS = items(fields({ function: fields({ arguments: LEAF }) }));
const DELTA = fields({ content: LEAF, reasoning_content: LEAF, reasoning: LEAF, tool_calls: CALLS });
const CHUNK = fields({
  id: LEAF,
  created: LEAF,
  obfuscation: LEAF,
  choices: items(fields({ delta: DELTA })),
});

/** An event of the vendor: its data, bytes as Latin-1, and what precedes the data in its line. */
interface VendorEvent {
  readonly prefix: string;
  readonly data: string;
  /** The parsed data. */
  readonly chunk: Fields;
}

/** What precedes the text: Latin-1 up to each field of the stream, and after the last. */
interface Head {
  readonly upTo: readonly { readonly text: string; readonly field: StreamField }[];
  readonly rest: string;
}

/**
 * What the events of a deployment have in common, in all its streams: all but the text, the padding, and what identifies a stream. It
 * is made from an event that was parsed and encoded for the client.
 */
export class ChunkPattern {
  private constructor(
    /** The vendor's event up to the opening quote of its text, from the start of its line. */
    private readonly head: Head,
    /** The client's event between its start and the text. Latin-1. */
    private readonly beforeText: string,
    private readonly parts: EventParts,
  ) {}

  get place(): TextPlace {
    return this.parts.place;
  }

  /**
   * Makes a pattern from an event whose only text is at `place`. `encoded` is the rest of the client's event made from it, with
   * placeholders for the text and the padding. Returns null if the event is not that simple.
   */
  static create(event: VendorEvent, place: TextPlace, encoded: string): ChunkPattern | null {
    const { prefix, data } = event;
    const chunk = tryScan(data);
    const text = findText(chunk, place.field);
    if (text?.kind !== "string") return null;
    const head = splitHead(prefix, data.slice(0, text.start + 1), { scanned: chunk, chunk: event.chunk });
    const [beforeText = "", ...after] = encoded.split(TEXT_MARK);
    const padding = memberOf(chunk, "obfuscation");
    if (padding === undefined) {
      const tail = toBytes(data.slice(text.end - 1));
      return new ChunkPattern(head, beforeText, {
        place,
        tail,
        afterText: after.map(toBytes),
        padding: null,
      });
    }
    const [last = "", rest, ...more] = after.pop()?.split(PADDING_MARK) ?? [];
    if (padding.kind !== "string" || padding.start < text.end || rest === undefined || more.length > 0)
      return null;
    return new ChunkPattern(head, beforeText, {
      place,
      tail: toBytes(data.slice(text.end - 1, padding.start + 1)),
      afterText: [...after, last].map(toBytes),
      padding: { end: toBytes(data.slice(padding.end - 1)), rest: toBytes(rest) },
    });
  }

  /** Makes the template of a stream: `start` is what its client's events begin with, and `chunk` one of the vendor's. */
  fit(start: string, chunk: Fields): ChunkTemplate {
    const { upTo, rest } = this.head;
    let head = "";
    for (const { text, field } of upTo) head += text + encodeValue(chunk[field]);
    return new ChunkTemplate(toBytes(head + rest), toBytes(start + this.beforeText), this.parts);
  }

  /** Whether the other pattern fits the same events. */
  equals({ head, parts }: ChunkPattern): boolean {
    return isDeepStrictEqual(this.head, head) && this.parts.tail.equals(parts.tail);
  }
}

/** An event that was scanned and parsed. */
interface ReadEvent {
  readonly scanned: JsonNode | undefined;
  readonly chunk: Fields;
}

/** Splits what precedes the text at the fields of the stream that are written as usual. */
function splitHead(prefix: string, data: string, { scanned, chunk }: ReadEvent): Head {
  const upTo: Head["upTo"][number][] = [];
  let text = prefix;
  let at = 0;
  for (const { key, start, end } of scanned?.members ?? []) {
    if ((key !== "id" && key !== "created") || end > data.length) continue;
    if (data.slice(start, end) !== encodeValue(chunk[key])) continue;
    upTo.push({ text: text + data.slice(at, start), field: key });
    text = "";
    at = end;
  }
  return { upTo, rest: text + data.slice(at) };
}

/** Encodes a value as JSON, bytes as Latin-1; "" if there is none. */
function encodeValue(value: unknown): string {
  return encodeLatin1(JSON.stringify(value) ?? "");
}

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
