/** The bounds of the keys that members make, as texts. Pure functions. */
import type { Me } from "../../api/schema.ts";
import { formatMoney } from "../../parts/values/format.ts";
import { text } from "../../text/text.ts";

const words = text.keys;
const DAY_MS = 86_400_000;
const NANODOLLARS = 1e9;

/** The bounds of the keys that a member makes. */
export type Bounds = NonNullable<Me["own_keys"]>;

/** Returns the bounds as sentences. */
export function describeBounds({ used, count, days, spend_limit }: Bounds): readonly string[] {
  return [
    count === null ? words.ownBounds.noCount(used) : words.ownBounds.count(used, count),
    ...(spend_limit === null ? [] : [words.ownBounds.spends(formatMoney(spend_limit * NANODOLLARS))]),
    ...(days === null ? [] : [words.ownBounds.lives(days)]),
  ];
}

/** Returns the last day at whose end a key that lives for so many days may expire: `2027-02-26`. */
export function lastDayOf(days: number, now: number): string {
  return new Date(now + (days - 1) * DAY_MS).toISOString().slice(0, 10);
}
