import { existsSync } from "node:fs";
import { join } from "node:path";

/** The folder of this program's files. A single executable has them in a file system of its own, which cannot be written. */
const PROGRAM_DIRECTORY = Bun.isStandaloneExecutable
  ? "/$bunfs/root"
  : join(import.meta.dir, "..", "..", "..");

/** The catalog that ships with the program. */
export const SHIPPED_CATALOG_DIRECTORY = join(PROGRAM_DIRECTORY, "catalog");

/** The documents that ship with the program and are served at `/docs`. */
export const SHIPPED_DOCUMENTS_DIRECTORY = join(PROGRAM_DIRECTORY, "docs");

/** A build of the console, in the npm package and the single executable. They do not have the console's sources. */
const SHIPPED_CONSOLE_DIRECTORY = join(PROGRAM_DIRECTORY, "dist", "console");

/** Returns the folder of the built console that ships with the program; null if it ships with the sources of the console. */
export function findShippedConsole(): string | null {
  const hasSources = existsSync(join(PROGRAM_DIRECTORY, "src", "console"));
  return hasSources ? null : SHIPPED_CONSOLE_DIRECTORY;
}
