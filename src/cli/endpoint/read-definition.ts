import { readFileSync } from "node:fs";
import { parse } from "yaml";
import { BOUNDS } from "../../base/numbers/bounds.ts";

/**
 * Reads the fields of a resource from a file in YAML or JSON.
 * @throws Error that names the file.
 */
export function readDefinition(file: string): Readonly<Record<string, unknown>> {
  const text = readFileSync(file, "utf8");
  if (text.length > BOUNDS.managementBodyBytes) throw new Error(`${file}: is too long for a request`);
  const written = parse(text) as unknown;
  if (typeof written !== "object" || written === null || Array.isArray(written))
    throw new Error(`${file}: must be a mapping with fields`);
  return written as Readonly<Record<string, unknown>>;
}
