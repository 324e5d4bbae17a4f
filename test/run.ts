/**
 * Runs tests: `npm test` those that every change runs, `npm run suite -- NAME` those of another suite, and `npm run suite` lists the
 * suites. Arguments that follow go to the suite. Where the test runner runs it, files and folders among them replace those of the suite,
 * as in `npm test -- test/http -t "a name"`.
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { MAIN_SUITE, SUITES, type Suite } from "./suites.ts";

const ROOT = join(import.meta.dir, "..");

/** Compiles less and keeps freed memory, because each test file runs briefly. */
const MAIN_SETTINGS = { MIMALLOC_PURGE_DELAY: "-1", BUN_JSC_useFTLJIT: "false" };

/** Runs a suite, and returns its exit code. */
async function runSuite(suite: Suite, args: readonly string[]): Promise<number> {
  const { variable } = suite;
  if (variable !== undefined) process.env[variable] = "true";
  if ("run" in suite) {
    // The program reads its arguments as if it had been started itself, and sets the exit code.
    process.argv.splice(2, process.argv.length, ...args);
    await suite.run();
    return Number(process.exitCode ?? 0);
  }
  const { without = [], isParallel, testSeconds = 60 } = suite;
  const chosen = args.filter((arg) => existsSync(join(ROOT, arg)));
  const options = [
    ...without.map((pattern) => `--path-ignore-patterns=${pattern}`),
    `--timeout=${testSeconds * 1_000}`,
    ...(isParallel ? ["--parallel=2", "--no-isolate"] : []),
    ...args.filter((arg) => !chosen.includes(arg)),
  ];
  const files = (chosen.length > 0 ? chosen : suite.files()).map((file) => `./${file}`);
  const tests = Bun.spawn([process.execPath, "test", ...options, ...files], {
    cwd: ROOT,
    env: { ...process.env, ...(suite === MAIN_SUITE ? MAIN_SETTINGS : {}) },
    stdio: ["ignore", "inherit", "inherit"],
  });
  return tests.exited;
}

function printSuites(): void {
  for (const [name, { what, minutes }] of Object.entries(SUITES))
    console.log(`  ${name.padEnd(10)} ${what}${minutes === null ? "" : ` (${minutes} min)`}`);
}

const [mode, ...args] = process.argv.slice(2);
const [name = "", ...rest] = args;
if (mode === "--main") process.exitCode = await runSuite(MAIN_SUITE, args);
else if (Object.hasOwn(SUITES, name)) process.exitCode = await runSuite(SUITES[name] as Suite, rest);
else {
  console.log(`npm run suite -- NAME [arguments]\n`);
  printSuites();
  process.exitCode = 2;
}
