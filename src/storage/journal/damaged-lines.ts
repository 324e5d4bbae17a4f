import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import type { DamagedLines } from "../../core/usage/journal/journal.ts";
import { PRIVATE_FILE } from "../files/private-files.ts";
import { checksum } from "./checksum.ts";

const SUFFIX = ".damaged";
const LINE_FEED = 10;
const NEWLINE = Buffer.of(LINE_FEED);
const GENERATION_ID = /\bgen_[0-9a-z]{26}\b/g;

/**
 * Writes the damaged lines of a journal file to a separate file. Its name depends on its content, so that a repeated start writes the
 * same file.
 */
export function keepDamagedLines(dir: string, source: string, lines: readonly Uint8Array[]): void {
  if (lines.length === 0) return;
  const content = Buffer.concat(lines.flatMap((line) => [line, NEWLINE]));
  const file = join(dir, `${basename(source, ".log")}-${checksum(content)}${SUFFIX}`);
  writeFileSync(file, content, { flush: true, mode: PRIVATE_FILE });
}

/** Lists the files of damaged lines in a journal's directory. */
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
    // The directory does not exist before the first start.
    return [];
  }
}
