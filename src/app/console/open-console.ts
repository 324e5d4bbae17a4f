import { chmod, mkdtemp, readdir, rename, rm } from "node:fs/promises";
import { join } from "node:path";
import type { ConsoleBuild, ConsoleFile, ConsoleSource } from "../../http/context/console-source.ts";
import { PRIVATE_FILE, PRIVATE_FOLDER } from "../../storage/files/private-files.ts";
import { hashConsoleSources } from "./console-sources.ts";

/** The time limit of a build, which usually takes less than a second. Milliseconds. */
const BUILD_MS = 60_000;
/** The maximum number of characters of a build's error output that are reported. */
const MAX_DETAIL = 2_000;

const BUILD_SCRIPT = join(import.meta.dir, "build-console.ts");
const CONTENT_TYPES: Readonly<Record<string, string>> = {
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
  svg: "image/svg+xml",
};

/** Where the console's files come from and are stored. */
interface ConsoleOptions {
  readonly dataDir: string;
  /** A folder with a build of the console, for installations without its sources; null builds from the sources. */
  readonly builtDir: string | null;
}

/** Opens the source of the console's files. Nothing is read or built before the first `load`. */
export function openConsole({ dataDir, builtDir }: ConsoleOptions): ConsoleSource {
  let loading: Promise<ConsoleBuild> | null = null;
  const load = builtDir === null ? () => loadFromSources(dataDir) : () => loadBuilt(builtDir);
  return {
    load() {
      loading ??= load().catch((error) => {
        loading = null;
        throw error;
      });
      return loading;
    },
  };
}

async function loadFromSources(dataDir: string): Promise<ConsoleBuild> {
  const hash = await hashConsoleSources();
  const folder = join(dataDir, `console-${hash}`);
  const files = (await listFiles(folder)) ?? (await buildInto(folder, dataDir));
  return { hash, files };
}

async function loadBuilt(folder: string): Promise<ConsoleBuild> {
  const files = await listFiles(folder);
  if (files === null) throw new Error(`${folder} has no main.js: it is not a build of the console`);
  const hasher = new Bun.CryptoHasher("sha256");
  for (const [name, { path }] of files) hasher.update(name).update(await Bun.file(path).bytes());
  return { hash: hasher.digest("hex").slice(0, 16), files };
}

/** Lists the files of a build by name; null if the folder has none. */
async function listFiles(folder: string): Promise<ReadonlyMap<string, ConsoleFile> | null> {
  const names = await readdir(folder).catch((): string[] => []);
  const files = names.sort().flatMap((name): [string, ConsoleFile][] => {
    const contentType = CONTENT_TYPES[name.split(".").at(-1) as string];
    return contentType === undefined ? [] : [[name, { path: join(folder, name), contentType }]];
  });
  return names.includes("main.js") ? new Map(files) : null;
}

/** Builds next to the folder and then renames, so that a folder with its final name is always complete. Removes builds of other sources. */
async function buildInto(folder: string, dataDir: string): Promise<ReadonlyMap<string, ConsoleFile>> {
  for (const name of await readdir(dataDir))
    if (name.startsWith("console-")) await rm(join(dataDir, name), { recursive: true, force: true });
  const draft = await mkdtemp(join(dataDir, "console-draft-"));
  try {
    await runBuild(draft);
    await makePrivate(draft);
    await rename(draft, folder);
  } catch (error) {
    await rm(draft, { recursive: true, force: true });
    throw error;
  }
  const files = await listFiles(folder);
  if (files === null) throw new Error("the build of the console has written no main.js");
  return files;
}

/** The build's own process creates files that all users may read, depending on the umask. */
async function makePrivate(folder: string): Promise<void> {
  await chmod(folder, PRIVATE_FOLDER);
  for (const name of await readdir(folder)) await chmod(join(folder, name), PRIVATE_FILE);
}

/** Runs the build in a process of its own, which does not get the gateway's environment. */
async function runBuild(folder: string): Promise<void> {
  const child = Bun.spawn([process.execPath, BUILD_SCRIPT, folder], {
    env: { PATH: process.env["PATH"] ?? "" },
    stdin: "ignore",
    stdout: "ignore",
    stderr: "pipe",
    timeout: BUILD_MS,
  });
  const [detail, code] = await Promise.all([new Response(child.stderr).text(), child.exited]);
  if (code === 0) return;
  const reason = child.signalCode === null ? `status ${code}` : `signal ${child.signalCode}`;
  throw new Error(`the build ended with ${reason}: ${detail.slice(0, MAX_DETAIL)}`);
}
