import type { JsonNode } from "./scan.ts";

/** Of a longer value only the start counts. Bytes. */
const PIECE_BYTES = 65_536;
/** What comes after so many bytes does not count. */
const TOTAL_BYTES = 262_144;

/**
 * A fingerprint of values of a body, one after another, made of their bytes: nothing is decoded. Strings count without
 * their quotes.
 */
export function hashNodes(bytes: Buffer, nodes: readonly JsonNode[]): string {
  let size = 0;
  for (const node of nodes) size += sizeOf(node) + 1;
  const pieces = Buffer.allocUnsafe(Math.min(size, TOTAL_BYTES));
  let at = 0;
  for (const node of nodes) {
    if (at >= pieces.length) break;
    const start = node.kind === "string" ? node.start + 1 : node.start;
    at += bytes.copy(pieces, at, start, start + sizeOf(node));
    if (at < pieces.length) pieces[at++] = 0;
  }
  return hashBytes(pieces);
}

function sizeOf({ kind, start, end }: JsonNode): number {
  return Math.min(kind === "string" ? end - start - 2 : end - start, PIECE_BYTES);
}

/** A short fingerprint, the same wherever it is made. Whoever chooses the bytes can make two alike: it keeps no secret. */
export function hashBytes(bytes: Buffer): string {
  return Bun.hash.wyhash(bytes).toString(36);
}
