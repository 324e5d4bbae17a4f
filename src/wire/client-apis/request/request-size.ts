import type { ScannedRequest } from "../../conversation/scanned-request.ts";

/** Returns the approximate memory of a scanned request besides its body, in bytes. */
export function heldBytesOf({ text, nodes }: Pick<ScannedRequest, "text" | "nodes">): number {
  return text.length + nodes * NODE_BYTES;
}

/** Returns the approximate memory of a decoded request besides the scanned one, in bytes. */
export function decodedBytesOf({ bytes, values }: Pick<ScannedRequest, "bytes" | "values">): number {
  return bytes.length + values * VALUE_BYTES;
}

/** Memory per value with a node, and the members of objects by name (measured: 140 to 170 bytes). */
const NODE_BYTES = 152;
/** Memory per parsed value without its text, in bytes. */
const VALUE_BYTES = 64;

/*
 * Larger requests are encoded in another thread, so that they do not block other requests. Measured: at most 4 µs per value and
 * 10 ms per megabyte. Forwarding costs less.
 */
const MAX_TRANSLATED_BYTES = 2 * 1024 * 1024;
const MAX_TRANSLATED_VALUES = 6_000;
const MAX_FORWARDED_VALUES = 20_000;

/** Whether a request is small enough to be translated on the main thread. */
export function isQuickToTranslate({ bytes, values }: Pick<ScannedRequest, "bytes" | "values">): boolean {
  return bytes.length <= MAX_TRANSLATED_BYTES && values <= MAX_TRANSLATED_VALUES;
}

/** Whether a request is small enough to be forwarded on the main thread. */
export function isQuickToForward({ values }: Pick<ScannedRequest, "values">): boolean {
  return values <= MAX_FORWARDED_VALUES;
}
