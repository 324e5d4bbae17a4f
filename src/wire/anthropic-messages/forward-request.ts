import { type JsonNode, memberOf } from "../json/scan.ts";
import { applySplices, overwriteSplices, removeMembers } from "../json/splice.ts";
import { GATEWAY_FIELDS } from "./request-shape.ts";
import type { ScannedMessagesRequest } from "./scan-request.ts";

/**
 * The body for an upstream of this format: the client's bytes with the model's name there and without what speaks to the
 * gateway. `mayOverwrite`: nobody else will be asked, so they may be changed in place.
 */
export function forwardMessagesRequest(
  { bytes, root }: ScannedMessagesRequest,
  model: string,
  mayOverwrite: boolean,
): Buffer {
  const { start, end } = memberOf(root, "model") as JsonNode;
  const splices = [{ start, end, insert: JSON.stringify(model) }, ...removeMembers(root, GATEWAY_FIELDS)];
  return mayOverwrite ? overwriteSplices(bytes, splices) : applySplices(bytes, splices);
}
