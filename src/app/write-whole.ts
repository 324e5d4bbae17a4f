import { renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { makePrivateFolder, PRIVATE_FILE } from "../storage/files/private-files.ts";

/** Writes a file of the data directory so that a reader sees the old one or the new one, never a part, also after a crash. */
export function writeWhole(file: string, text: string): void {
  makePrivateFolder(dirname(file));
  const fresh = `${file}.${process.pid}.tmp`;
  try {
    writeFileSync(fresh, text, { flush: true, mode: PRIVATE_FILE });
    renameSync(fresh, file);
  } finally {
    rmSync(fresh, { force: true });
  }
}
