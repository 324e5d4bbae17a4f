import type { Fields } from "../json/fields.ts";
import { asText } from "./reasoning.ts";

/**
 * Entries of `reasoning_details` as a stream brought them, each a piece of a thought, joined: clients gather them in a
 * list and send that back. Pieces that stand together are of one thought where type, index and id agree and no
 * signature has ended it.
 */
export function joinDetails(details: readonly Fields[]): Fields[] {
  const joined: Fields[] = [];
  for (const detail of details) {
    const last = joined.at(-1);
    if (last === undefined || !goesOn(last, detail)) joined.push(detail);
    else joined[joined.length - 1] = { ...last, ...detail, ...joinText(last, detail) };
  }
  return joined;
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
