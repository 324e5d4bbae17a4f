import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import type { DamagedLines } from "../../core/usage/journal.ts";
import { PRIVATE_FILE } from "../files/private-files.ts";
import { checksum } from "./checksum.ts";

const SUFFIX = ".damaged";
const LINE_FEED = 10;
const NEWLINE = Buffer.of(LINE_FEED);
const GENERATION_ID = /\bgen_[0-9a-z]{26}\b/g;

/**
 * Keeps damaged lines of a journal file in a file of their own beside it. The same lines have the same file, so that a start
 * which dies behind this and comes again does not keep them twice.
 */
export function keepDamagedLines(dir: string, source: string, lines: readonly Uint8Array[]): void {
  if (lines.length === 0) return;
  const content = Buffer.concat(lines.flatMap((line) => [line, NEWLINE]));
  const file = join(dir, `${basename(source, ".log")}-${checksum(content)}${SUFFIX}`);
  writeFileSync(file, content, { flush: true, mode: PRIVATE_FILE });
}

/** Lists the damaged lines that are kept in a journal's folder, for as long as their files are there. */
export function listDamagedLines(dir: string): readonly DamagedLines[] {
  return listNames(dir).map((name) => {
    const file = join(dir, name);
    const text = readFileSync(file, "latin1");
    return { file, lines: text.split("\n").length - 1, generations: [...new Set(text.match(GENERATION_ID))] };
  });
}

function listNames(dir: string): string[] {
  try {
    return readdirSync(dir)
      .filter((name) => name.endsWith(SUFFIX))
      .sort();
  } catch {
    // No gateway has run there yet.
    return [];
  }
}
