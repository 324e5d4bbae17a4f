import { wyhash } from "../secrets/hash.ts";
import type { JsonNode } from "./scan.ts";

/** The number of bytes of each value that are hashed. */
const PIECE_BYTES = 65_536;
/** The total number of bytes that are hashed. */
const TOTAL_BYTES = 262_144;

/**
 * Returns a hash of values of a body, computed from their undecoded bytes; strings without their quotes. Not cryptographic: a
 * client can construct collisions.
 */
export function hashNodes(bytes: Buffer, nodes: readonly JsonNode[]): string {
  let hash = 0n;
  let left = TOTAL_BYTES;
  for (const { kind, start, end } of nodes) {
    const quote = kind === "string" ? 1 : 0;
    const size = Math.min(end - start - 2 * quote, PIECE_BYTES, left);
    hash = wyhash(bytes.subarray(start + quote, start + quote + size), hash);
    left -= size;
    if (left <= 0) break;
  }
  return hash.toString(36);
}

/** Returns a short hash of a text, which is the same in every process. Not cryptographic, as `hashNodes`. */
export function hashText(text: string): string {
  return wyhash(text).toString(36);
}
