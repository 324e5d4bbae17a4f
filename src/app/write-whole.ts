import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";

/** Writes a file so that a reader sees the old one or the new one, never a part, also after a crash. */
export function writeWhole(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true });
  const fresh = `${file}.${process.pid}.tmp`;
  try {
    writeFileSync(fresh, text, { flush: true });
    renameSync(fresh, file);
  } finally {
    rmSync(fresh, { force: true });
  }
}
