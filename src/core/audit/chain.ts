import { sha256 } from "../../base/secrets/hash.ts";
import type { AuditDraft, AuditEntry } from "./records.ts";

/** The previous hash of the first entry. */
const NO_HASH = "0".repeat(64);

/** The end of a chain, to which the next entry is appended. */
export type ChainEnd = Pick<AuditEntry, "place" | "hash">;

/** The end of an empty chain. */
export const EMPTY_CHAIN: ChainEnd = { place: 0, hash: NO_HASH };

/** Returns a draft as the next entry of a chain. */
export function chainEntry(draft: AuditDraft, end: ChainEnd): AuditEntry {
  const entry = { ...draft, place: end.place + 1, previousHash: end.hash };
  return { ...entry, hash: hashEntry(entry) };
}

/** Returns why an entry is not the valid next one of a chain; null if it is. */
export function findFlaw(entry: AuditEntry, end: ChainEnd): string | null {
  if (entry.place !== end.place + 1) return "an entry before it is missing";
  if (entry.previousHash !== end.hash) return "it does not follow the entry before it";
  return entry.hash === hashEntry(entry) ? null : "it was changed";
}

function hashEntry(entry: Omit<AuditEntry, "hash">): string {
  const { place, previousHash, at, keyId, userId, action, accountId, target, requestId, changes } = entry;
  const content = [place, previousHash, at, keyId, userId, action, accountId, target, requestId, changes];
  return sha256(JSON.stringify(content), "hex");
}
