import type { Fields } from "../../base/json/fields.ts";
import { encodeLatin1 } from "../../base/json/scan.ts";

/** Encodes an event of a stream as bytes in Latin-1. */
export function encodeEvent(event: Fields): string {
  return encodeLatin1(`event: ${String(event["type"])}\ndata: ${JSON.stringify(event)}\n\n`);
}
