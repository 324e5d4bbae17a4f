import type { Clock } from "../../src/base/clock.ts";
import type { Journal } from "../../src/core/usage/journal.ts";
import { wrapMethods } from "../../src/storage/wrap-methods.ts";
import type { SeededRandom } from "../support/seeded-random.ts";

/**
 * One life of the gateway's process. All that it does to the world goes through what this makes of clock, journal and
 * stores, so that it can end between any two of its acts, as `kill -9` ends it.
 */
export class Life {
  isOver = false;
  /** Somebody only looks: what they do is not the process's. */
  isPaused = false;
  /** Ends it with one of the next acts; 0 leaves it alone. */
  private actsLeft = 0;

  /** It is to end in the middle of what it does next. */
  endWithin(acts: number): void {
    this.actsLeft = acts;
  }

  /** Before and after each act. True when there is no life left to do it. */
  isOverAt(): boolean {
    if (this.actsLeft > 0 && !this.isPaused) {
      this.actsLeft -= 1;
      if (this.actsLeft === 0) this.isOver = true;
    }
    return this.isOver;
  }
}

/** What of the world may fail, and how often: once in so many calls; 0 never. */
export interface Faults {
  store: number;
  journal: number;
}

const NEVER = new Promise<never>(() => {});

/** A clock that calls nobody behind the life's end. */
export function mortalClock(clock: Clock, life: Life): Clock {
  const unlessOver = (callback: () => void) => () => {
    if (!life.isOver) callback();
  };
  return {
    now: () => clock.now(),
    after: (delayMs, callback) => clock.after(delayMs, unlessOver(callback)),
    every: (periodMs, callback) => clock.every(periodMs, unlessOver(callback)),
  };
}

/** A store that refuses at random, and answers nobody behind the life's end. */
export function mortalStore<Store extends object>(
  store: Store,
  life: Life,
  faults: Faults,
  chance: SeededRandom,
): Store {
  return wrapMethods(store, (method, name) => async (...args) => {
    if (life.isOverAt()) return NEVER;
    if (faults.store > 0 && chance.oneIn(faults.store)) throw new Error(`${name} is refused`);
    const result = await method(...args);
    // The call was made; the process that made it may not live to learn that.
    if (life.isOverAt()) return NEVER;
    if (faults.store > 0 && chance.oneIn(faults.store))
      throw new Error(`${name} was done, and its answer lost`);
    return result;
  });
}

/** The journal's file, which outlives the process. */
export interface JournalFile {
  /** Entries by segment, oldest first. */
  segments: string[][];
  aside: readonly string[];
}

/** A journal in the hands of chance. */
export interface MortalJournal extends Journal {
  /** What the file does not have yet. */
  readonly unwritten: readonly string[];
  /** Of that, what it was asked to take and did not. */
  readonly refused: ReadonlySet<string>;
}

/** A journal that refuses at random, and writes nothing behind the life's end. */
export function mortalJournal(
  file: JournalFile,
  life: Life,
  faults: Faults,
  chance: SeededRandom,
): MortalJournal {
  const left = [...file.aside, ...file.segments.flat()];
  const unwritten: string[] = [];
  const refused = new Set<string>();
  /** Segments behind this one belong to this life. */
  let first = 0;
  file.segments.push([]);

  const flush = (): void => {
    while (unwritten.length > 0) {
      if (life.isOverAt()) return;
      if (faults.journal > 0 && chance.oneIn(faults.journal)) {
        for (const entry of unwritten) refused.add(entry);
        throw new Error("no space left on the device");
      }
      file.segments.at(-1)?.push(unwritten.shift() as string);
    }
  };
  return {
    unwritten,
    refused,
    append(entry) {
      unwritten.push(entry);
    },
    flush,
    mark() {
      flush();
      if (!life.isOver) file.segments.push([]);
      return first + file.segments.length - 1;
    },
    release(mark) {
      if (life.isOverAt()) return;
      if (faults.journal > 0 && chance.oneIn(faults.journal)) throw new Error("the file cannot be removed");
      const gone = Math.min(mark - first, file.segments.length - 1);
      file.segments.splice(0, gone);
      first += gone;
    },
    recover: () => left,
    skipped(entries) {
      if (!life.isOverAt()) file.aside = [...entries];
    },
    close: flush,
  };
}
