import { readIdTime } from "../../../base/secrets/ids.ts";
import { dayOf } from "../../../base/time/time.ts";

/** The day of ids without a time. Its partitions are never dropped. */
export const UNDATED = 0;

/** Returns the day of the time in an id, counted from the epoch. PostgreSQL partitions tables by it. */
export function dayOfId(id: string): number {
  const ms = readIdTime(id);
  return ms === null ? UNDATED : dayOf(ms);
}
