import type { Fields } from "../../base/json/fields.ts";
import { encodeLatin1 } from "../../base/json/scan.ts";

/**
 * What every stream over HTTP ends with (openresponses.org, specification of 2026-04-24, "HTTP Responses"). OpenAI does not send it, and its
 * libraries accept it.
 */
export const STREAM_END = "data: [DONE]\n\n";

/** Encodes the last event of a stream, and the end of the stream. */
export function encodeLastEvent(event: Fields): string {
  return encodeEvent(event) + STREAM_END;
}

/** Encodes an event of a stream as bytes in Latin-1. */
export function encodeEvent(event: Fields): string {
  return encodeLatin1(`event: ${String(event["type"])}\ndata: ${JSON.stringify(event)}\n\n`);
}
