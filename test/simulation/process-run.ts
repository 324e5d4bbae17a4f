import type { Clock } from "../../src/base/time/clock.ts";
import type { Journal, JournalLine } from "../../src/core/usage/journal/journal.ts";
import { wrapMethods } from "../../src/storage/wrap-methods.ts";
import { frameEntry } from "../support/clients/frame-entry.ts";
import type { SeededRandom } from "../support/seeded-random.ts";

/**
 * One run of the gateway's process. Clock, journal and stores of the process check it, so that the process can end between any two
 * of its operations, as with `kill -9`.
 */
export class ProcessRun {
  isOver = false;
  /** The checks of the simulation run: their operations are not those of the process. */
  isPaused = false;
  /** The operations until the process ends; 0: it does not end. */
  private operationsLeft = 0;

  /** Ends the process after this number of operations; 0: does not end it. */
  endWithin(operations: number): void {
    this.operationsLeft = operations;
  }

  /** Called before and after each operation. Returns whether the process has ended. */
  countOperation(): boolean {
    if (this.operationsLeft > 0 && !this.isPaused) {
      this.operationsLeft -= 1;
      if (this.operationsLeft === 0) this.isOver = true;
    }
    return this.isOver;
  }
}

/** How often operations fail: on average once in this many calls; 0: never. */
export interface Faults {
  store: number;
  journal: number;
}

const NEVER = new Promise<never>(() => {});

/** Returns a clock whose timers do not fire after the process has ended. */
export function clockOfRun(clock: Clock, run: ProcessRun): Clock {
  const unlessOver = (callback: () => void) => () => {
    if (!run.isOver) callback();
  };
  return {
    now: () => clock.now(),
    precise: () => clock.precise(),
    after: (delayMs, callback) => clock.after(delayMs, unlessOver(callback)),
    every: (periodMs, callback) => clock.every(periodMs, unlessOver(callback)),
  };
}

/** Returns a store that fails at random, and does not answer after the process has ended. */
export function faultyStore<Store extends object>(
  store: Store,
  run: ProcessRun,
  faults: Faults,
  chance: SeededRandom,
): Store {
  return wrapMethods(store, (method, name) => async (...args) => {
    if (run.countOperation()) return NEVER;
    if (faults.store > 0 && chance.oneIn(faults.store)) throw new Error(`${name} failed`);
    const result = await method(...args);
    // The process may end after the call has had its effect and before it returns.
    if (run.countOperation()) return NEVER;
    if (faults.store > 0 && chance.oneIn(faults.store))
      throw new Error(`${name} had its effect, but its answer was lost`);
    return result;
  });
}

/** The files of the journal, which survive the process. */
export interface JournalFile {
  /** Entries by segment, oldest first. */
  segments: string[][];
  /** The skipped entries. */
  aside: readonly string[];
}

/** A journal that fails at random. */
export interface FaultyJournal extends Journal {
  /** Entries that are not in the files yet. */
  readonly unwritten: readonly string[];
  /** Those of them that could not be written. */
  readonly rejected: ReadonlySet<string>;
}

/** Returns a journal that fails at random, and writes nothing after the process has ended. */
export function faultyJournal(
  file: JournalFile,
  run: ProcessRun,
  faults: Faults,
  chance: SeededRandom,
): FaultyJournal {
  const left = listLines(file);
  const unwritten: string[] = [];
  const rejected = new Set<string>();
  /** The number of the first segment that is still in the files. */
  let first = 0;
  file.segments.push([]);
  const end = () =>
    positionOf(first + file.segments.length - 1, (file.segments.at(-1)?.length ?? 0) + unwritten.length);

  const flush = (): void => {
    while (unwritten.length > 0) {
      if (run.countOperation()) return;
      if (faults.journal > 0 && chance.oneIn(faults.journal)) {
        for (const entry of unwritten) rejected.add(entry);
        throw new Error("no space left on the device");
      }
      file.segments.at(-1)?.push(unwritten.shift() as string);
    }
  };
  return {
    unwritten,
    rejected,
    append(text, frame) {
      const at = end();
      unwritten.push(frameEntry(text, frame));
      return at;
    },
    read: (at) =>
      findLine(left, at) ?? findLine(listLines(file, first), at) ?? unwritten.at(at - end()) ?? null,
    size: () => 0,
    flush,
    mark() {
      flush();
      if (!run.isOver) file.segments.push([]);
      return end();
    },
    release(before) {
      if (run.countOperation()) return;
      if (faults.journal > 0 && chance.oneIn(faults.journal)) throw new Error("the file cannot be removed");
      const gone = Math.min(Math.floor(before / SEGMENT) - first, file.segments.length - 1);
      file.segments.splice(0, gone);
      first += gone;
    },
    recover: () => left,
    skipped(entries) {
      if (!run.countOperation()) file.aside = [...entries];
    },
    close: flush,
  };
}

/** More entries than a segment has. */
const SEGMENT = 1_000_000;

function positionOf(segment: number, index: number): number {
  return segment * SEGMENT + index;
}

/** Lists the entries of a journal with their positions. The skipped ones come first. `first` is the number of the first segment. */
function listLines({ aside, segments }: JournalFile, first = 0): JournalLine[] {
  const skipped = aside.map((entry, index) => ({ at: index - aside.length, entry }));
  const lines = segments.flatMap((entries, segment) =>
    entries.map((entry, index) => ({ at: positionOf(first + segment, index), entry })),
  );
  return [...skipped, ...lines];
}

function findLine(lines: readonly JournalLine[], position: number): string | undefined {
  return lines.find(({ at }) => at === position)?.entry;
}
