import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

const GOLDEN = join(import.meta.dir, "golden");
const WIDTH = 110;

/** A stored result: its path, and its expected text. */
export interface Golden {
  readonly path: string;
  readonly text: string;
}

/** Returns the golden file of a case. */
export function makeGolden(folder: string, name: string, value: unknown): Golden {
  const file = name
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "");
  return { path: join(GOLDEN, folder, `${file}.json`), text: `${print(value, "", 0)}\n` };
}

/** Returns the stored text; null if there is none. */
export function readGolden({ path }: Golden): string | null {
  return existsSync(path) ? readFileSync(path, "utf8") : null;
}

/** Prints JSON for readers: values that fit in one line are not broken. */
function print(value: unknown, indent: string, taken: number): string {
  const flat = printFlat(value);
  if (typeof value !== "object" || value === null || indent.length + taken + flat.length <= WIDTH)
    return flat;
  const inner = `${indent}  `;
  const lines = Array.isArray(value)
    ? value.map((item) => `${inner}${print(item, inner, 1)}`)
    : Object.entries(value).map(([key, item]) => {
        const head = `${JSON.stringify(key)}: `;
        return `${inner}${head}${print(item, inner, head.length + 1)}`;
      });
  const [open, close] = Array.isArray(value) ? ["[", "]"] : ["{", "}"];
  return `${open}\n${lines.join(",\n")}\n${indent}${close}`;
}

function printFlat(value: unknown): string {
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(printFlat).join(", ")}]`;
  const members = Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}: ${printFlat(item)}`);
  return members.length === 0 ? "{}" : `{ ${members.join(", ")} }`;
}
