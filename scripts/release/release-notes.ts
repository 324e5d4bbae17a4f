/**
 * Prints the changes of a version from CHANGELOG.md: `npm run release-notes [version]`, without a version the unreleased ones. With
 * `--check` it prints nothing, and fails if the changelog has another form or lacks the version of package.json.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import packageJson from "../../package.json" with { type: "json" };

const FILE = join(import.meta.dir, "../..", "CHANGELOG.md");
export const UNRELEASED = "Unreleased";
const VERSION = /^\d+\.\d+\.\d+(-[\w.]+)?$/;

/** The changes of a version. */
interface Release {
  readonly version: string;
  /** The line of its heading, counted from one. */
  readonly line: number;
  /** What follows the heading, without empty lines at its ends. */
  readonly notes: string;
}

/** Splits a changelog at its headings of the second level. */
export function parseChangelog(text: string): readonly Release[] {
  const lines = text.split("\n");
  const starts = lines.flatMap((line, index) => (line.startsWith("## ") ? [index] : []));
  return starts.map((start, index) => ({
    version: (lines[start] as string).slice(3).trim(),
    line: start + 1,
    notes: lines
      .slice(start + 1, starts[index + 1])
      .join("\n")
      .trim(),
  }));
}

/** Lists what is wrong with the form of a changelog, for the version of the package. */
export function findChangelogProblems(text: string, packageVersion: string): readonly string[] {
  const releases = parseChangelog(text);
  const versions = releases.map(({ version }) => version);
  const problems = releases.flatMap((release, index) => findReleaseProblems(release, versions[index + 1]));
  if (!text.startsWith("# Changelog\n")) problems.push('the first line is not "# Changelog"');
  if (!versions.includes(packageVersion))
    problems.push(`version ${packageVersion} of package.json has no section`);
  if (versions.lastIndexOf(UNRELEASED) > 0) problems.push(`${UNRELEASED} is not the first section`);
  return problems;
}

function findReleaseProblems({ version, line, notes }: Release, older: string | undefined): string[] {
  const problems: string[] = [];
  const at = `line ${line}: ${version}`;
  if (version !== UNRELEASED && !VERSION.test(version)) problems.push(`${at} is no version`);
  else if (older !== undefined && version !== UNRELEASED && Bun.semver.order(version, older) <= 0)
    problems.push(`${at} is not newer than ${older}, which follows it`);
  if (version !== UNRELEASED && notes === "") problems.push(`${at} has no changes`);
  for (const paragraph of notes === "" ? [] : notes.split(/\n{2,}/))
    if (!isGroup(paragraph) && !isList(paragraph))
      problems.push(
        `${at} has neither a list nor a title that ends with a colon: ${paragraph.split("\n")[0]}`,
      );
  return problems;
}

/** Whether a paragraph is the title of a group of changes, such as "Added:". */
function isGroup(paragraph: string): boolean {
  return /^[A-Z][^\n]*:$/.test(paragraph);
}

/** Whether each line of a paragraph begins an item or continues one. */
function isList(paragraph: string): boolean {
  return paragraph.startsWith("- ") && paragraph.split("\n").every((line) => /^(- | {2})\S/.test(line));
}

/** Returns the exit code. */
function run(args: readonly string[]): number {
  const text = readFileSync(FILE, "utf8");
  const problems = findChangelogProblems(text, packageJson.version);
  for (const problem of problems) console.error(`CHANGELOG.md: ${problem}`);
  if (problems.length > 0) return 1;
  const [wanted = UNRELEASED] = args;
  if (wanted === "--check") return 0;
  const releases = parseChangelog(text);
  const release = releases.find(
    ({ version }) => version.toLowerCase() === wanted.replace(/^v(?=\d)/, "").toLowerCase(),
  );
  if (release === undefined) {
    console.error(
      `CHANGELOG.md has no ${wanted}. It has ${releases.map(({ version }) => version).join(", ")}.`,
    );
    return 1;
  }
  console.log(release.notes);
  return 0;
}

if (import.meta.main) process.exitCode = run(process.argv.slice(2));
