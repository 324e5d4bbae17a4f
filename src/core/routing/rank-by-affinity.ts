import { compareText } from "../catalog/format-catalog.ts";
import { weighSpread } from "./weigh-spread.ts";

/**
 * Ids in the order in which they serve a session (rendezvous hashing): whoever weighs most leads. An id that leaves moves
 * only the sessions that it led; one that comes takes only those it wins. The same in every process and version.
 */
export function rankByAffinity(session: string, ids: readonly string[]): string[] {
  return ids
    .map((id) => ({ id, weight: weighSpread(session, id) }))
    .sort((a, b) => b.weight - a.weight || compareText(a.id, b.id))
    .map(({ id }) => id);
}
