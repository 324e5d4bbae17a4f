/**
 * Releases a version: `npm run release -- <version>`. It checks the project, sets the version everywhere, builds all artefacts twice in
 * two folders, compares them, and then commits and tags. Everything happens in copies of the repository: until the commit nothing
 * in it has changed, whatever fails. It never pushes or publishes; it prints the commands that do. CONTRIBUTING.md has the steps.
 */
import { mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { parseArgs } from "node:util";
import packageJson from "../../package.json" with { type: "json" };
import { BUN_PACKAGES, isTarget, type Target } from "../build/build-executable.ts";
import { buildArtefacts, namesOf } from "./build-artefacts.ts";
import { compareBuilds } from "./compare-builds.ts";
import {
  adoptRelease,
  cloneAt,
  commitRelease,
  findStart,
  Refusal,
  readCommitTime,
  readNotes,
  type Start,
} from "./repository.ts";
import { readCommand, showCommand } from "./run-command.ts";
import { findMissingFields, type Publisher, setVersion } from "./set-version.ts";

const ROOT = join(import.meta.dir, "../..");
const USAGE = `npm run release -- <version> [--dry-run] [--with-ci] [--targets=linux-x64,…]
  [--package=@scope/name] [--repository=URL] [--homepage=URL] [--bugs=URL] [--author=TEXT]`;

interface Options {
  readonly version: string;
  /** Neither commits nor tags. */
  readonly isDryRun: boolean;
  /** Runs `.ci/run` instead of naming what it has to have passed. */
  readonly withCi: boolean;
  readonly targets: readonly Target[];
  readonly publisher: Publisher;
}

/** A copy of the repository at the commit of the release. */
interface Copy {
  readonly folder: string;
  readonly commit: string;
  /** The time of the commit, in seconds since 1970. */
  readonly time: number;
}

function readOptions(args: string[]): Options {
  const text = { type: "string" } as const;
  const flag = { type: "boolean", default: false } as const;
  const publisher = { package: text, repository: text, homepage: text, bugs: text, author: text };
  const options = { "dry-run": flag, "with-ci": flag, targets: text, ...publisher };
  const { values, positionals } = parseArgs({ args, options, allowPositionals: true });
  const [version, ...others] = positionals;
  if (version === undefined || others.length > 0) throw new Refusal(USAGE);
  return {
    version: version.replace(/^v(?=\d)/, ""),
    isDryRun: values["dry-run"],
    withCi: values["with-ci"],
    targets: readTargets(values.targets),
    publisher: {
      name: values.package ?? null,
      repository: values.repository ?? null,
      homepage: values.homepage ?? null,
      bugs: values.bugs ?? null,
      author: values.author ?? null,
    },
  };
}

function readTargets(list: string | undefined): readonly Target[] {
  const known = Object.keys(BUN_PACKAGES).filter(isTarget);
  if (list === undefined) return known;
  const targets = list.split(",");
  for (const target of targets)
    if (!isTarget(target)) throw new Refusal(`--targets: ${target} is not one of ${known.join(", ")}.`);
  return known.filter((target) => targets.includes(target));
}

/** Makes the copy in which the version is set and committed, or is already. */
async function prepareCopy(folder: string, start: Start, { version, publisher }: Options): Promise<Copy> {
  await cloneAt(ROOT, start.head, folder);
  let commit = start.head;
  if (start.state === "new") {
    await setVersion(folder, version, publisher);
    commit = await commitRelease(ROOT, folder, version);
  }
  return { folder, commit, time: await readCommitTime(folder, commit) };
}

async function install(folder: string, ...args: readonly string[]): Promise<void> {
  await showCommand(["npm", "ci", "--no-audit", "--no-fund", "--loglevel=error", ...args], { cwd: folder });
}

/** Installs the packages of the copy, and checks it as it will be released. What is tagged was checked before. */
async function installAndCheck({ folder }: Copy, { state }: Start, { withCi }: Options): Promise<void> {
  if (state === "tagged" && !withCi) return install(folder, "--omit=dev");
  await install(folder);
  if (withCi) return showCommand([join(folder, ".ci/run")], { cwd: folder });
  await showCommand(["npm", "run", "--silent", "check"], { cwd: folder });
  console.log("These groups of .ci/run must have passed for this commit; --with-ci runs them here:");
  console.log(await readCommand([".ci/run", "--list"], { cwd: folder }));
}

/** Builds in the copy and in a second one, says what is equal, and returns the folder with the first build. */
async function buildTwice(work: string, copy: Copy, { version, targets }: Options): Promise<string> {
  const second = join(work, "the-second-folder");
  const outputs = [join(work, "first-artefacts"), join(work, "second-artefacts")] as const;
  const request = { version, targets, time: copy.time };
  console.log("Builds the artefacts.");
  await buildArtefacts({ ...request, project: copy.folder, output: outputs[0] });
  console.log("Builds them again, in another folder.");
  await cloneAt(copy.folder, copy.commit, second);
  await install(second, "--omit=dev");
  await buildArtefacts({ ...request, project: second, output: outputs[1] });
  for (const { name, difference } of await compareBuilds(...outputs))
    console.log(difference === "" ? `  equal    ${name}` : `  DIFFERS  ${name}: ${difference}`);
  return outputs[0];
}

/** Moves the artefacts to their place, on which another disk may be. */
async function placeArtefacts(from: string, version: string): Promise<string> {
  const place = join(ROOT, "dist/release", version);
  const draft = `${place}.draft`;
  await rm(draft, { recursive: true, force: true });
  await mkdir(draft, { recursive: true });
  await showCommand(["cp", "-R", "-p", `${from}/.`, draft], { cwd: ROOT });
  await rm(place, { recursive: true, force: true });
  await rename(draft, place);
  return place;
}

/** Prints the commands that push and publish. */
function printNext(place: string, copy: Copy, { version, isDryRun }: Options): void {
  const folder = relative(ROOT, place);
  const names = namesOf(version);
  console.log(`\nThe artefacts are in ${folder}. To verify them: cd ${folder} && sha256sum -c SHA256SUMS`);
  if (isDryRun) {
    console.log("Nothing was committed or tagged, because of --dry-run. Artefacts of another commit differ.");
    return;
  }
  const missing = findMissingFields(copy.folder);
  console.log(`
Nothing was pushed or published. These commands do:
  git push origin main v${version}    # .github/workflows/release.yml builds the same artefacts and publishes them
By hand:
  docker build -f deploy/Dockerfile -t gateway:${version} --build-arg VERSION=${version} \\
    --build-arg REVISION=${copy.commit} - < ${folder}/${names.image}
  helm push ${folder}/${names.chart} oci://<registry>
  npm publish ./${folder}/${names.npm} --access public`);
  if (missing.length > 0)
    console.log(
      `The npm package has no publisher yet. A release with these options sets it: ${missing.join(" ")}`,
    );
}

async function main(): Promise<void> {
  const options = readOptions(process.argv.slice(2));
  const { version } = options;
  if (Bun.version !== packageJson.dependencies.bun)
    throw new Refusal(`This is Bun ${Bun.version}, and not the one of package.json: run npm ci first.`);
  const start = await findStart(ROOT, version);
  if (start.state !== "new") console.log(`${version} is committed already: ${start.head.slice(0, 12)}.`);
  const work = await mkdtemp(join(tmpdir(), "gateway-release-"));
  try {
    const copy = await prepareCopy(join(work, "copy"), start, options);
    await installAndCheck(copy, start, options);
    const place = await placeArtefacts(await buildTwice(work, copy, options), version);
    if (!options.isDryRun && start.state !== "tagged") {
      const notes = readNotes(copy.folder, version);
      await adoptRelease(ROOT, { copy: copy.folder, commit: copy.commit, head: start.head, version, notes });
      console.log(`Committed "release: ${version}" and tagged it v${version}.`);
    }
    printNext(place, copy, options);
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

try {
  await main();
} catch (error) {
  console.error(error instanceof Refusal ? error.message : String(error));
  process.exitCode = 1;
}
