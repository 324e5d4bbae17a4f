/** What the guard measures. Less is better. */
export const FIGURES = {
  "allocated.small": { label: "heap allocated by a small request, bytes", share: 0.1, more: 0 },
  "allocated.stream": { label: "heap allocated by a stream of 100 events, bytes", share: 0.1, more: 0 },
  "work.small": { label: "processor time of a small request, by the relay's", share: 1, more: 0 },
  "work.stream": { label: "processor time of a stream, by the relay's", share: 1, more: 0 },
  "memory.slope": { label: "growth of live memory with each request, bytes", share: 0.1, more: 300 },
  "start.work": { label: "processor time of a start, by the reference's", share: 0.5, more: 0 },
  "start.code": { label: "the program that a start loads, bytes", share: 0.1, more: 0 },
  "size.packages": { label: "packages beside the runtime, bytes", share: 0.1, more: 0 },
  "size.tarball": { label: "the program's tarball, bytes", share: 0.1, more: 0 },
} as const satisfies Record<string, Tolerance>;

/** How far a figure may exceed what was accepted: by a share of it, and by an absolute amount for one that may be near zero. */
interface Tolerance {
  readonly label: string;
  readonly share: number;
  readonly more: number;
}

export type FigureName = keyof typeof FIGURES;
export type Figures = Readonly<Record<FigureName, number>>;

/** What was measured when the limits were accepted, and when. */
export interface Accepted {
  /** Year, month and day. */
  readonly date: string;
  readonly figures: Readonly<Record<FigureName, { readonly measured: number; readonly limit: number }>>;
}

/** Returns the limits that follow from figures. A negative slope counts as none. */
export function acceptFigures(figures: Figures, date: string): Accepted {
  const limits = names().map((name) => {
    const { share, more } = FIGURES[name];
    const measured = round(figures[name]);
    return [name, { measured, limit: round(Math.max(measured, 0) * (1 + share) + more) }] as const;
  });
  return { date, figures: Object.fromEntries(limits) as Accepted["figures"] };
}

/** Returns the names of the figures that exceed their limits. A figure that is no number exceeds it. */
export function findLosses(figures: Figures, { figures: accepted }: Accepted): readonly FigureName[] {
  return names().filter((name) => !(figures[name] <= accepted[name].limit));
}

/** Returns a line for each figure: measured, accepted, limit. */
export function renderFigures(figures: Figures, { figures: accepted, date }: Accepted): string {
  const lines = names().map((name) => {
    const { measured, limit } = accepted[name];
    const values = [figures[name], measured, limit].map((value) => String(round(value)).padStart(12));
    return `${FIGURES[name].label.padEnd(52)}${values.join("")}${figures[name] <= limit ? "" : "  TOO MUCH"}`;
  });
  return [
    `${"".padEnd(52)}${["now", date, "limit"].map((text) => text.padStart(12)).join("")}`,
    ...lines,
  ].join("\n");
}

function names(): readonly FigureName[] {
  return Object.keys(FIGURES) as FigureName[];
}

function round(value: number): number {
  return Math.abs(value) < 1_000 ? Number(value.toFixed(2)) : Math.round(value);
}
