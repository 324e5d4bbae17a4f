import { fields, type JsonNode, LEAF, memberOf, numberOf, scanJson, stringOf } from "../../json/scan.ts";

/** An event of a Responses stream, with the positions of the fields that the gateway reads. */
export interface ScannedEvent {
  readonly type: string;
  /** Its name on the `event:` line; "" without one. */
  readonly name: string;
  /** Its JSON, bytes as Latin-1. */
  readonly data: string;
  readonly root: JsonNode;
}

const EVENT = fields({
  type: LEAF,
  sequence_number: LEAF,
  delta: LEAF,
  output_index: LEAF,
  content_index: LEAF,
  summary_index: LEAF,
  item: fields({ type: LEAF, call_id: LEAF, arguments: LEAF }),
  arguments: LEAF,
  response: LEAF,
  error: LEAF,
});

/** Scans the data of an event; null if it is not JSON. */
export function scanEvent(data: string, name: string): ScannedEvent | null {
  try {
    const root = scanJson(data, EVENT);
    return { type: stringOf(data, memberOf(root, "type")) ?? name, name, data, root };
  } catch {
    return null;
  }
}

/** Returns the index of the output item that an event is about. */
export function outputIndexOf({ data, root }: ScannedEvent): number {
  return numberOf(data, memberOf(root, "output_index")) ?? 0;
}
