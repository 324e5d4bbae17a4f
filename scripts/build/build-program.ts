/**
 * Builds the gateway, and the threads of SQLite, from the sources into files with their code parsed in advance, which starts in half the time: `npm ci` does it,
 * and `npm run build -- program`. `bin/gateway` runs the result until one of the sources is newer, and the sources otherwise. With
 * `--if-older`, as before the tests, nothing is built if it would run the result.
 */
import { existsSync, readFileSync } from "node:fs";
import { rename, rm } from "node:fs/promises";
import { join } from "node:path";

const ROOT = join(import.meta.dir, "../..");
const PROGRAM = join(ROOT, "dist", "program");
const DRAFT = `${PROGRAM}.draft`;
/** How long it may take; it usually takes two seconds. Milliseconds. */
const BUILD_MS = 60_000;

if (process.argv.includes("--if-older") && isCurrent()) process.exit(0);
await rm(DRAFT, { recursive: true, force: true });
// In a process of its own, which can be ended: an installation must not wait for it for ever.
const builder = Bun.spawn({
  cmd: [
    process.execPath,
    "build",
    join(ROOT, "src", "main.ts"),
    // The threads that every start needs.
    join(ROOT, "src", "storage", "sqlite", "threads", "store-worker.ts"),
    "--target=bun",
    // The only format whose code Bun parses in advance. It has the paths of the sources in it: other threads and the console are loaded from there.
    "--format=cjs",
    `--tsconfig-override=${join(ROOT, "tsconfig.program.json")}`,
    "--bytecode",
    "--entry-naming=[name].[ext]",
    `--outdir=${DRAFT}`,
  ],
  stdin: "ignore",
  stdout: "ignore",
  stderr: "inherit",
  timeout: BUILD_MS,
});
if ((await builder.exited) === 0) {
  // The folder for which it was built: it does not run in a copy of the project elsewhere.
  await Bun.write(join(DRAFT, "root"), `${ROOT}\n`);
  await rm(PROGRAM, { recursive: true, force: true });
  await rename(DRAFT, PROGRAM);
} else {
  await rm(DRAFT, { recursive: true, force: true });
  console.error("The program was not built. The gateway starts from its sources, which takes longer.");
}

/** Returns whether `bin/gateway` would run the built program. */
function isCurrent(): boolean {
  const mark = join(PROGRAM, "root");
  if (!existsSync(mark) || readFileSync(mark, "utf8").trim() !== ROOT) return false;
  const sources = ["src", "package.json", "package-lock.json"].map((name) => join(ROOT, name));
  const newer = Bun.spawnSync(["find", ...sources, "-newer", mark, "-print", "-quit"]);
  return newer.success && newer.stdout.length === 0;
}
