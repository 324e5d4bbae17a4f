import { nameInMetadata } from "../../base/failures/errors.ts";
import type { Fields } from "../../base/json/fields.ts";
import { encodeLatin1 } from "../../base/json/scan.ts";
import type { StreamError } from "../canonical/model/format.ts";
import { nameErrorType } from "./errors.ts";

/** Encodes an event of a stream as bytes in Latin-1. The name of an event is its `type`. */
export function encodeEvent(event: Fields & { readonly type: string }): string {
  return encodeLatin1(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
}

/** Encodes the last event of a stream that failed. */
export function encodeStreamError({ type, metadata, ...rest }: StreamError): string {
  const named = { type: nameErrorType(type), ...rest, metadata: nameInMetadata(type, metadata) };
  return encodeEvent({ type: "error", error: named });
}
