const utf8Slice = (Buffer.prototype as unknown as { utf8Slice(from: number, to: number): string }).utf8Slice;

/** Decodes bytes as UTF-8, as `Buffer.toString` does, without a buffer around them. */
export function decodeUtf8(bytes: Uint8Array): string {
  return utf8Slice.call(bytes, 0, bytes.length);
}
