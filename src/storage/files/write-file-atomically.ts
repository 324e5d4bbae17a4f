import { renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { makePrivateFolder, PRIVATE_FILE } from "./private-files.ts";

/** Replaces a file so that readers, even after a crash, see either the old or the new text, never a part. Creates missing folders. */
export function writeFileAtomically(file: string, text: string): void {
  makePrivateFolder(dirname(file));
  const fresh = `${file}.${process.pid}.tmp`;
  try {
    writeFileSync(fresh, text, { flush: true, mode: PRIVATE_FILE });
    renameSync(fresh, file);
  } finally {
    rmSync(fresh, { force: true });
  }
}
