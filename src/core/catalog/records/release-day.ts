import { midnightOf } from "../../../base/time/time.ts";

/** The release day that is presented for models and tiers whose release day is unknown: the day of the catalog's first version. */
const UNKNOWN_RELEASE = "2026-11-21";

const MS_PER_SECOND = 1000;

/** Returns `created` of a model or a tier, in seconds since the epoch: midnight (UTC) of its release day, `YYYY-MM-DD`. */
export function createdAt(released: string | null | undefined): number {
  return midnightOf(released ?? UNKNOWN_RELEASE) / MS_PER_SECOND;
}
