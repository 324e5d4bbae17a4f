import { closeSync, openSync, readdirSync, renameSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { PRIVATE_FILE } from "../files/private-files.ts";

/** More than a busy gateway fills between two saves. */
const MAX_SPARES = 4;
/** Larger files, as of earlier versions, are removed. Bytes. */
const LARGEST_BYTES = 2 * 1024 * 1024;
const SPARE_NAME = /^spare-\d+$/;
const ZEROS = Buffer.alloc(64 * 1024);

/**
 * Files of released segments that become new segments, because writing over the pages of a file costs a quarter of writing to a new one,
 * zeros included. A spare file contains only zeros. So a segment made from it ends with bytes after its last line feed, like a segment that
 * was being written when its process died, and recovery drops them. Its old lines cannot be mistaken for new ones.
 */
export class SpareSegments {
  private readonly files: string[] = [];
  private count = 0;

  /** Removes what an earlier process left. */
  constructor(private readonly dir: string) {
    for (const name of readdirSync(dir)) if (SPARE_NAME.test(name)) rmSync(join(dir, name), { force: true });
  }

  /** Opens the file of a new segment, whose bytes from 0 on are written next. @throws Error if it cannot be opened. */
  open(file: string): number {
    const spare = this.files.pop();
    if (spare === undefined) return openSync(file, "w", PRIVATE_FILE);
    renameSync(spare, file);
    return openSync(file, "r+");
  }

  /**
   * Keeps the file of a released segment as a spare file, or removes it. `bytes`: the number of bytes that were written to it. It is
   * renamed before it is overwritten, so that recovery never reads a segment that is half zeros.
   */
  release(file: string, bytes: number): void {
    if (this.files.length < MAX_SPARES && bytes <= LARGEST_BYTES && this.take(file, bytes)) return;
    rmSync(file, { force: true });
  }

  /** Removes all spare files. */
  clear(): void {
    for (const spare of this.files.splice(0)) rmSync(spare, { force: true });
  }

  /** Returns false if the file is not spare, and may have its name still. */
  private take(file: string, bytes: number): boolean {
    const spare = join(this.dir, `spare-${this.count}`);
    try {
      renameSync(file, spare);
      this.count += 1;
      overwrite(spare, bytes);
    } catch {
      rmSync(spare, { force: true });
      return false;
    }
    this.files.push(spare);
    return true;
  }
}

function overwrite(file: string, bytes: number): void {
  const descriptor = openSync(file, "r+");
  try {
    for (let at = 0; at < bytes; )
      at += writeSync(descriptor, ZEROS, 0, Math.min(ZEROS.length, bytes - at), at);
  } finally {
    closeSync(descriptor);
  }
}
