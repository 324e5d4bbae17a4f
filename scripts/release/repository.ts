/** What a release reads of the repository, and the changes that it makes there. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseChangelog } from "./release-notes.ts";
import { readCommand, runCommand } from "./run-command.ts";

/** The only branch from which versions are released. */
const BRANCH = "main";
const VERSION = /^\d+\.\d+\.\d+(-[0-9A-Za-z.]+)?$/;

/** A reason not to release. Nothing was changed. */
export class Refusal extends Error {}

/** Where a release begins. */
export interface Start {
  /** The commit that HEAD names. */
  readonly head: string;
  /**
   * `new`: the version has to be set and committed. `committed`: HEAD is the release's commit and has no tag, because an
   * earlier run was ended. `tagged`: the release is complete, and only its artefacts are built.
   */
  readonly state: "new" | "committed" | "tagged";
}

/** Returns the subject of the commit of a release. */
function subjectOf(version: string): string {
  return `release: ${version}`;
}

/** Returns the output of git in a folder. */
export function git(folder: string, ...args: readonly string[]): Promise<string> {
  return readCommand(["git", ...args], { cwd: folder });
}

/**
 * Returns where the release of a version begins.
 * @throws Refusal if the repository is in no state to release it.
 */
export async function findStart(root: string, version: string): Promise<Start> {
  if (!VERSION.test(version)) throw new Refusal(`${version} is no version, such as 1.2.0 or 1.2.0-rc.1.`);
  const changed = await git(root, "status", "--porcelain");
  if (changed !== "")
    throw new Refusal(`The work tree has changes that are not committed:\n${changed.slice(0, 2_000)}`);
  const head = await git(root, "rev-parse", "HEAD");
  const tagged = await findTag(root, version);
  if (tagged === head) return { head, state: "tagged" };
  if (tagged !== null)
    throw new Refusal(`v${version} is a tag already, of another commit: ${tagged.slice(0, 12)}.`);
  const branch = await git(root, "rev-parse", "--abbrev-ref", "HEAD");
  if (branch !== BRANCH)
    throw new Refusal(`Versions are released from the branch ${BRANCH}, and this is ${branch}.`);
  const present = readVersion(root);
  if (present === version && (await git(root, "log", "-1", "--format=%s")) === subjectOf(version))
    return { head, state: "committed" };
  if (Bun.semver.order(version, present) <= 0)
    throw new Refusal(`${version} is not newer than ${present}, the version of package.json.`);
  if (readNotes(root, "Unreleased") === "")
    throw new Refusal("The section Unreleased of CHANGELOG.md is empty: there is nothing to release.");
  return { head, state: "new" };
}

/** Returns the commit that the tag of a version names; null if there is no such tag. */
async function findTag(root: string, version: string): Promise<string | null> {
  const name = `refs/tags/v${version}`;
  if ((await git(root, "tag", "--list", `v${version}`)) === "") return null;
  return git(root, "rev-parse", `${name}^{commit}`);
}

function readVersion(folder: string): string {
  return JSON.parse(readFileSync(join(folder, "package.json"), "utf8")).version;
}

/** Returns a section of the changelog without its heading; "" if there is none. */
export function readNotes(folder: string, section: string): string {
  const sections = parseChangelog(readFileSync(join(folder, "CHANGELOG.md"), "utf8"));
  return sections.find(({ version }) => version === section)?.notes ?? "";
}

/** Makes a copy of the repository at a commit. It shares nothing with the repository, so that what happens there stays there. */
export async function cloneAt(root: string, commit: string, folder: string): Promise<void> {
  await runCommand(["git", "clone", "--quiet", "--no-checkout", root, folder], { cwd: root });
  await git(folder, "checkout", "--quiet", "--detach", commit);
}

/**
 * Commits all changes of a copy as the release of a version, by the author that git knows in the repository. Returns the commit.
 * @throws Error if git knows none.
 */
export async function commitRelease(root: string, copy: string, version: string): Promise<string> {
  const identity = await git(root, "var", "GIT_COMMITTER_IDENT");
  const [, name = "", email = ""] = /^(.*) <(.*)> \d+ [+-]\d+$/.exec(identity) ?? [];
  const author = ["-c", `user.name=${name}`, "-c", `user.email=${email}`];
  await git(copy, "add", "--all");
  await git(copy, ...author, "commit", "--quiet", "--message", subjectOf(version));
  return git(copy, "rev-parse", "HEAD");
}

/**
 * Takes the commit of a release over from a copy, and tags it. If one of both fails, the repository is as it was before.
 * @throws Error if the branch has moved since, or the tag cannot be made.
 */
export async function adoptRelease(
  root: string,
  release: {
    readonly copy: string;
    readonly commit: string;
    readonly head: string;
    readonly version: string;
    readonly notes: string;
  },
): Promise<void> {
  const { copy, commit, head, version, notes } = release;
  if (commit !== head) {
    await git(root, "fetch", "--quiet", "--no-tags", copy, commit);
    await git(root, "merge", "--quiet", "--ff-only", commit);
  }
  const tag = ["git", "tag", "--annotate", "--cleanup=whitespace", "--file=-", `v${version}`, commit];
  try {
    await runCommand(tag, { cwd: root, input: `${version}\n\n${notes}\n` });
  } catch (error) {
    await git(root, "reset", "--quiet", "--keep", head);
    throw error;
  }
}

/** Returns the time of a commit, in seconds since 1970. */
export async function readCommitTime(folder: string, commit: string): Promise<number> {
  return Number(await git(folder, "log", "-1", "--format=%ct", commit));
}
