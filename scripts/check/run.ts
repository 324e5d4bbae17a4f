/**
 * Verifies what needs no test to run: `npm run check`. Every step runs, two at a time, and each prints its output when it has ended.
 */
import { join } from "node:path";

const ROOT = join(import.meta.dir, "../..");
const BUN = process.execPath;
/** TypeScript and Biome use several threads themselves. */
const AT_A_TIME = 2;

const STEPS: Readonly<Record<string, readonly (readonly string[])[]>> = {
  "types of the console": [
    [BUN, "scripts/generate/run.ts", "console-types"],
    ["node_modules/.bin/tsc", "--noEmit", "-p", "src/console"],
  ],
  types: [["node_modules/.bin/tsc", "--noEmit"]],
  "format and lint": [
    ["node_modules/.bin/biome", "ci", `--colors=${process.stdout.isTTY ? "force" : "off"}`, "."],
  ],
  surface: [[BUN, "scripts/surface/check-surface.ts"]],
  layers: [[BUN, "scripts/check/check-layers.ts"]],
  words: [[BUN, "scripts/check/check-words.ts"]],
  changelog: [[BUN, "scripts/release/release-notes.ts", "--check"]],
};

/** Runs the commands of a step up to the first that fails, and returns whether none did. */
async function runStep(name: string, commands: readonly (readonly string[])[]): Promise<boolean> {
  let output = "";
  let isPassed = true;
  for (const command of commands) {
    const child = Bun.spawn([...command], { cwd: ROOT, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
    const texts = await Promise.all([child.stdout.text(), child.stderr.text()]);
    output += texts.join("");
    isPassed = (await child.exited) === 0;
    if (!isPassed) break;
  }
  console.log(`${isPassed ? "passed" : "FAIL"} ${name}`);
  if (!isPassed) console.log(output);
  return isPassed;
}

const waiting = Object.entries(STEPS);
let failed = 0;
const work = async () => {
  for (let step = waiting.shift(); step !== undefined; step = waiting.shift())
    if (!(await runStep(...step))) failed++;
};
await Promise.all(Array.from({ length: AT_A_TIME }, work));
process.exitCode = failed > 0 ? 1 : 0;
