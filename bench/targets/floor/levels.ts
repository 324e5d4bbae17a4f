/** How much of a gateway's work a floor does; each does what the one before does as well. */
export const FLOOR_LEVELS = ["relay", "json", "journal", "records"] as const;
export type FloorLevel = (typeof FLOOR_LEVELS)[number];

/** Returns whether a floor of `level` does what `work` has added. */
export function includes(level: FloorLevel, work: FloorLevel): boolean {
  return FLOOR_LEVELS.indexOf(level) >= FLOOR_LEVELS.indexOf(work);
}
