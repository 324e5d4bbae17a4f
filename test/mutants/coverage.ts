import { join } from "node:path";
import { Glob } from "bun";
import { makeTempFolder } from "../support/temp-folder.ts";

/** Longest run of one test file. Milliseconds. */
const TEST_FILE_MS = 120_000;

/** What one test file runs of the subjects. */
export interface CoveringTest {
  readonly test: string;
  /** Milliseconds. */
  readonly took: number;
  /** Lines that it executes in all of `src`: few of them belong to a test that is about just these. */
  readonly lines: number;
  /** Lines that it executes in each subject. */
  readonly files: ReadonlyMap<string, ReadonlySet<number>>;
}

/**
 * Runs each test file alone and returns what it executes of the subjects. Test files that fail are left out, with a line: they
 * would notice every mutant.
 *
 * @param folders copies of the project; one test file at a time runs in each
 */
export async function measureCoverage(
  folders: readonly string[],
  subjects: readonly string[],
): Promise<CoveringTest[]> {
  const tests = [...new Glob("test/**/*.test.ts").scanSync({ cwd: folders[0]! })].sort();
  const wanted = new Set(subjects);
  const measured: CoveringTest[] = [];
  await Promise.all(
    folders.map(async (folder) => {
      for (let test = tests.shift(); test !== undefined; test = tests.shift()) {
        const covering = await measureTest(folder, test, wanted);
        if (covering === undefined) console.log(`left out, because it fails: ${test}`);
        else measured.push(covering);
      }
    }),
  );
  return measured.sort((a, b) => a.lines - b.lines);
}

async function measureTest(
  folder: string,
  test: string,
  wanted: ReadonlySet<string>,
): Promise<CoveringTest | undefined> {
  const output = makeTempFolder("gateway-coverage-");
  const started = performance.now();
  const code = await runTests(folder, [test], TEST_FILE_MS, [
    "--coverage",
    "--coverage-reporter=lcov",
    `--coverage-dir=${output}`,
  ]);
  if (code !== 0) return undefined;
  const took = performance.now() - started;
  const report = Bun.file(join(output, "lcov.info"));
  return { test, took, ...readReport((await report.exists()) ? await report.text() : "", wanted) };
}

function readReport(report: string, wanted: ReadonlySet<string>): Pick<CoveringTest, "lines" | "files"> {
  const files = new Map<string, Set<number>>();
  let lines = 0;
  let file = "";
  for (const line of report.split("\n")) {
    if (line.startsWith("SF:")) file = line.slice(3);
    const hit = /^DA:(\d+),[1-9]/.exec(line);
    if (hit === null) continue;
    lines += 1;
    if (!wanted.has(file)) continue;
    const known = files.get(file) ?? new Set();
    files.set(file, known.add(Number(hit[1])));
  }
  return { lines, files };
}

/** Runs test files in a folder until the first failure. Returns the exit code, or 124 if they did not end in `ms`. */
export async function runTests(
  folder: string,
  tests: readonly string[],
  ms: number,
  options: readonly string[] = [],
): Promise<number> {
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
    { cwd: folder, stdin: "ignore", stdout: "ignore", stderr: "ignore", timeout: ms, killSignal: "SIGKILL" },
  );
  const code = await child.exited;
  return child.signalCode === null ? code : 124;
}
