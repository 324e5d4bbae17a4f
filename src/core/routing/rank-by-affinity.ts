import { createHash } from "node:crypto";

/**
 * Ids in the order in which they serve a session (rendezvous hashing): each has a score of its own with the session, and
 * the greatest leads. An id that leaves moves only the sessions that it led; one that comes takes only those it wins. The
 * same in every process and version.
 */
export function rankByAffinity(session: string, ids: readonly string[]): string[] {
  return ids
    .map((id) => ({ id, score: scoreOf(session, id) }))
    .sort((a, b) => (a.score === b.score ? compare(a.id, b.id) : compare(b.score, a.score)))
    .map(({ id }) => id);
}

/** The length of the session stands before it, so that no two pairs are one text. */
function scoreOf(session: string, id: string): bigint {
  return createHash("sha256").update(`${session.length}:${session}${id}`).digest().readBigUInt64BE(0);
}

function compare<T extends bigint | string>(a: T, b: T): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
