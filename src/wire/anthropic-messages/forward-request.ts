import { type JsonNode, memberOf } from "../json/scan.ts";
import { applySplices, removeMembers } from "../json/splice.ts";
import { GATEWAY_FIELDS } from "./request-shape.ts";
import type { ScannedMessagesRequest } from "./scan-request.ts";

/** The body for an upstream of this format: the client's bytes with the model's name there and without what speaks to the gateway. */
export function forwardMessagesRequest({ bytes, root }: ScannedMessagesRequest, model: string): Buffer {
  const { start, end } = memberOf(root, "model") as JsonNode;
  return applySplices(bytes, [
    { start, end, insert: JSON.stringify(model) },
    ...removeMembers(root, GATEWAY_FIELDS),
  ]);
}
