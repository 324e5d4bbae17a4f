/** Returns the SHA-256 hash of text (as UTF-8) or bytes. */
export function sha256(content: string | Uint8Array, encoding: "hex" | "base64url"): string {
  return Bun.SHA256.hash(content, encoding);
}

/** A SHA-256 hash that grows, and can be read at any point. */
export class RunningHash {
  private readonly hasher = new Bun.CryptoHasher("sha256");

  add(bytes: Uint8Array): void {
    this.hasher.update(bytes);
  }

  /** Returns the hash of everything so far. */
  read(): string {
    return this.hasher.copy().digest("base64url");
  }
}

/** Returns the CRC-32 checksum of text (as UTF-8) or bytes, an unsigned integer. */
export function crc32(content: string | Uint8Array): number {
  return Bun.hash.crc32(content);
}

/** Returns a fast hash of text (as UTF-8) or bytes, which is not cryptographic. A seed continues an earlier hash. */
export function wyhash(content: string | Uint8Array, seed?: bigint): bigint {
  return Bun.hash.wyhash(content, seed);
}
