import { lstatSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../machine/folders.ts";

/** The runtime itself: so large that nothing else would be seen next to it. */
const RUNTIME = /^node_modules\/(bun|@oven\/.*)$/;

/** Measures what an installation occupies: the packages that run, without the runtime, and the tarball of the program. Bytes. */
export function measureSize() {
  const lock = JSON.parse(readFileSync(join(ROOT, "package-lock.json"), "utf8")) as {
    readonly packages: Readonly<Record<string, { readonly dev?: boolean; readonly optional?: boolean }>>;
  };
  const packages = Object.entries(lock.packages)
    .filter(([path, { dev, optional }]) => path !== "" && !dev && !optional && !RUNTIME.test(path))
    .map(([path]) => join(ROOT, path));
  const packed = Bun.spawnSync(["npm", "pack", "--dry-run", "--json"], { cwd: ROOT, stderr: "ignore" });
  const [tarball] = JSON.parse(packed.stdout.toString()) as [{ readonly size: number }];
  return {
    "size.packages": packages.reduce((sum, path) => sum + sizeOf(path), 0),
    "size.tarball": tarball.size,
  };
}

/** Nested packages have lines of their own in the lock file. */
function sizeOf(folder: string): number {
  let bytes = 0;
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) bytes += entry.name === "node_modules" ? 0 : sizeOf(path);
    else bytes += lstatSync(path).size;
  }
  return bytes;
}
