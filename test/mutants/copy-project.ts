import { cp, mkdir, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import { makeTempFolder } from "../support/temp-folder.ts";

/** The project's folder. */
export const PROJECT = join(import.meta.dir, "..", "..");

/** Copies the project, with what is not yet committed, into a folder that ends with the process. Returns its path. */
export async function copyProject(): Promise<string> {
  const folder = await makeTempFolder("gateway-mutants-");
  const listed = Bun.spawnSync(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
    cwd: PROJECT,
  });
  for (const file of listed.stdout.toString().split("\0")) {
    if (file === "" || !(await Bun.file(join(PROJECT, file)).exists())) continue;
    await mkdir(dirname(join(folder, file)), { recursive: true });
    await cp(join(PROJECT, file), join(folder, file));
  }
  await symlink(join(PROJECT, "node_modules"), join(folder, "node_modules"));
  return folder;
}
