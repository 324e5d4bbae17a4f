/** Builds everything that a release consists of from a copy of the project. */
import { existsSync, readFileSync } from "node:fs";
import { mkdir, readdir, rename } from "node:fs/promises";
import { dirname, join } from "node:path";
import { OWN_TARGET, type Target } from "../build/build-executable.ts";
import { writeArchive } from "./archive.ts";
import { collectLicences } from "./licences.ts";
import { git, readNotes } from "./repository.ts";
import { runCommand } from "./run-command.ts";
import { makeSbom } from "./sbom.ts";

/** What is built. */
interface BuildRequest {
  /** A copy of the project at the commit of the release, with its run-time packages installed. */
  readonly project: string;
  /** The folder for the artefacts, which is empty or missing. */
  readonly output: string;
  readonly version: string;
  readonly targets: readonly Target[];
  /** The time of the commit, in seconds since 1970. It is the time of every file. */
  readonly time: number;
}

/** The name of the list of checksums of all other artefacts, as `sha256sum` reads it. */
const CHECKSUMS = "SHA256SUMS";

/** Returns the names of the artefacts of a version, which are unique without their folder. */
export function namesOf(version: string) {
  return {
    npm: `gateway-npm-${version}.tgz`,
    executable: (target: Target) => `gateway-${version}-${target}`,
    image: `gateway-image-${version}.tar.gz`,
    // The name that `helm package` gives it.
    chart: `gateway-${version}.tgz`,
    sbom: `gateway-${version}.cdx.json`,
    licences: "LICENSES.txt",
    notes: "RELEASE_NOTES.md",
  };
}

/**
 * Builds all artefacts of a version.
 * @throws Error if one of them cannot be built, such as an executable whose Bun cannot be fetched.
 */
export async function buildArtefacts(request: BuildRequest): Promise<void> {
  const { project, output, version, time } = request;
  const names = namesOf(version);
  const write = (name: string, text: string) => Bun.write(join(output, name), text);
  await mkdir(output, { recursive: true });
  await buildPackage(request, names.npm);
  for (const target of request.targets) await buildExecutable(request, target, names.executable(target));
  const tracked = await listTracked(project);
  await packImageContext(request, tracked, names.image);
  await packChart(request, tracked, names.chart);
  await write(names.sbom, await makeSbom(project, time));
  await write(names.licences, collectLicences(project));
  await write(names.notes, describeRelease(project, version));
  await write(CHECKSUMS, await sumFiles(output));
}

async function buildPackage({ project, output, time }: BuildRequest, name: string): Promise<void> {
  const place = join(output, "npm-pack");
  await mkdir(place);
  const pack = ["npm", "pack", "--silent", "--pack-destination", place];
  await runCommand(pack, { cwd: project, environment: { SOURCE_DATE_EPOCH: `${time}` } });
  const [packed = ""] = await readdir(place);
  await rename(join(place, packed), join(output, name));
  await runCommand(["rmdir", place], { cwd: output });
}

/** Builds with the Bun of the copy. That of another platform comes from npm, in the same version. */
async function buildExecutable(
  { project, output, time }: BuildRequest,
  target: Target,
  name: string,
): Promise<void> {
  const command = [
    join(project, "node_modules/.bin/bun"),
    join(project, "scripts/build/build-executable.ts"),
    `--target=${target}`,
    `--outfile=${join(output, name)}`,
  ];
  try {
    await runCommand(command, { cwd: project, environment: { SOURCE_DATE_EPOCH: `${time}` } });
  } catch (error) {
    if (target === OWN_TARGET) throw error;
    throw new Error(`The executable for ${target} was not built; --targets=… leaves it out.\n${error}`);
  }
}

async function listTracked(project: string): Promise<readonly string[]> {
  return (await git(project, "ls-files", "-z")).split("\0").filter((name) => name !== "");
}

/** Packs what `.dockerignore` lets into the context, and the Dockerfile. Only files that git knows: nothing else gets into an image. */
async function packImageContext(
  { project, output, time }: BuildRequest,
  tracked: readonly string[],
  name: string,
): Promise<void> {
  const lines = readFileSync(join(project, ".dockerignore"), "utf8").split("\n");
  const allowed = lines.filter((line) => line.startsWith("!")).map((line) => line.slice(1));
  const entries = [...allowed, "deploy/Dockerfile"];
  const files = tracked.filter((file) =>
    entries.some((entry) => file === entry || file.startsWith(`${entry}/`)),
  );
  await writeArchive(join(output, name), { folder: project, files, time });
}

/** Packs the chart as `helm package` does: its folder, without what `.helmignore` names. */
async function packChart(
  { project, output, time }: BuildRequest,
  tracked: readonly string[],
  name: string,
): Promise<void> {
  const chart = "deploy/helm/gateway";
  const ignored = readFileSync(join(project, chart, ".helmignore"), "utf8")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"));
  for (const line of ignored)
    if (!/^[\w-]+\/$/.test(line)) throw new Error(`.helmignore: ${line} is not the name of a folder`);
  const files = tracked
    .filter((file) => file.startsWith(`${chart}/`))
    .map((file) => file.slice(dirname(chart).length + 1))
    .filter((file) => !ignored.some((folder) => file.startsWith(`gateway/${folder}`)));
  await writeArchive(join(output, name), { folder: join(project, dirname(chart)), files, time });
}

/** Returns the notes of a version. Links to files of the project lead to its repository, if package.json names one. */
function describeRelease(project: string, version: string): string {
  const { repository } = JSON.parse(readFileSync(join(project, "package.json"), "utf8"));
  const base = typeof repository?.url === "string" ? webAddress(repository.url) : null;
  const notes = readNotes(project, version);
  const linked =
    base === null ? notes : notes.replace(/\]\((?!https?:)([^)\s]+)\)/g, `](${base}/blob/v${version}/$1)`);
  return `# gateway ${version}\n\n${linked}\n`;
}

function webAddress(repository: string): string {
  return repository.replace(/^git\+/, "").replace(/\.git$/, "");
}

/** Returns the lines of `sha256sum` for all files of a folder. */
async function sumFiles(folder: string): Promise<string> {
  const names = (await readdir(folder)).filter((name) => name !== CHECKSUMS).sort();
  const lines = await Promise.all(
    names.map(async (name) => `${await hashFile(join(folder, name))}  ${name}\n`),
  );
  return lines.join("");
}

async function hashFile(file: string): Promise<string> {
  if (!existsSync(file)) throw new Error(`${file} is missing`);
  const hasher = new Bun.CryptoHasher("sha256");
  for await (const chunk of Bun.file(file).stream()) hasher.update(chunk);
  return hasher.digest("hex");
}
