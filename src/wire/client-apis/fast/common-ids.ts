// Replaces the check and the replacement of ids that a format does not take, for ids that every format takes.
import type { JsonNode } from "../../../base/json/scan.ts";

/** The characters that call ids and names of tools may have in every format. */
const COMMON = new Uint8Array(256);
for (let code = 0; code < COMMON.length; code++)
  COMMON[code] = /[A-Za-z0-9_-]/.test(String.fromCharCode(code)) ? 1 : 0;

const MAX_CHARS = 64;
const ZERO = 48;
const NINE = 57;
const HYPHEN = 45;

/** Whether a string has 1 to 64 common characters, so that every format takes it as a call id, and it needs no escapes. */
function isCommonId(bytes: Buffer, { kind, start, end }: JsonNode): boolean {
  if (kind !== "string" || end - start < 3 || end - start > MAX_CHARS + 2) return false;
  for (let at = start + 1; at < end - 1; at++) if (COMMON[bytes[at] as number] === 0) return false;
  return true;
}

/** Whether every format takes a string as the name of a tool, see `flattenTools`. */
export function isCommonName(bytes: Buffer, node: JsonNode): boolean {
  const first = bytes[node.start + 1] as number;
  return isCommonId(bytes, node) && first !== HYPHEN && !(first >= ZERO && first <= NINE);
}

/** The ids of a conversation's calls, as numbers that differ for nearly all ids. */
export class CommonIds {
  private readonly hashes = new Set<number>();

  /** Adds an id. Returns false if it is not common, or may be one of those before. */
  add(bytes: Buffer, id: JsonNode): boolean {
    if (!isCommonId(bytes, id)) return false;
    let hash = FNV_BASIS;
    for (let at = id.start; at < id.end; at++) hash = Math.imul(hash ^ (bytes[at] as number), FNV_PRIME);
    const { size } = this.hashes;
    return this.hashes.add(hash).size > size;
  }
}

/** The numbers of the hash function FNV-1a. */
const FNV_BASIS = 0x811c9dc5 | 0;
const FNV_PRIME = 0x01000193;
