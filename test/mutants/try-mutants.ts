import { join } from "node:path";
import { type CoveringTest, runTests } from "./coverage.ts";
import type { Mutant } from "./find-mutants.ts";
import { hashText, openKeptLines } from "./kept-lines.ts";

/** Test files that are run for one change at most. */
const MAX_TESTS = 40;
/** Time that a start of the tests takes beyond what they take themselves, on a busy machine. Milliseconds. */
const START_MS = 20_000;

/** What is known of one change. */
interface Outcome {
  /** The file with its text, and the change. */
  readonly mutant: string;
  /** The test file that noticed it. */
  readonly noticedBy?: string;
  /** The test files, with their text, that did not. */
  readonly passed: readonly string[];
}

/** Tries changes. Knows what earlier runs found, and which test files noticed changes of the same file. */
export interface MutantTrial {
  /** Returns whether a change is known to be noticed: it need not be tried. */
  isNoticed(mutant: Mutant): boolean;
  /** Applies a change in a copy of the project and returns the test file that notices it; undefined if none does. */
  try(folder: string, mutant: Mutant): Promise<string | undefined>;
}

/**
 * @param kept file of what is known
 * @param texts texts of the changed files
 * @param maxMs how long the tests of one change may take. Milliseconds.
 */
export function createMutantTrial(
  kept: string,
  texts: ReadonlyMap<string, string>,
  tests: readonly CoveringTest[],
  maxMs: number,
): MutantTrial {
  const lines = openKeptLines<Outcome>(kept);
  const outcomes = new Map(lines.values.map((outcome) => [outcome.mutant, outcome]));

  function keyOf({ file, start, end, after }: Mutant): string {
    return `${file}@${hashText(texts.get(file)!)}:${start}-${end}:${after}`;
  }

  /** Returns the test files that noticed changes of a file, with how many. */
  function countNoticed(file: string): ReadonlyMap<string, number> {
    const counts = new Map<string, number>();
    for (const { mutant, noticedBy } of outcomes.values()) {
      if (noticedBy === undefined || !mutant.startsWith(`${file}@`)) continue;
      counts.set(noticedBy, (counts.get(noticedBy) ?? 0) + 1);
    }
    return counts;
  }

  return {
    isNoticed: (mutant) => outcomes.get(keyOf(mutant))?.noticedBy !== undefined,
    async try(folder, mutant) {
      const key = keyOf(mutant);
      const before = outcomes.get(key)?.passed ?? [];
      const nearby = nearbyTests(mutant, tests, countNoticed(mutant.file), maxMs);
      const left = nearby.filter((test) => !before.includes(nameOf(test)));
      if (left.length === 0) return undefined;
      const { passed, last } = await runChanged(folder, mutant, texts.get(mutant.file)!, left);
      const outcome: Outcome = passed
        ? { mutant: key, passed: [...before, ...left.map(nameOf)] }
        : { mutant: key, noticedBy: last ?? left[0]!.test, passed: before };
      outcomes.set(key, outcome);
      lines.add(outcome);
      return outcome.noticedBy;
    },
  };
}

function nameOf({ test, hash }: CoveringTest): string {
  return `${test}@${hash}`;
}

async function runChanged(folder: string, mutant: Mutant, text: string, tests: readonly CoveringTest[]) {
  const path = join(folder, mutant.file);
  await Bun.write(path, text.slice(0, mutant.start) + mutant.after + text.slice(mutant.end));
  try {
    const ms = START_MS + 2 * tests.reduce((sum, { took }) => sum + took, 0);
    return await runTests(
      folder,
      tests.map(({ test }) => test),
      ms,
    );
  } finally {
    await Bun.write(path, text);
  }
}

/** Parts of paths that say nothing about what a file is about. */
const COMMON = new Set(["src", "test", "ts", "core", "http", "wire", "api", "storage", "generation"]);

/** Returns the words of a path that say what a file is about. */
function wordsOf(path: string): string[] {
  const words = path.split(/[^a-z]+/).map((word) => word.replace(/s$/, ""));
  return words.filter((word) => word.length > 2 && !COMMON.has(word));
}

/**
 * Returns the test files that execute the changed line: first those that noticed other changes of the file, then those with a similar
 * name, then those that execute much of the file and little else, the quick ones first.
 */
function nearbyTests(
  { file, line }: Mutant,
  tests: readonly CoveringTest[],
  noticed: ReadonlyMap<string, number>,
  maxMs: number,
): CoveringTest[] {
  const focus = ({ files, lines, took }: CoveringTest) => (files.get(file)?.size ?? 0) ** 2 / (lines * took);
  const words = new Set(wordsOf(file));
  const nameLike = ({ test }: CoveringTest) => new Set(wordsOf(test)).intersection(words).size;
  const covering = tests
    .filter(({ files }) => files.get(file)?.has(line) === true)
    .map((test) => ({
      test,
      noticed: noticed.get(test.test) ?? 0,
      likeness: nameLike(test),
      focus: focus(test),
    }))
    .sort((a, b) => b.noticed - a.noticed || b.likeness - a.likeness || b.focus - a.focus)
    .map(({ test }) => test);
  const nearby: CoveringTest[] = [];
  let took = 0;
  for (const test of covering) {
    if (nearby.length === MAX_TESTS) break;
    // A long test file is passed over, and shorter ones behind it are run.
    if (nearby.length > 0 && took + test.took > maxMs) continue;
    took += test.took;
    nearby.push(test);
  }
  return nearby;
}
