/**
 * Verifies what needs no test to run: `npm run check`. Every step runs, two at a time, and one that fails prints its output.
 */
import { join } from "node:path";

const ROOT = join(import.meta.dir, "../..");
const BUN = process.execPath;
const TSC = "node_modules/.bin/tsc";
const COLORS = `--colors=${process.stdout.isTTY ? "force" : "off"}`;
/** TypeScript and Biome use several threads themselves. */
const AT_A_TIME = 2;

const STEPS: Readonly<Record<string, readonly string[]>> = {
  types: [TSC, "--noEmit"],
  "format and lint": ["node_modules/.bin/biome", "ci", COLORS, "."],
  "types of the console": [TSC, "--noEmit", "-p", "src/console"],
  surface: [BUN, "scripts/surface/check-surface.ts"],
  layers: [BUN, "scripts/check/check-layers.ts"],
  words: [BUN, "scripts/check/check-words.ts"],
  changelog: [BUN, "scripts/release/release-notes.ts", "--check"],
};

let failed = 0;

async function runStep(name: string, command: readonly string[]): Promise<void> {
  const child = Bun.spawn([...command], { cwd: ROOT, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const texts = await Promise.all([child.stdout.text(), child.stderr.text()]);
  const isPassed = (await child.exited) === 0;
  console.log(`${isPassed ? "passed" : "FAIL"} ${name}`);
  if (isPassed) return;
  console.log(texts.join(""));
  failed++;
}

// The console and its tests import what this writes.
await runStep("generated types", [BUN, "scripts/generate/run.ts", "console-types"]);
const waiting = Object.entries(STEPS);
const work = async () => {
  for (let step = waiting.shift(); step !== undefined; step = waiting.shift()) await runStep(...step);
};
await Promise.all(Array.from({ length: AT_A_TIME }, work));
process.exitCode = failed > 0 ? 1 : 0;
