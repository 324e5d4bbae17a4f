import { midnightOf } from "../../base/time.ts";

/** Stands in for the release of a model or a tier of which nobody says when it was: the day of the catalog's first version. */
const UNKNOWN_RELEASE = "2026-11-21";

const MS_PER_SECOND = 1000;

/** `created` of a model or a tier, seconds since the epoch: its day of release, `YYYY-MM-DD`, at midnight (UTC). */
export function createdAt(released: string | null | undefined): number {
  return midnightOf(released ?? UNKNOWN_RELEASE) / MS_PER_SECOND;
}
