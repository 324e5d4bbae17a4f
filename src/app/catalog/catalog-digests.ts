import { readdirSync, readFileSync } from "node:fs";
import { basename, join } from "node:path";
import { sha256 } from "../../base/secrets/hash.ts";

/** A part of a catalog directory: the file of providers, the file of families, or all files of models. */
export type CatalogPart = "providers.json" | "profiles.json" | "models";

/** The file with the digest of each part that has been validated. `npm run generate` writes it. */
export const DIGESTS_FILE = "digests.json";

/** A file of a catalog directory. */
export interface CatalogFile {
  readonly file: string;
  readonly text: string;
}

/** A part of a catalog directory, as read. */
export interface ReadPart {
  readonly files: readonly CatalogFile[];
  /** Whether the files are those that the project has validated (`digests.json`). */
  readonly isValidated: boolean;
}

/** Reads a part of a catalog directory. */
export function readPart(directory: string, part: CatalogPart): ReadPart {
  const files = readFiles(directory, part);
  return { files, isValidated: readDigests(directory)[part] === digestOf(files) };
}

/** Returns the digests of a catalog directory, as `digests.json` must have them. */
export function digestCatalog(directory: string): Readonly<Record<CatalogPart, string>> {
  const digest = (part: CatalogPart) => digestOf(readFiles(directory, part));
  return {
    "providers.json": digest("providers.json"),
    "profiles.json": digest("profiles.json"),
    models: digest("models"),
  };
}

function readFiles(directory: string, part: CatalogPart): readonly CatalogFile[] {
  const path = join(directory, part);
  const files = part === "models" ? listJson(path) : [path];
  return files.map((file) => ({ file, text: readFileSync(file, "utf8") }));
}

function listJson(folder: string): readonly string[] {
  const names = readdirSync(folder).filter((name) => name.endsWith(".json"));
  return names.sort().map((name) => join(folder, name));
}

/** A catalog without digests is validated at each start. */
function readDigests(directory: string): Partial<Record<CatalogPart, unknown>> {
  try {
    return JSON.parse(readFileSync(join(directory, DIGESTS_FILE), "utf8")) ?? {};
  } catch {
    return {};
  }
}

function digestOf(files: readonly CatalogFile[]): string {
  return sha256(files.map(({ file, text }) => `${basename(file)}:${text.length}:${text}`).join(""), "hex");
}
