import { mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { git } from "./repository.ts";
import { runCommand } from "./run-command.ts";

/** How an artefact of the second build compares with that of the first. */
interface Comparison {
  readonly name: string;
  /** What differs; "" if both are byte for byte equal. */
  readonly difference: string;
}

/** Compares the files of two folders, by name. */
export async function compareBuilds(first: string, second: string): Promise<readonly Comparison[]> {
  const names = new Set([...(await readdir(first)), ...(await readdir(second))]);
  const comparisons: Comparison[] = [];
  // One after the other, because both files are in memory.
  for (const name of [...names].sort())
    comparisons.push({ name, difference: await describeDifference(join(first, name), join(second, name)) });
  return comparisons;
}

async function describeDifference(first: string, second: string): Promise<string> {
  const files = [Bun.file(first), Bun.file(second)] as const;
  for (const [index, file] of files.entries())
    if (!(await file.exists())) return `the ${index === 0 ? "first" : "second"} build has none`;
  const [a, b] = await Promise.all(files.map((file) => file.bytes()));
  const bytes = compareBytes(a as Uint8Array, b as Uint8Array);
  return bytes !== "" && /\.(tgz|tar\.gz)$/.test(first)
    ? `${bytes}; ${await compareArchives(first, second)}`
    : bytes;
}

/** Says where two contents differ; "" if they are equal. */
export function compareBytes(first: Uint8Array, second: Uint8Array): string {
  if (Buffer.compare(first, second) === 0) return "";
  const length = Math.min(first.length, second.length);
  let at = 0;
  while (at < length && first[at] === second[at]) at++;
  return `${first.length} and ${second.length} bytes, which differ from byte ${at + 1} on`;
}

/** Names the files that differ in two archives. */
async function compareArchives(first: string, second: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "gateway-compare-"));
  try {
    for (const [name, file] of [
      ["first", first],
      ["second", second],
    ] as const) {
      await mkdir(join(folder, name));
      await runCommand(["tar", "-xzf", file, "-C", join(folder, name)], { cwd: folder });
    }
    const listed = await git(folder, "diff", "--no-index", "--name-only", "first", "second").catch(
      (error: Error) => error.message.split("\n").slice(1).join(", "),
    );
    return listed === "" ? "their files are equal" : `in ${listed}`;
  } finally {
    await rm(folder, { recursive: true });
  }
}
