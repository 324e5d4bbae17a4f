/** Changes to what was said in a conversation. Pure functions. */
import type { Turn } from "../../conversation/conversation.ts";

/** Something that holds a turn. */
interface HasTurn {
  readonly turn: Turn;
}

/**
 * Returns a conversation without one turn. Results of calls go together with the answer that made the calls, because an API accepts
 * neither without the other.
 */
export function removeTurn<Entry extends HasTurn>(entries: readonly Entry[], turn: Turn): readonly Entry[] {
  const at = entries.findIndex((entry) => entry.turn === turn);
  if (at < 0) return entries;
  const first = turn.role === "tool" ? at - 1 : at;
  const last = turn.role === "assistant" && entries[at + 1]?.turn.role === "tool" ? at + 1 : at;
  return entries.filter((_, i) => i < first || i > last);
}

/** Returns a conversation in which a message or an answer has another text. */
export function replaceText<Entry extends HasTurn>(
  entries: readonly Entry[],
  turn: Turn,
  text: string,
): readonly Entry[] {
  if (turn.role === "tool") return entries;
  const changed = { ...turn, text };
  return entries.map((entry) => (entry.turn === turn ? { ...entry, turn: changed } : entry));
}

/** Returns a conversation up to a turn, without what was said after it. */
export function cutAfter<Entry extends HasTurn>(entries: readonly Entry[], turn: Turn): readonly Entry[] {
  return entries.slice(0, entries.findIndex((entry) => entry.turn === turn) + 1);
}
