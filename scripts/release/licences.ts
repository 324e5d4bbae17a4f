/** Makes the text with the licences of all that a release contains besides the gateway. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { listRuntimePackages } from "./sbom.ts";

const BUN_TEXT = join(import.meta.dir, "bun-licence.md");
const RULE = "=".repeat(100);

/**
 * Returns the licences of all run-time packages of a project, whose packages are installed, and of Bun.
 * @throws Error for a package without a file with its licence.
 */
export function collectLicences(folder: string): string {
  const packages = [...listRuntimePackages(folder)].sort(([a], [b]) => (a < b ? -1 : 1));
  const sections = packages.map(([name, version]) => ({
    title: `${name} ${version}`,
    text: isBun(name) ? null : readLicence(folder, name),
  }));
  const own = sections.flatMap(({ title, text }) => (text === null ? [] : [`${title}\n\n${text}`]));
  const bun = sections.filter(({ text }) => text === null).map(({ title }) => title);
  const head =
    "The gateway is licensed under the Apache License 2.0 (LICENSE). It contains or installs the packages below.";
  const last = `${bun.join("\n")}\n\n${readFileSync(BUN_TEXT, "utf8").trim()}`;
  return `${[head, ...own, last].join(`\n\n${RULE}\n\n`)}\n`;
}

/** The packages of Bun contain no text of its licence. */
function isBun(name: string): boolean {
  return name === "bun" || name.startsWith("@oven/bun-");
}

function readLicence(folder: string, name: string): string {
  const place = join(folder, "node_modules", name);
  const files = existsSync(place) ? readdirSync(place) : [];
  const found = files.filter((file) => /^(licen[cs]e|notice|copying)([.-].*)?$/i.test(file)).sort();
  if (found.length === 0) throw new Error(`${name} has no file with its licence`);
  return found.map((file) => readFileSync(join(place, file), "utf8").trim()).join("\n\n");
}
