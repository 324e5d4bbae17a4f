import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";

/** Lists the paths of a folder and its contents that other users may access: those with a mode other than 0700 and 0600. */
export function listOpenEntries(folder: string): string[] {
  const paths = [
    folder,
    ...readdirSync(folder, { recursive: true }).map((name) => join(folder, String(name))),
  ];
  return paths.filter((path) => {
    const stats = statSync(path);
    return (stats.mode & 0o777) !== (stats.isDirectory() ? 0o700 : 0o600);
  });
}
