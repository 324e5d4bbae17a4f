import type { StreamError } from "../canonical/format.ts";
import { findVendorError, readVendorError, type VendorError } from "../conversation/vendor-error.ts";
import { asFields, type Fields } from "../json/fields.ts";
import { parseJson } from "../json/parse-json.ts";
import { decodeUtf8, encodeLatin1 } from "../json/scan.ts";
import { nameErrorType } from "./errors.ts";

/** An event of a stream, bytes read as Latin-1; null where it is no JSON object. */
export function parseEvent(data: string): Fields | null {
  try {
    return asFields(parseJson(decodeUtf8(data)));
  } catch {
    return null;
  }
}

/** The error that an event is; null where it is none. */
export function findStreamError(event: Fields, name: string): VendorError | null {
  return findVendorError(event) ?? (name === "error" ? readVendorError(200, event) : null);
}

/** An event of a stream, bytes read as Latin-1. Its name is its `type`. */
export function printEvent(event: Fields & { readonly type: string }): string {
  return encodeLatin1(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
}

/** The last event of a stream that broke off. */
export function printStreamError({ type, ...rest }: StreamError): string {
  return printEvent({ type: "error", error: { type: nameErrorType(type), ...rest } });
}
