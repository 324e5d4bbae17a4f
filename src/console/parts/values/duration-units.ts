/** Durations as a number and a unit. Pure functions. */

const SECONDS = { days: 86_400, hours: 3_600, minutes: 60, seconds: 1 } as const;
export type DurationUnit = keyof typeof SECONDS;
export const UNITS = Object.keys(SECONDS) as readonly DurationUnit[];

/** Returns the largest unit that divides a number of seconds without remainder; days for zero, and for a text that is no whole number. */
export function chooseUnit(seconds: string): DurationUnit {
  const value = Number(seconds);
  if (seconds.trim() === "" || !Number.isInteger(value) || value === 0) return "days";
  return UNITS.find((unit) => value % SECONDS[unit] === 0) ?? "seconds";
}

/** Returns a number of seconds in a unit. A text that is no number stays as it is. */
export function toUnit(seconds: string, unit: DurationUnit): string {
  return scale(seconds, 1 / SECONDS[unit]);
}

/** Returns the seconds of a number in a unit. A text that is no number stays as it is. */
export function fromUnit(typed: string, unit: DurationUnit): string {
  return scale(typed, SECONDS[unit]);
}

function scale(text: string, factor: number): string {
  const value = Number(text);
  if (text.trim() === "" || !Number.isFinite(value)) return text.trim();
  return String(Number((value * factor).toPrecision(12)));
}
