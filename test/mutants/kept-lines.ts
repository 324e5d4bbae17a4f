import { appendFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { dirname } from "node:path";

/** Values that are kept between runs, one JSON line each. A run that is ended loses at most the value in progress. */
export interface KeptLines<Value> {
  readonly values: readonly Value[];
  add(value: Value): void;
}

/** Opens a file of kept values, which is created with the first of them. Of a last line that is not complete nothing is read. */
export function openKeptLines<Value>(path: string): KeptLines<Value> {
  const text = existsSync(path) ? readFileSync(path, "utf8") : "";
  const lines = text.slice(0, text.lastIndexOf("\n") + 1).split("\n");
  const values: Value[] = lines.filter((line) => line !== "").map((line) => JSON.parse(line));
  return {
    values,
    add(value) {
      mkdirSync(dirname(path), { recursive: true });
      appendFileSync(path, `${JSON.stringify(value)}\n`);
      values.push(value);
    },
  };
}

/** Returns a short text that differs for different contents of a file. */
export function hashText(text: string): string {
  return Bun.hash(text).toString(36);
}
