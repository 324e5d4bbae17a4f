import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Glob } from "bun";
import { makeTempFolder } from "../support/temp-folder.ts";
import { hashText, openKeptLines } from "./kept-lines.ts";

/** Longest run of one test file. Milliseconds. */
const TEST_FILE_MS = 120_000;

/** What one test file runs of the subjects. */
export interface CoveringTest {
  readonly test: string;
  /** Of the text of the test file: a changed one is measured again. */
  readonly hash: string;
  /** It would notice every mutant. */
  readonly fails: boolean;
  /** Milliseconds. */
  readonly took: number;
  /** Lines that it executes in all of `src`: few of them belong to a test that is about just these. */
  readonly lines: number;
  /** Lines that it executes in each subject. */
  readonly files: ReadonlyMap<string, ReadonlySet<number>>;
}

/** A test file's coverage as it is kept. */
type KeptCoverage = Omit<CoveringTest, "files"> & { readonly files: Readonly<Record<string, number[]>> };

/**
 * Runs each test file alone and returns what it executes of the subjects. What an earlier run measured is taken from the file at
 * `kept`. Test files that fail are left out, with a line.
 *
 * @param folders copies of the project; one test file at a time runs in each
 * @param isOver whether this run has no time left. The result is undefined if test files are left then.
 */
export async function measureCoverage(
  kept: string,
  folders: readonly string[],
  subjects: readonly string[],
  isOver: () => boolean,
): Promise<CoveringTest[] | undefined> {
  const lines = openKeptLines<KeptCoverage>(kept);
  const known = new Map(lines.values.map((value) => [value.test, value]));
  const tests = [...new Glob("test/**/*.test.ts").scanSync({ cwd: folders[0]! })].sort();
  const wanted = new Set(subjects);
  const measured: KeptCoverage[] = [];
  const waiting: [test: string, hash: string][] = [];
  for (const test of tests) {
    const hash = hashText(readFileSync(join(folders[0]!, test), "utf8"));
    const before = known.get(test);
    if (before?.hash === hash) measured.push(before);
    else waiting.push([test, hash]);
  }
  await Promise.all(
    folders.map(async (folder) => {
      while (!isOver()) {
        const next = waiting.shift();
        if (next === undefined) return;
        const covering = await measureTest(folder, ...next, wanted);
        if (covering.fails) console.log(`left out, because it fails: ${covering.test}`);
        lines.add(covering);
        measured.push(covering);
      }
    }),
  );
  if (waiting.length > 0) {
    console.log(`${waiting.length} of ${tests.length} test files are still to be measured`);
    return undefined;
  }
  return measured.filter(({ fails }) => !fails).map(restore);
}

function restore(kept: KeptCoverage): CoveringTest {
  return {
    ...kept,
    files: new Map(Object.entries(kept.files).map(([file, lines]) => [file, new Set(lines)])),
  };
}

async function measureTest(
  folder: string,
  test: string,
  hash: string,
  wanted: ReadonlySet<string>,
): Promise<KeptCoverage> {
  const output = makeTempFolder("gateway-coverage-");
  const started = performance.now();
  const { passed } = await runTests(folder, [test], TEST_FILE_MS, [
    "--coverage",
    "--coverage-reporter=lcov",
    `--coverage-dir=${output}`,
  ]);
  const took = Math.round(performance.now() - started);
  const report = Bun.file(join(output, "lcov.info"));
  const read = readReport(passed && (await report.exists()) ? await report.text() : "", wanted);
  return { test, hash, fails: !passed, took, ...read };
}

function readReport(report: string, wanted: ReadonlySet<string>): Pick<KeptCoverage, "lines" | "files"> {
  const files: Record<string, number[]> = {};
  let lines = 0;
  let file = "";
  for (const line of report.split("\n")) {
    if (line.startsWith("SF:")) file = line.slice(3);
    const hit = /^DA:(\d+),[1-9]/.exec(line);
    if (hit === null) continue;
    lines += 1;
    if (!wanted.has(file)) continue;
    const known = files[file] ?? [];
    known.push(Number(hit[1]));
    files[file] = known;
  }
  return { lines, files };
}

/** How a run of test files ended. */
export interface TestRun {
  readonly passed: boolean;
  /** The test file that ran last: the one that failed. */
  readonly last?: string;
}

/** Runs test files in a folder, in their order, until the first failure. Those that do not end in `ms` fail. */
export async function runTests(
  folder: string,
  tests: readonly string[],
  ms: number,
  options: readonly string[] = [],
): Promise<TestRun> {
  const child = Bun.spawn(
    [
      process.execPath,
      "test",
      ...tests.map((test) => `./${test}`),
      "--bail",
      "--no-isolate",
      "--timeout=60000",
      ...options,
    ],
    { cwd: folder, stdin: "ignore", stdout: "ignore", stderr: "pipe", timeout: ms, killSignal: "SIGKILL" },
  );
  const [code, output] = await Promise.all([child.exited, child.stderr.text()]);
  const last = [...output.matchAll(/^(test\/\S+\.test\.ts):$/gm)].at(-1)?.[1];
  return { passed: code === 0 && child.signalCode === null, ...(last !== undefined && { last }) };
}
