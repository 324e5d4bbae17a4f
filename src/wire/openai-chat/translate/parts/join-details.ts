import { assignFields, asText, type Fields } from "../../../../base/json/fields.ts";

/** A reasoning detail and the entries it was joined from. */
interface JoinedDetail {
  readonly detail: Fields;
  readonly pieces: readonly Fields[];
  /** The index of the first entry. */
  readonly index: number;
}

/**
 * Joins entries of `reasoning_details` that are pieces of one detail: clients collect them from a stream and send them back as a
 * list. Adjacent entries belong together if type, index and id agree and no signature has ended the detail.
 */
export function joinDetails(entries: readonly Fields[]): JoinedDetail[] {
  const joined: OpenDetail[] = [];
  for (const [index, entry] of entries.entries()) {
    const last = joined.at(-1);
    if (last === undefined || !continues(last.detail, entry)) {
      joined.push({ detail: entry, pieces: [entry], index });
      continue;
    }
    // Copied once and then changed in place.
    if (last.pieces.length === 1) last.detail = { ...last.detail };
    assignFields(last.detail, entry, joinText(last.detail, entry));
    last.pieces.push(entry);
  }
  return joined;
}

/** A detail that further entries may extend. */
interface OpenDetail extends JoinedDetail {
  detail: Fields;
  readonly pieces: Fields[];
}

const TEXTS = ["text", "summary"] as const;

function continues(last: Fields, next: Fields): boolean {
  if (typeof next["index"] !== "number" || next["index"] !== last["index"]) return false;
  const hasEnded = asText(last["signature"]) !== null || asText(last["data"]) !== null;
  return !hasEnded && next["type"] === last["type"] && (next["id"] ?? null) === (last["id"] ?? null);
}

function joinText(last: Fields, next: Fields): Fields {
  const present = TEXTS.filter((name) => asText(last[name]) !== null || asText(next[name]) !== null);
  return Object.fromEntries(
    present.map((name) => [name, (asText(last[name]) ?? "") + (asText(next[name]) ?? "")]),
  );
}
