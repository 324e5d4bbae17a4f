import {
  fields,
  type JsonNode,
  LEAF,
  memberOf,
  numberOf,
  scanJson,
  stringOf,
} from "../../../base/json/scan.ts";
import type { EventFacts, EventPlace } from "../output-places.ts";

/** An event of a Responses stream, with the positions of the fields that the gateway reads. */
export interface ScannedEvent {
  readonly type: string;
  /** Its name on the `event:` line; "" without one. */
  readonly name: string;
  /** Its JSON, bytes as Latin-1. */
  readonly data: string;
  readonly root: JsonNode;
  /** Its place in the output that the client sees; null until it is known, and for events without an item. */
  readonly place: EventPlace | null;
}

const EVENT = fields({
  type: LEAF,
  sequence_number: LEAF,
  delta: LEAF,
  logprobs: LEAF,
  output_index: LEAF,
  content_index: LEAF,
  summary_index: LEAF,
  item_id: LEAF,
  item: fields({ id: LEAF, type: LEAF, call_id: LEAF, arguments: LEAF }),
  arguments: LEAF,
  response: LEAF,
  error: LEAF,
});

/** Scans the data of an event; null if it is not JSON. */
export function scanEvent(data: string, name: string): ScannedEvent | null {
  try {
    const root = scanJson(data, EVENT);
    return { type: stringOf(data, memberOf(root, "type")) ?? name, name, data, root, place: null };
  } catch {
    return null;
  }
}

/** Returns the facts in an event about its place in the output. */
export function readFacts({ type, data, root }: ScannedEvent): EventFacts {
  const item = memberOf(root, "item");
  return {
    type,
    outputIndex: numberOf(data, memberOf(root, "output_index")),
    itemId: stringOf(data, memberOf(item, "id")) ?? stringOf(data, memberOf(root, "item_id")) ?? null,
    itemType: stringOf(data, memberOf(item, "type")) ?? null,
    partIndex:
      numberOf(data, memberOf(root, "content_index")) ?? numberOf(data, memberOf(root, "summary_index")),
  };
}

/** Returns the index of the output item that an event is about; 0 without one. */
export function outputIndexOf({ data, root, place }: ScannedEvent): number {
  return place?.output ?? numberOf(data, memberOf(root, "output_index")) ?? 0;
}

/** Returns the index of the part that an event is about, in the list with that name; 0 without one. */
export function partIndexOf({ data, root, place }: ScannedEvent, list: string): number {
  return place?.part ?? numberOf(data, memberOf(root, `${list}_index`)) ?? 0;
}

/** Events that have `logprobs`, which OpenAI's libraries validate. Other hosts leave it out. */
const WITH_LOGPROBS: ReadonlySet<string> = new Set([
  "response.output_text.delta",
  "response.output_text.done",
]);

/** Returns the member that an event of a text lacks, with a comma before it; null if it lacks none. */
export function missingLogprobs(type: string, event: JsonNode): string | null {
  return WITH_LOGPROBS.has(type) && memberOf(event, "logprobs") === undefined ? ',"logprobs":[]' : null;
}
