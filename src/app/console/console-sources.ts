import { readdir } from "node:fs/promises";
import { join } from "node:path";

const ROOT = join(import.meta.dir, "../../..");

/** The folder with the sources of the console. */
export const CONSOLE_SOURCES = join(ROOT, "src/console");

/** Files outside the sources that affect a build: the build script, and the versions of the libraries. */
const OTHERS = [join(import.meta.dir, "build-console.ts"), join(ROOT, "package-lock.json")];

/**
 * Returns the hash of everything that a build of the console is made of, as 16 hexadecimal characters.
 * @throws Error if the sources cannot be read.
 */
export async function hashConsoleSources(): Promise<string> {
  const names = await readdir(CONSOLE_SOURCES, { recursive: true, withFileTypes: true });
  const files = names.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const hasher = new Bun.CryptoHasher("sha256");
  hasher.update(Bun.version);
  for (const file of [...files.sort(), ...OTHERS]) {
    const bytes = await Bun.file(file).bytes();
    hasher.update(`${file.slice(ROOT.length)}\n${bytes.length}\n`);
    hasher.update(bytes);
  }
  return hasher.digest("hex").slice(0, 16);
}
