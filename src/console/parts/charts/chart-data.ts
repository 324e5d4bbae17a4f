/** The numbers of a chart over time, and what its axes show. Pure functions. */

/** A line of a chart. */
export interface ChartSeries {
  readonly id: string;
  readonly label: string;
  /** A value for each time; null where there is none. */
  readonly values: readonly (number | null)[];
  /** The number of the colour and dash pattern, from 1; 0 is the quiet grey of a comparison. */
  readonly style: number;
}

/** The dash pattern of each style, so that lines differ without colour. Pixels; an empty pattern is a solid line. */
export const DASHES: readonly (readonly number[])[] = [
  [4, 4],
  [],
  [],
  [8, 3],
  [2, 3],
  [10, 3, 2, 3],
  [5, 5],
  [14, 4],
];

/** The dash pattern of the last piece of a line, if its day or hour still runs. */
export const RUNNING_DASH: readonly number[] = [3, 3];

/** Returns the values of a line up to the last complete day or hour, and the piece that leads to the running one. */
export function splitRunning(values: readonly (number | null)[]) {
  const last = values.length - 1;
  return {
    complete: values.map((value, i) => (i === last ? null : value)),
    running: values.map((value, i) => (i < last - 1 ? null : value)),
  };
}

/** Returns the largest value of all series; 0 without values. */
export function findMaximum(series: readonly ChartSeries[]): number {
  let most = 0;
  for (const { values } of series)
    for (const value of values) if (value !== null && value > most) most = value;
  return most;
}

/** The upper ends of an axis with four steps, as factors of a power of ten, so that each step is a round number. */
const TOPS = [1, 1.2, 1.6, 2, 2.4, 3.2, 4, 6, 8];

/** Returns the round upper end of an axis that begins at 0; 1 if there are no values. */
export function roundUp(maximum: number): number {
  if (maximum <= 0) return 1;
  const power = 10 ** Math.floor(Math.log10(maximum));
  for (const factor of TOPS) if (maximum <= factor * power * (1 + 1e-9)) return factor * power;
  return 10 * power;
}

/** The upper ends of an axis of counts, as factors of a power of ten. Half of each is a whole number, except of 1. */
const COUNT_TOPS = [1, 2, 4, 6, 8];

/** Returns the upper end of an axis of counts with two steps; 1 if there are none. */
export function roundUpCount(maximum: number): number {
  if (maximum <= 1) return 1;
  const power = 10 ** Math.floor(Math.log10(maximum));
  return (COUNT_TOPS.find((factor) => factor * power >= maximum) ?? 10) * power;
}

/** Returns the index to which a key moves a cursor over `count` points; null for other keys. Without a cursor it begins at the last. */
export function moveAlong(key: string, at: number | null, count: number): number | null {
  if (count === 0) return null;
  const now = at ?? count - 1;
  const targets: Readonly<Record<string, number>> = {
    ArrowLeft: now - 1,
    ArrowRight: now + 1,
    Home: 0,
    End: count - 1,
  };
  const target = targets[key];
  return target === undefined ? null : Math.max(0, Math.min(count - 1, target));
}

/** Returns the points of a sparkline in a box, as the path of an SVG element; empty with fewer than two values. */
export function sparklinePath(values: readonly number[], width: number, height: number): string {
  if (values.length < 2) return "";
  const most = Math.max(...values, 1e-9);
  const step = width / (values.length - 1);
  const points = values.map((value, i) => {
    const y = height - (Math.max(0, value) / most) * height;
    return `${(i * step).toFixed(1)} ${y.toFixed(1)}`;
  });
  return `M${points.join("L")}`;
}
