/** Returns the SHA-256 hash of text (as UTF-8) or bytes. */
export function sha256(content: string | Uint8Array, encoding: "hex" | "base64url"): string {
  return Bun.SHA256.hash(content, encoding);
}

/** Returns the CRC-32 checksum of text (as UTF-8) or bytes, an unsigned integer. */
export function crc32(content: string | Uint8Array): number {
  return Bun.hash.crc32(content);
}

/** Returns a fast hash of text (as UTF-8) or bytes, which is not cryptographic. A seed continues an earlier hash. */
export function wyhash(content: string | Uint8Array, seed?: bigint): bigint {
  return Bun.hash.wyhash(content, seed);
}
