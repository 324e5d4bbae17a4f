/**
 * Changes the code a little and looks whether the tests nearby notice: `npm run suite -- mutants`. The project itself is not touched;
 * copies of it are. Prints which changes survive, and the share that was noticed. What was measured and found is kept in `dist`: a
 * run that is ended goes on with the next one, and survivors are only tried with test files that are new or changed.
 *
 * --seed=<number>     which changes are drawn
 * --count=<number>    how many
 * --only=<text>       only in files whose path contains the text
 * --jobs=<number>     copies that run at the same time
 * --minutes=<number>  ends after that time; the exit code is 3 if changes are left to be tried
 * --seconds=<number>  how long the tests of one change may take
 * --list              prints the changes without running a test
 * --fresh             forgets what was measured and found: after changes of the code, whose lines have moved
 */
import { rmSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { API, type Checker } from "typescript/unstable/async";
import { removeTempFolders } from "../support/temp-folder.ts";
import { copyProject, PROJECT } from "./copy-project.ts";
import { measureCoverage } from "./coverage.ts";
import { drawMutants } from "./draw-mutants.ts";
import { EXPLAINED } from "./explained.ts";
import { findMutants, type Mutant } from "./find-mutants.ts";
import { listSubjects } from "./subjects.ts";
import { createMutantTrial, type MutantTrial } from "./try-mutants.ts";

const { values: options } = parseArgs({
  options: {
    seed: { type: "string", default: "1" },
    count: { type: "string", default: "300" },
    only: { type: "string", default: "" },
    jobs: { type: "string", default: "2" },
    minutes: { type: "string", default: "Infinity" },
    seconds: { type: "string", default: "60" },
    list: { type: "boolean", default: false },
    fresh: { type: "boolean", default: false },
  },
});

/** Share of the changes that the tests must notice. */
const AIM = 0.9;
/** The exit code of a run whose time was over before all changes were tried. */
const NOT_DONE = 3;
const KEPT_COVERAGE = join(PROJECT, "dist", "mutants-coverage.jsonl");
const KEPT_OUTCOMES = join(PROJECT, "dist", "mutants-outcomes.jsonl");

const endsAt = performance.now() + Number(options.minutes) * 60_000;
const isOver = () => performance.now() >= endsAt;
const subjects = listSubjects(PROJECT);
const drawn = drawMutants(await findAll(), Number(options.count), Number(options.seed));
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

function isExplained({ file, line, kind, before }: Mutant, text: string): boolean {
  const changed = text.split("\n", line)[line - 1] ?? "";
  return EXPLAINED.some(
    (entry) =>
      entry.file === file &&
      entry.kind === kind &&
      changed.includes(entry.line) &&
      (entry.before ?? before) === before,
  );
}

async function tryAll(mutants: readonly Mutant[]): Promise<void> {
  if (options.fresh) for (const kept of [KEPT_COVERAGE, KEPT_OUTCOMES]) rmSync(kept, { force: true });
  const folders = await Promise.all(Array.from({ length: Number(options.jobs) }, copyProject));
  const tests = await measureCoverage(KEPT_COVERAGE, folders, subjects, isOver);
  if (tests === undefined) process.exitCode = NOT_DONE;
  else {
    const trial = createMutantTrial(KEPT_OUTCOMES, await readTexts(), tests, Number(options.seconds) * 1_000);
    const waiting = mutants.filter((mutant) => !trial.isNoticed(mutant));
    console.log(`${mutants.length - waiting.length} of ${mutants.length} are known to be noticed`);
    const survivors = await tryEach(folders, waiting, trial);
    report(mutants.length - waiting.length, survivors, waiting.length);
  }
  await removeTempFolders();
}

/** Tries changes until none is left or the time is over, and removes those from `waiting`. Returns the survivors. */
async function tryEach(folders: readonly string[], waiting: Mutant[], trial: MutantTrial): Promise<Mutant[]> {
  const survivors: Mutant[] = [];
  await Promise.all(
    folders.map(async (folder) => {
      while (!isOver()) {
        const mutant = waiting.shift();
        if (mutant === undefined) return;
        const started = performance.now();
        const noticedBy = await trial.try(folder, mutant);
        if (noticedBy === undefined) survivors.push(mutant);
        const seconds = ((performance.now() - started) / 1_000).toFixed(1);
        console.log(
          `${noticedBy === undefined ? "SURVIVED" : "noticed "} ${seconds} s ${describe(mutant)}${noticedBy === undefined ? "" : ` (${noticedBy})`}`,
        );
      }
    }),
  );
  return survivors;
}

async function readTexts(): Promise<Map<string, string>> {
  return new Map(
    await Promise.all(
      subjects.map(async (file) => [file, await Bun.file(join(PROJECT, file)).text()] as const),
    ),
  );
}

function describe({ file, line, kind, before, after }: Mutant): string {
  const short = (text: string) => text.replace(/\s+/g, " ").slice(0, 100);
  return `${file}:${line} ${kind}: ${short(before)} → ${short(after)}`;
}

function report(tried: number, survivors: readonly Mutant[], left: number): void {
  const noticed = tried - survivors.length;
  console.log(`\nSurvivors of ${tried}, seed ${options.seed}:`);
  for (const mutant of survivors) console.log(`  ${describe(mutant)}`);
  console.log(
    `${((100 * noticed) / tried).toFixed(1)} % noticed; ${EXPLAINED.length} changes are explained and not drawn`,
  );
  console.log(`${noticed} passed, ${survivors.length} failed, ${left} not tried`);
  if (left > 0) process.exitCode = NOT_DONE;
  else process.exitCode = noticed < AIM * tried ? 1 : 0;
}
