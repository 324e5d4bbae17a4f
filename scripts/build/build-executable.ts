/**
 * Builds the gateway as a single executable, with its catalog, its console and its documents inside:
 * `npm run build -- executable [--target=linux-arm64] [--outfile=PATH]`. Bun of another platform comes from npm.
 */
import { mkdir, mkdtemp, rename, rm } from "node:fs/promises";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";

const ROOT = join(import.meta.dir, "../..");
const DIST = join(ROOT, "dist");

/** The npm package with the Bun of each target that executables are built for. */
export const BUN_PACKAGES = {
  "linux-x64": "@oven/bun-linux-x64",
  "linux-x64-baseline": "@oven/bun-linux-x64-baseline",
  "linux-arm64": "@oven/bun-linux-aarch64",
  "darwin-x64": "@oven/bun-darwin-x64",
  "darwin-arm64": "@oven/bun-darwin-aarch64",
};

/** A platform that executables are built for. */
export type Target = keyof typeof BUN_PACKAGES;

/** The platform of this machine. */
export const OWN_TARGET = `${process.platform}-${process.arch}`;

const MAIN = "src/main.ts";
const THREADS = ["src/**/*-worker.ts"];

/** Files that the program reads, relative to the project. */
const FILES = ["catalog/*.json", "catalog/models/*.json", "dist/console/*", "docs/**/*.{md,svg,webp}"];

/**
 * Lists the programs in the executable, relative to the project: first the one that it starts with, then those of its threads. Their
 * names must differ, because all are in one folder of the executable.
 */
export async function listPrograms(): Promise<readonly string[]> {
  return [MAIN, ...(await findFiles(THREADS))];
}

async function findFiles(patterns: readonly string[]): Promise<readonly string[]> {
  const names = await Promise.all(patterns.map((one) => Array.fromAsync(new Bun.Glob(one).scan(ROOT))));
  return names.flat().sort();
}

interface Options {
  readonly target: Target;
  readonly outfile: string;
}

function readOptions(): Options {
  const { values } = parseArgs({ options: { target: { type: "string" }, outfile: { type: "string" } } });
  const { target = OWN_TARGET } = values;
  if (!isTarget(target))
    throw new Error(`--target ${target} is not one of ${Object.keys(BUN_PACKAGES).join(", ")}`);
  return { target, outfile: resolve(values.outfile ?? join(DIST, `gateway-${target}`)) };
}

/** Returns whether executables are built for a platform. */
export function isTarget(name: string): name is Target {
  return Object.hasOwn(BUN_PACKAGES, name);
}

/**
 * Completes the executable beside its place, because one that runs cannot be overwritten. It is always built under the same name, which
 * is in its bytes.
 */
async function build({ target, outfile }: Options, executablePath: string): Promise<void> {
  const folder = `${outfile}.draft`;
  const draft = join(folder, "gateway");
  const embedded = join(DIST, "embedded-files.ts");
  await mkdir(folder, { recursive: true });
  await Bun.write(embedded, await listImports());
  const programs = await listPrograms();
  try {
    await Bun.build({
      entrypoints: [...programs.map((file) => join(ROOT, file)), embedded],
      root: ROOT,
      target: "bun",
      tsconfig: join(ROOT, "tsconfig.program.json"),
      // Files keep their paths, under which the program reads them. Programs are found by name alone.
      naming: { entry: "[name].[ext]", asset: "[dir]/[name].[ext]" },
      // Names stay, because errors and stack traces show them.
      minify: { whitespace: true, syntax: true, identifiers: false },
      // Code that is parsed in advance starts in half the time. It runs only on the kind of system that has parsed it.
      bytecode: target === OWN_TARGET,
      format: "esm",
      // Files of the folder in which the executable is started must not change what it does.
      compile: {
        target: `bun-${target}`,
        executablePath,
        outfile: draft,
        autoloadDotenv: false,
        autoloadBunfig: false,
      },
    });
    await rename(draft, outfile);
  } finally {
    await rm(folder, { recursive: true, force: true });
    await rm(embedded, { force: true });
  }
}

/** Returns a program that imports all files as files, which is how the bundler embeds them. */
async function listImports(): Promise<string> {
  const files = await findFiles(FILES);
  const imports = files.map((name, index) => `import file${index} from "../${name}" with { type: "file" };`);
  return `${imports.join("\n")}\nexport default [${files.map((_, index) => `file${index}`)}];\n`;
}

/**
 * Gets the Bun of another platform, of the version that runs, by npm.
 * @throws Error if it is not the one of package-lock.json, which names those of most platforms.
 */
async function fetchBun(target: Target): Promise<string> {
  const file = join(DIST, `bun-${Bun.version}-${target}`);
  if (await Bun.file(file).exists()) return file;
  await mkdir(DIST, { recursive: true });
  const folder = await mkdtemp(join(DIST, "bun-"));
  try {
    await run([
      "npm",
      "pack",
      "--silent",
      "--pack-destination",
      folder,
      `${BUN_PACKAGES[target]}@${Bun.version}`,
    ]);
    const [archive = ""] = await Array.fromAsync(new Bun.Glob("*.tgz").scan({ cwd: folder, absolute: true }));
    await checkIntegrity(archive, BUN_PACKAGES[target]);
    await run(["tar", "-xzf", archive, "-C", folder, "package/bin/bun"]);
    await rename(join(folder, "package/bin/bun"), file);
  } finally {
    await rm(folder, { recursive: true });
  }
  return file;
}

async function checkIntegrity(archive: string, name: string): Promise<void> {
  const lock = await Bun.file(join(ROOT, "package-lock.json")).json();
  const wanted = lock.packages[`node_modules/${name}`]?.integrity as string | undefined;
  const hash = new Bun.CryptoHasher("sha512").update(await Bun.file(archive).bytes()).digest("base64");
  if (wanted !== undefined && wanted !== `sha512-${hash}`)
    throw new Error(`${name} is not the package that package-lock.json names`);
}

async function run(command: string[]): Promise<void> {
  const child = Bun.spawn(command, { stdin: "ignore", stdout: "ignore", stderr: "inherit" });
  const code = await child.exited;
  if (code !== 0) throw new Error(`${command.join(" ")} ended with status ${code}`);
}

/** Builds the executable that the arguments of the process name. */
export async function buildExecutable(): Promise<void> {
  const options = readOptions();
  const { target, outfile } = options;
  await rm(join(DIST, "console"), { recursive: true, force: true });
  await run([process.execPath, join(ROOT, "src/app/console/build-console.ts"), join(DIST, "console")]);
  await build(options, target === OWN_TARGET ? process.execPath : await fetchBun(target));
  console.log(`${outfile}  ${target}  ${Math.round(Bun.file(outfile).size / 1e6)} MB`);
}

if (import.meta.main) await buildExecutable();
