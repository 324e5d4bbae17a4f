import { expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

const FOLDER = join(import.meta.dir, "../../../src/console/styles");

/** Returns the classes that a style sheet styles by themselves, outside of conditions. */
function listClasses(file: string): readonly string[] {
  const source = readFileSync(join(FOLDER, file), "utf8");
  const selectors = [...source.matchAll(/^([^\s@}/][^{}]*)\{/gm)].flatMap(([, list = ""]) => list.split(","));
  return selectors.flatMap((selector) => /^\.[\w-]+$/.exec(selector.trim())?.[0] ?? []);
}

test("each class has its style in one file only, so that two screens cannot mean different things by it", () => {
  const files = new Map<string, Set<string>>();
  for (const file of readdirSync(FOLDER))
    for (const name of listClasses(file)) files.set(name, (files.get(name) ?? new Set()).add(file));
  const repeated = [...files].filter(([, { size }]) => size > 1);
  expect(files.size).toBeGreaterThan(200);
  expect(repeated.map(([name, where]) => `${name}: ${[...where].join(", ")}`)).toEqual([]);
});
