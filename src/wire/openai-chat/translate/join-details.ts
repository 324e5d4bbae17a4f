import { asText, type Fields } from "../../json/fields.ts";

/** A detail, and the entries it came in. */
export interface JoinedDetail {
  readonly detail: Fields;
  readonly pieces: readonly Fields[];
  /** Where the first of them stood. */
  readonly place: number;
}

/**
 * Entries of `reasoning_details` as a stream brought them, each a piece of a thought, joined: clients gather them in a
 * list and send that back. Pieces that stand together are of one thought where type, index and id agree and no
 * signature has ended it.
 */
export function joinDetails(entries: readonly Fields[]): JoinedDetail[] {
  const joined: OpenDetail[] = [];
  for (const [place, entry] of entries.entries()) {
    const last = joined.at(-1);
    if (last === undefined || !goesOn(last.detail, entry)) {
      joined.push({ detail: entry, pieces: [entry], place });
      continue;
    }
    // A copy once, and changed from then on.
    if (last.pieces.length === 1) last.detail = { ...last.detail };
    Object.assign(last.detail, entry, joinText(last.detail, entry));
    last.pieces.push(entry);
  }
  return joined;
}

/** A detail that further entries may join. */
interface OpenDetail extends JoinedDetail {
  detail: Fields;
  readonly pieces: Fields[];
}

const TEXTS = ["text", "summary"] as const;

function goesOn(last: Fields, next: Fields): boolean {
  if (typeof next["index"] !== "number" || next["index"] !== last["index"]) return false;
  const isOver = asText(last["signature"]) !== null || asText(last["data"]) !== null;
  return !isOver && next["type"] === last["type"] && (next["id"] ?? null) === (last["id"] ?? null);
}

function joinText(last: Fields, next: Fields): Fields {
  const named = TEXTS.filter((name) => asText(last[name]) !== null || asText(next[name]) !== null);
  return Object.fromEntries(
    named.map((name) => [name, (asText(last[name]) ?? "") + (asText(next[name]) ?? "")]),
  );
}
