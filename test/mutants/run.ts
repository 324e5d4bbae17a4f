/**
 * Changes the code a little and looks whether the tests nearby notice: `npm run test:mutants`. The project itself is not touched;
 * copies of it are. Prints which changes survive, and the share that was noticed.
 *
 * --seed=<number>   which changes are drawn
 * --count=<number>  how many
 * --only=<text>     only in files whose path contains the text
 * --jobs=<number>   copies that run at the same time
 * --list            prints the changes without running a test
 * --fresh           measures again which test executes which line
 */
import { join } from "node:path";
import { parseArgs } from "node:util";
import { API, type Checker } from "typescript/unstable/async";
import { createSeededRandom } from "../support/seeded-random.ts";
import { removeTempFolders } from "../support/temp-folder.ts";
import { copyProject, PROJECT } from "./copy-project.ts";
import { type CoveringTest, measureCoverage, runTests } from "./coverage.ts";
import { drawMutants } from "./draw-mutants.ts";
import { EXPLAINED } from "./explained.ts";
import { findMutants, type Mutant } from "./find-mutants.ts";
import { listSubjects } from "./subjects.ts";

const { values: options } = parseArgs({
  options: {
    seed: { type: "string", default: "1" },
    count: { type: "string", default: "300" },
    only: { type: "string", default: "" },
    jobs: { type: "string", default: "2" },
    list: { type: "boolean", default: false },
    fresh: { type: "boolean", default: false },
  },
});

/** Share of the changes that the tests must notice. */
const AIM = 0.9;
/** Test files that are run for one change, those first that are about little else, and how long they may take. Milliseconds. */
const [MAX_TESTS, MAX_TESTS_MS] = [40, 120_000];
/** The measured coverage is kept between runs. */
const KEPT = join(PROJECT, "dist", "mutants-coverage.json");

const subjects = listSubjects(PROJECT);
const drawn = drawMutants(await findAll(), Number(options.count), createSeededRandom(Number(options.seed)));
if (options.list) for (const mutant of drawn) console.log(describe(mutant));
else await tryAll(drawn);

async function findAll(): Promise<Mutant[]> {
  const api = new API({ cwd: PROJECT });
  const snapshot = await api.updateSnapshot({ openProject: join(PROJECT, "tsconfig.json") });
  const { program, checker } = snapshot.getProjects()[0]!;
  const found: Mutant[] = [];
  for (const file of subjects.filter((path) => path.includes(options.only))) {
    const source = await program.getSourceFile(join(PROJECT, file));
    if (source === undefined) continue;
    for (const mutant of findMutants(file, source)) {
      if (!isExplained(mutant, source.text) && (await compiles(mutant, checker))) found.push(mutant);
    }
  }
  await api.close();
  return found;
}

/** Returns whether the compiler would take a mutant. Only swapped arguments are looked at: other kinds seldom change a type. */
async function compiles({ swapped }: Mutant, checker: Checker): Promise<boolean> {
  if (swapped === undefined) return true;
  const [first, second] = await checker.getTypeAtLocation(swapped);
  if (first === undefined || second === undefined) return false;
  return (await checker.typeToString(first)) === (await checker.typeToString(second));
}

function isExplained({ file, line }: Mutant, text: string): boolean {
  const changed = text.split("\n", line)[line - 1] ?? "";
  return EXPLAINED.some((entry) => entry.file === file && changed.includes(entry.before));
}

async function tryAll(mutants: readonly Mutant[]): Promise<void> {
  const folders = await Promise.all(Array.from({ length: Number(options.jobs) }, copyProject));
  const tests = await loadCoverage(folders);
  const waiting = [...mutants];
  const survivors: Mutant[] = [];
  let tried = 0;
  await Promise.all(
    folders.map(async (folder) => {
      for (let mutant = waiting.shift(); mutant !== undefined; mutant = waiting.shift()) {
        const survived = await survives(folder, mutant, tests);
        tried += 1;
        if (survived) survivors.push(mutant);
        console.log(`${tried}/${mutants.length} ${survived ? "SURVIVED" : "noticed "} ${describe(mutant)}`);
      }
    }),
  );
  await removeTempFolders();
  report(mutants.length, survivors);
}

/** Returns whether all tests pass that execute the changed line. */
async function survives(folder: string, mutant: Mutant, tests: readonly CoveringTest[]): Promise<boolean> {
  const path = join(folder, mutant.file);
  const text = await Bun.file(path).text();
  await Bun.write(path, text.slice(0, mutant.start) + mutant.after + text.slice(mutant.end));
  try {
    const nearby = nearbyTests(mutant, tests);
    return nearby.length === 0 || (await runTests(folder, nearby, MAX_TESTS_MS)) === 0;
  } finally {
    await Bun.write(path, text);
  }
}

function nearbyTests({ file, line }: Mutant, tests: readonly CoveringTest[]): string[] {
  const nearby: string[] = [];
  let took = 0;
  for (const test of tests) {
    if (test.files.get(file)?.has(line) !== true) continue;
    took += test.took;
    if (nearby.length === MAX_TESTS || took > MAX_TESTS_MS / 2) break;
    nearby.push(test.test);
  }
  return nearby;
}

async function loadCoverage(folders: readonly string[]): Promise<CoveringTest[]> {
  if (!options.fresh && (await Bun.file(KEPT).exists())) return restoreCoverage(await Bun.file(KEPT).json());
  const measured = await measureCoverage(folders, subjects);
  await Bun.write(
    KEPT,
    JSON.stringify(measured, (_, value) =>
      value instanceof Map || value instanceof Set ? [...value] : value,
    ),
  );
  return measured;
}

type KeptTest = Omit<CoveringTest, "files"> & {
  readonly files: readonly (readonly [string, readonly number[]])[];
};

function restoreCoverage(kept: readonly KeptTest[]): CoveringTest[] {
  return kept.map((test) => ({
    ...test,
    files: new Map(test.files.map(([file, lines]) => [file, new Set(lines)])),
  }));
}

function describe({ file, line, kind, before, after }: Mutant): string {
  const short = (text: string) => text.replace(/\s+/g, " ").slice(0, 100);
  return `${file}:${line} ${kind}: ${short(before)} → ${short(after)}`;
}

function report(count: number, survivors: readonly Mutant[]): void {
  const noticed = count - survivors.length;
  console.log(`\nSurvivors of ${count}, seed ${options.seed}:`);
  for (const mutant of survivors) console.log(`  ${describe(mutant)}`);
  console.log(
    `${((100 * noticed) / count).toFixed(1)} % noticed; ${EXPLAINED.length} changes are explained and not drawn`,
  );
  console.log(`${noticed} passed, ${survivors.length} failed`);
  process.exitCode = noticed < AIM * count ? 1 : 0;
}
