import { compareText } from "../../catalog/records/format-catalog.ts";
import { weighSpread } from "./weigh-spread.ts";

/**
 * Orders ids by their weight for a session (rendezvous hashing). Removing an id moves only the sessions in which it was first, and adding
 * an id moves only those in which it becomes first. The order is the same in every process and version.
 */
export function rankByAffinity(session: string, ids: readonly string[]): string[] {
  return ids
    .map((id) => ({ id, weight: weighSpread(session, id) }))
    .sort((a, b) => b.weight - a.weight || compareText(a.id, b.id))
    .map(({ id }) => id);
}
