import type { StreamError } from "../canonical/format.ts";
import type { Fields } from "../json/fields.ts";
import { encodeLatin1 } from "../json/scan.ts";
import { nameErrorType } from "./errors.ts";

/** An event of a stream, bytes read as Latin-1. Its name is its `type`. */
export function printEvent(event: Fields & { readonly type: string }): string {
  return encodeLatin1(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
}

/** The last event of a stream that broke off. */
export function printStreamError({ type, ...rest }: StreamError): string {
  return printEvent({ type: "error", error: { type: nameErrorType(type), ...rest } });
}
