import type { Fields } from "../json/fields.ts";
import { encodeLatin1 } from "../json/scan.ts";

/** An event as it stands on the wire, bytes read as Latin-1. */
export function encodeEvent(event: Fields): string {
  return encodeLatin1(`event: ${String(event["type"])}\ndata: ${JSON.stringify(event)}\n\n`);
}
