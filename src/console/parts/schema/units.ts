/** The units of settings, and numbers in units that people read. Pure functions. */

/** The unit of a number. */
export interface Unit {
  readonly name: string;
  /** Returns a number in the unit that people would choose; null if that is the same. */
  print(value: number): string | null;
}

const TIMES = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["min", 60_000],
  ["s", 1_000],
] as const;
const SIZES = [
  ["GiB", 1_073_741_824],
  ["MiB", 1_048_576],
  ["KiB", 1_024],
] as const;

function scaleBy(units: readonly (readonly [string, number])[], factor: number) {
  return (value: number): string | null => {
    const amount = value * factor;
    const found = units.find(([, size]) => amount >= size);
    if (found === undefined || found[1] === factor) return null;
    return `${Number((amount / found[1]).toFixed(2))} ${found[0]}`;
  };
}

const UNITS: readonly (readonly [end: RegExp, unit: Unit])[] = [
  [/(^|_)ms$/, { name: "ms", print: scaleBy(TIMES, 1) }],
  [/(^|_)bytes$/, { name: "bytes", print: scaleBy(SIZES, 1) }],
  [/(^|_)minutes$/, { name: "min", print: scaleBy(TIMES, 60_000) }],
  [/(^|_)hours$/, { name: "h", print: scaleBy(TIMES, 3_600_000) }],
  [/(^|_)days$/, { name: "days", print: () => null }],
  [/(^|_)percent$/, { name: "%", print: () => null }],
  [/(^|_)share$/, { name: "", print: (value) => `${Number((value * 100).toFixed(2))} %` }],
  [/(^|_)tokens$/, { name: "tokens", print: () => null }],
  [/(^|_)playground_limit$/, { name: "US$", print: () => null }],
];

/** Returns the unit of a setting by the end of its name; null if it has none. */
export function unitOf(name: string): Unit | null {
  return UNITS.find(([end]) => end.test(name))?.[1] ?? null;
}
