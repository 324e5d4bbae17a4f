import type { Disturbance } from "../machine/host-watch.ts";
import { medianOf } from "../report/figures.ts";
import type { PartName } from "./plan.ts";

/** The values of one figure for one variant, one for each round that was kept. */
interface Figure {
  readonly figure: string;
  readonly subject: string;
  readonly values: readonly number[];
}

/** A variant that has no figure, and why. */
interface Absence {
  readonly subject: string;
  /** The beginning of the names of the missing figures; empty for the whole part. */
  readonly cell: string;
  readonly reason: string;
}

/** What was found in one part. */
export interface PartResult {
  readonly measuredAt: string;
  readonly commit: string | null;
  readonly machine: string;
  readonly figures: readonly Figure[];
  /** Variants that could not be installed or started, or gave wrong answers. */
  readonly absent: readonly Absence[];
  /** What else a reader must know of single variants. */
  readonly notes: readonly string[];
  readonly rounds: { readonly kept: number; readonly discarded: number };
  /** The highest of the rounds that were kept. */
  readonly disturbance: Disturbance;
}

/** All results; each part may be of another run. */
export interface LabResults {
  readonly labels: Readonly<Record<string, string>>;
  /** Versions of what the variants run on. */
  readonly tools: string;
  readonly parts: Partial<Record<PartName, PartResult>>;
}

/** Median, lowest and highest of a figure. */
export interface Summary {
  readonly median: number;
  readonly lowest: number;
  readonly highest: number;
}

/** Returns the summary of a figure; `null` if it was not measured. */
export function summarize(part: PartResult, figure: string, subject: string): Summary | null {
  return summaryOf(valuesOf(part, figure, subject));
}

/** Returns by how much a figure exceeds that of another variant in the same round; `null` if either was not measured. */
export function summarizeAdded(
  part: PartResult,
  figure: string,
  { subject, base }: { readonly subject: string; readonly base: string },
): Summary | null {
  const values = valuesOf(part, figure, subject);
  const bases = valuesOf(part, figure, base);
  return bases.length === values.length ? summaryOf(values.map((value, i) => value - (bases[i] ?? 0))) : null;
}

function valuesOf(part: PartResult, figure: string, subject: string): readonly number[] {
  return part.figures.find((one) => one.figure === figure && one.subject === subject)?.values ?? [];
}

function summaryOf(values: readonly number[]): Summary | null {
  const median = medianOf(values);
  return median === null ? null : { median, lowest: Math.min(...values), highest: Math.max(...values) };
}

/** One value that was read. */
export interface Reading {
  readonly figure: string;
  readonly subject: string;
  readonly value: number;
}

/** Collects what a part finds. */
export class PartLog {
  readonly #values = new Map<string, { figure: string; subject: string; values: number[] }>();
  readonly #absent: Absence[] = [];
  readonly #notes: string[] = [];
  #kept = 0;
  #discarded = 0;
  #disturbance: Disturbance = { steal: 0, others: 0 };

  /** Adds the readings of a round that is kept. */
  keep(readings: readonly Reading[], disturbance: Disturbance): void {
    this.#kept++;
    this.#disturbance = {
      steal: Math.max(this.#disturbance.steal, disturbance.steal),
      others: Math.max(this.#disturbance.others, disturbance.others),
    };
    for (const reading of readings) this.add(reading);
  }

  /** Adds a sentence, without its period, for the line below the tables of the part. */
  note(text: string): void {
    this.#notes.push(text);
  }

  /** Counts a round that is thrown away. */
  discard(): void {
    this.#discarded++;
  }

  /** Removes a variant from the figures that begin with `cell`, with what was read of it. */
  fail(subject: string, reason: string, cell = ""): void {
    if (this.hasFailed(subject, cell)) return;
    this.#absent.push({ subject, cell, reason });
    for (const [key, entry] of this.#values)
      if (entry.subject === subject && entry.figure.startsWith(cell)) this.#values.delete(key);
  }

  hasFailed(subject: string, figure = ""): boolean {
    return this.#absent.some((absence) => absence.subject === subject && figure.startsWith(absence.cell));
  }

  /** Returns what was found. */
  finish(origin: Pick<PartResult, "measuredAt" | "commit" | "machine">): PartResult {
    return {
      ...origin,
      figures: [...this.#values.values()],
      absent: this.#absent,
      notes: this.#notes,
      rounds: { kept: this.#kept, discarded: this.#discarded },
      disturbance: this.#disturbance,
    };
  }

  /** Adds a reading that belongs to no round. */
  add({ figure, subject, value }: Reading): void {
    if (this.hasFailed(subject, figure)) return;
    const key = `${figure} ${subject}`;
    const entry = this.#values.get(key) ?? { figure, subject, values: [] };
    entry.values.push(value);
    this.#values.set(key, entry);
  }
}
