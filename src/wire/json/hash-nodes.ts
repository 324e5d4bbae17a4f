import type { JsonNode } from "./scan.ts";

/** Of a longer value only the start counts. Bytes. */
const PIECE_BYTES = 65_536;
/** What comes after so many bytes does not count. */
const TOTAL_BYTES = 262_144;

/**
 * A fingerprint of values of a body, one after another, made of their bytes: nothing is decoded. Strings count without
 * their quotes. Whoever chooses the bytes can make two alike: it keeps no secret.
 */
export function hashNodes(bytes: Buffer, nodes: readonly JsonNode[]): string {
  let hash = 0n;
  let left = TOTAL_BYTES;
  for (const { kind, start, end } of nodes) {
    const quote = kind === "string" ? 1 : 0;
    const size = Math.min(end - start - 2 * quote, PIECE_BYTES, left);
    hash = Bun.hash.wyhash(bytes.subarray(start + quote, start + quote + size), hash);
    left -= size;
    if (left <= 0) break;
  }
  return hash.toString(36);
}

/** A short fingerprint of a text, the same wherever it is made. As `hashNodes`, it keeps no secret. */
export function hashText(text: string): string {
  return Bun.hash.wyhash(text).toString(36);
}
