import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { Glob } from "bun";
import { text } from "../../../src/console/text/text.ts";

const ROOT = join(import.meta.dir, "../../../src/console");

/** The sources of the console without its texts, by path. */
const SOURCES = await Promise.all(
  [...new Glob("**/*.{ts,tsx}").scanSync(ROOT)]
    .filter((path) => !path.startsWith("text/") && path !== "api/schema.ts")
    .map(async (path) => ({ path, source: await Bun.file(join(ROOT, path)).text() })),
);

/** Words between tags: before a closing tag, or on a line of their own. */
const CHILDREN = [
  /[>}]([^<>{}=;()]*[A-Za-z]{2,}[^<>{}=;()]*)<\//g,
  /^\s*([A-Z][a-z]+(?: [\w',]+)+[.!?:]?)$/gm,
];
const ATTRIBUTES = /\s(?:label|title|placeholder|hint|alt|aria-label)="([^"]*[A-Za-z]{2}[^"]*)"/g;

function findLiterals(source: string): string[] {
  const code = source.replace(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, "");
  return [...CHILDREN, ATTRIBUTES].flatMap((pattern) =>
    [...code.matchAll(pattern)].map((match) => (match[1] ?? "").trim()),
  );
}

/** Whether a source uses a text by its path, or names it while it uses its group as a whole. */
function usesText(source: string, group: string, name: string): boolean {
  const alias = `text\\.${group}`;
  if (new RegExp(`${alias}\\s*\\.${name}\\b`).test(source)) return true;
  if (new RegExp(`${alias}\\[`).test(source)) return true;
  return new RegExp(`${alias}(?!\\.?\\w|\\[)`).test(source) && new RegExp(`\\b${name}\\b`).test(source);
}

describe("the texts of the console", () => {
  test("are all in src/console/text: no component contains English words", () => {
    const found = SOURCES.filter(({ path }) => path.endsWith(".tsx")).flatMap(({ path, source }) =>
      findLiterals(source).map((literal) => `${path}: ${literal}`),
    );
    expect(found).toEqual([]);
  });

  test("are found in components, as this test would", () => {
    expect(findLiterals("<p>Hello there</p>")).toEqual(["Hello there"]);
    expect(findLiterals("<p>\n  Hello {name}, you are late</p>")).toEqual([", you are late"]);
    expect(findLiterals("<p>\n  There is nothing here.\n  {x}\n</p>")).toContain("There is nothing here.");
    expect(findLiterals('<Field label="Name" id="name" />')).toEqual(["Name"]);
    expect(findLiterals("const few = a < b && c > d ? <b>{x}</b> : <i>·</i>;")).toEqual([]);
  });

  test("are all used", () => {
    const unused = Object.entries(text).flatMap(([group, texts]) =>
      Object.keys(texts)
        .filter((name) => !SOURCES.some(({ source }) => usesText(source, group, name)))
        .map((name) => `${group}.${name}`),
    );
    expect(unused).toEqual([]);
  });
});
