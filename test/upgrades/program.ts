import { existsSync, readFileSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { AS_SHIPPED } from "../support/gateway/gateway-process.ts";
import { makeTempFolder } from "../support/temp-folder.ts";
import type { StoreKind } from "./installation.ts";
import type { EarlierVersion } from "./versions.ts";

/** A version of the gateway that can be started. */
export interface Program {
  readonly name: string;
  /** The command that operators run, without its subcommand. */
  readonly command: readonly string[];
  readonly stores: readonly StoreKind[];
  readonly hasBackup: boolean;
  /** Whether it works on a SQLite file of the version to which it is upgraded. */
  readonly sharesFile: boolean;
}

const ROOT = join(import.meta.dir, "../..");

/** This version, as it is installed. */
export const PRESENT: Program = {
  name: "this version",
  command: AS_SHIPPED,
  stores: ["sqlite", "postgres"],
  hasBackup: true,
  sharesFile: true,
};

/** Why a version cannot be tested. */
export interface MissingVersion {
  readonly name: string;
  readonly reason: string;
  /** Whether that is an error: CI checks out every commit. */
  readonly isFault: boolean;
}

/** Where the code of an earlier version comes from. */
export interface CodeSource {
  /** A folder of the git repository. */
  readonly repository: string;
  /** Whether a missing commit is an error. */
  readonly isCi: boolean;
}

const HERE: CodeSource = { repository: ROOT, isCi: process.env["CI"] === "true" };

/** Returns an earlier version with its code from the git repository, or why there is none. */
export function prepareProgram(version: EarlierVersion, source = HERE): Program | MissingVersion {
  const missing = findObstacle(version, source);
  if (missing !== null) return { name: version.name, ...missing };
  const folder = makeTempFolder("gateway-earlier-");
  run(["sh", "-c", `git archive '${version.ref}' | tar -x -C '${folder}'`], source.repository);
  installModules(folder);
  const { name, stores, hasBackup, sharesFile } = version;
  return { name, stores, hasBackup, sharesFile, command: [join(folder, "bin/gateway")] };
}

function findObstacle(
  { ref }: EarlierVersion,
  { repository, isCi }: CodeSource,
): Omit<MissingVersion, "name"> | null {
  if (!succeeds(["git", "-C", repository, "rev-parse", "--git-dir"]))
    return {
      reason: "its code is in the project's git repository, which is not here; clone it",
      isFault: false,
    };
  if (succeeds(["git", "-C", repository, "cat-file", "-e", `${ref}^{commit}`])) return null;
  return {
    reason: `the repository lacks its commit ${ref}; get it with: git fetch --unshallow --tags`,
    isFault: isCi,
  };
}

/** Links the modules of this version where they are those of the earlier one, and else installs its own. */
function installModules(folder: string): void {
  const ours = join(ROOT, "node_modules");
  if (hasModulesOf(join(folder, "package-lock.json"), ours)) symlinkSync(ours, join(folder, "node_modules"));
  else run(["npm", "ci", "--omit=dev", "--no-audit", "--no-fund"], folder);
}

interface LockedPackage {
  readonly version?: string;
  readonly dev?: boolean;
  readonly optional?: boolean;
}

/** Returns whether a folder has the packages of a lock file that run the program, in the same versions. */
function hasModulesOf(lockFile: string, modules: string): boolean {
  const { packages } = JSON.parse(readFileSync(lockFile, "utf8")) as {
    readonly packages: Readonly<Record<string, LockedPackage>>;
  };
  return Object.entries(packages).every(([path, { version, dev = false, optional = false }]) => {
    if (path === "" || dev) return true;
    const file = join(modules, path.replace("node_modules/", ""), "package.json");
    if (!existsSync(file)) return optional;
    return (JSON.parse(readFileSync(file, "utf8")) as { version: string }).version === version;
  });
}

function succeeds(command: readonly string[]): boolean {
  return Bun.spawnSync([...command], { stdout: "ignore", stderr: "ignore" }).success;
}

function run(command: readonly string[], cwd: string): void {
  const { success, stderr } = Bun.spawnSync([...command], { cwd, stdout: "ignore", stderr: "pipe" });
  if (!success) throw new Error(`${command.join(" ")} failed: ${stderr.toString()}`);
}
