import type { ConfigDraft } from "./config-draft.ts";

/** The maximum number of retry rounds in `limits.repeats`. */
export const MAX_REPEATS = 5;
const MAX_TIMER_MS = 86_400_000;

/** Writes a timer, within its bounds. Returns false if the time is no number above 0. */
export function writeMilliseconds(draft: ConfigDraft, key: string, ms: number): boolean {
  if (!(ms > 0)) return false;
  draft.set("timers", key, Math.min(Math.max(1, Math.round(ms)), MAX_TIMER_MS));
  return true;
}

/** Writes the number of retry rounds, up to the maximum. Returns false if the value is not a whole number of at least 0. */
export function writeRepeats(draft: ConfigDraft, value: unknown): boolean {
  const repeats = Number(value);
  if (!Number.isInteger(repeats) || repeats < 0) return false;
  draft.set("limits", "repeats", Math.min(repeats, MAX_REPEATS));
  return true;
}

/** A number and its bounds. */
interface Bounded {
  readonly value: number;
  readonly least: number;
  readonly most: number;
}

/** Writes a whole number within its bounds. Returns false if it is no number above 0. */
export function writeWhole(
  draft: ConfigDraft,
  [section, key]: readonly [section: string, key: string],
  { value, least, most }: Bounded,
): boolean {
  if (!(value > 0)) return false;
  draft.set(section, key, Math.min(Math.max(least, Math.round(value)), most));
  return true;
}
