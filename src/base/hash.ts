/** Returns the SHA-256 hash of text (as UTF-8) or bytes. */
export function sha256(content: string | Uint8Array, encoding: "hex" | "base64url"): string {
  return Bun.SHA256.hash(content, encoding);
}

/** Returns the CRC-32 checksum of text (as UTF-8), an unsigned integer. */
export function crc32(content: string): number {
  return Bun.hash.crc32(content);
}
