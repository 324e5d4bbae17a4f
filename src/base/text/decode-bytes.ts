/**
 * Decodes bytes like `Buffer.toString`. Does not create a `Buffer` over the same memory, because that costs as much as decoding an event of
 * a stream.
 */
const decode = Buffer.prototype.toString;

/** Decodes the bytes from `start` to `end` as Latin-1. */
export function readLatin1(bytes: Uint8Array, start = 0, end = bytes.length): string {
  return decode.call(bytes, "latin1", start, end);
}

/** Decodes the bytes from `start` to `end` as UTF-8. */
export function readUtf8(bytes: Uint8Array, start = 0, end = bytes.length): string {
  return decode.call(bytes, "utf8", start, end);
}
