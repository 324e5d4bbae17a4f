/**
 * Compares the public surface, which docs/versions.md promises, with `docs/surface`: the files must be as the code says, and what they say
 * otherwise than the last release must be named in the changelog. A release keeps the files in `docs/surface/released`.
 */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parseChangelog, UNRELEASED } from "../release/release-notes.ts";
import { AREAS, COMMAND_OUTPUT } from "./areas.ts";
import { compareSurface, findUnnamed } from "./compare-surface.ts";
import { listSurface, surfaceFile } from "./list-surface.ts";

const ROOT = join(import.meta.dir, "../..");
const RELEASED = join(ROOT, "docs/surface/released");
/** The most differences of an area that are printed. */
const MAX_PRINTED = 20;

const NAMES = [...AREAS.map(({ name }) => name), COMMAND_OUTPUT];

function linesOf(file: string): readonly string[] {
  return existsSync(file) ? readFileSync(file, "utf8").trimEnd().split("\n") : [];
}

/** Lists what is wrong with the files, and what the changelog does not name. */
async function findProblems(): Promise<readonly string[]> {
  const problems: string[] = [];
  for (const [name, text] of await listSurface())
    if (!existsSync(surfaceFile(name)) || readFileSync(surfaceFile(name), "utf8") !== text)
      problems.push(`docs/surface/${name}.txt is not what the code says: run \`npm run generate\``);
  const changelog = readFileSync(join(ROOT, "CHANGELOG.md"), "utf8");
  const notes = parseChangelog(changelog).find(({ version }) => version === UNRELEASED)?.notes ?? "";
  // The first release has nothing to compare with.
  for (const name of existsSync(RELEASED) ? NAMES : []) {
    const differences = compareSurface(linesOf(surfaceFile(name, RELEASED)), linesOf(surfaceFile(name)));
    const unnamed = findUnnamed(differences, notes);
    for (const { kind, line, names } of unnamed.slice(0, MAX_PRINTED))
      problems.push(
        `docs/surface/${name}.txt: ${kind} since the last release, but CHANGELOG.md (${UNRELEASED}) does not name \`${names.join("` or `")}\`: ${line}`,
      );
    if (unnamed.length > MAX_PRINTED)
      problems.push(`docs/surface/${name}.txt: and ${unnamed.length - MAX_PRINTED} more`);
  }
  return problems;
}

if (import.meta.main) {
  const problems = await findProblems();
  for (const problem of problems) console.error(problem);
  console.log(`surface: ${problems.length} problems`);
  process.exitCode = problems.length > 0 ? 1 : 0;
}
