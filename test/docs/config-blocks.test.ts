import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { parse } from "yaml";
import { loadShippedCatalog } from "../../src/app/catalog/load-catalog.ts";
import { checkConfig } from "../../src/app/config/load-config.ts";

const ROOT = join(import.meta.dir, "../..");
const PAGES = readdirSync(join(ROOT, "docs"), { recursive: true, encoding: "utf8" })
  .filter((file) => file.endsWith(".md"))
  .map((file) => `docs/${file}`)
  .sort();

/** A block of code of a page. */
interface Block {
  readonly at: string;
  readonly language: string;
  readonly text: string;
}

/** Fenced blocks, and indented ones, which have no language. */
const BLOCK =
  /^```(?<language>\w+)\n(?<fenced>[\s\S]*?)^```$|(?<=^\n)(?<indented>(?: {4}.*\n| *\n(?= {4}))+)/gm;

const blocks: readonly Block[] = PAGES.flatMap((page) => {
  const text = readFileSync(join(ROOT, page), "utf8");
  return [...text.matchAll(BLOCK)].map((found) => {
    const { language = "", fenced, indented = "" } = found.groups ?? {};
    return {
      at: `${page}:${text.slice(0, found.index).split("\n").length}`,
      language,
      text: fenced ?? indented.replaceAll(/^ {4}/gm, ""),
    };
  });
});
const inLanguage = (language: string) => blocks.filter((block) => block.language === language);

const KEYS = new Set(Object.keys(checkConfig("", "gateway.yaml", {})));

/** Whether a block is a part of gateway.yaml, and not of the configuration of another program. */
function isOfGateway({ text }: Block): boolean {
  const value = parseYaml(text);
  return typeof value === "object" && value !== null && Object.keys(value).some((key) => KEYS.has(key));
}

/** Returns null for a text in another language. */
function parseYaml(text: string): unknown {
  try {
    return parse(text);
  } catch {
    return null;
  }
}

/** Checks a block with a value for each variable without a default, and in place of the content of files. */
function check({ text }: Block): unknown {
  const yaml = text.replaceAll(/\$\{file:[^}]*\}/g, "secret");
  return checkConfig(yaml, "gateway.yaml", listVariables(yaml));
}

function listVariables(text: string): Record<string, string> {
  const names = [...text.matchAll(/\$\{([A-Z_]+)\}/g)].map(([, name]) => name as string);
  return Object.fromEntries(names.map((name) => [name, `https://${"x".repeat(40)}.example.com`]));
}

function findProblem(attempt: () => unknown): string | null {
  try {
    attempt();
    return null;
  } catch (error) {
    return (error as Error).message;
  }
}

const findProblems = (found: readonly Block[], attempt: (block: Block) => unknown) =>
  found.flatMap((block) => {
    const problem = findProblem(() => attempt(block));
    return problem === null ? [] : [`${block.at}: ${problem}`];
  });

describe("the blocks of configuration in the documents", () => {
  test("every block of gateway.yaml is accepted by the check of the configuration", () => {
    const own = [...inLanguage("yaml"), ...inLanguage("")].filter(isOfGateway);
    expect(own.length).toBeGreaterThan(20);
    expect(findProblems(own, check)).toEqual([]);
  });

  test("a block with a misspelled key would be found", () => {
    const block = { at: "here", language: "yaml", text: "providers:\n  azure: {api_key: x}\n" };
    expect(isOfGateway(block)).toBe(true);
    expect(findProblems([block], check).join()).toContain("api_keys");
  });

  test("every other block in YAML, JSON and TOML can be parsed", () => {
    const others = inLanguage("yaml").filter((block) => !isOfGateway(block));
    // Answers are shortened with an ellipsis outside of strings.
    const json = inLanguage("json").filter(({ text }) => !/…(?=[^"]*$)|[[{,]\s*…/.test(text));
    expect([others.length, json.length, inLanguage("toml").length].every((count) => count > 1)).toBe(true);
    expect([
      ...findProblems(others, ({ text }) => parse(text, { strict: true })),
      ...findProblems(json, ({ text }) => JSON.parse(text)),
      ...findProblems(inLanguage("toml"), ({ text }) => Bun.TOML.parse(text)),
    ]).toEqual([]);
  });

  test("the pages of clients and providers name only models of the catalog, and those that they configure", () => {
    const known = new Set(loadShippedCatalog().models.map(({ id }) => id));
    const unknown = PAGES.filter((page) => /^docs\/(clients|providers)\//.test(page)).flatMap((page) => {
      const text = readFileSync(join(ROOT, page), "utf8");
      const own = new Set([...text.matchAll(/\bid: ([\w./:-]+)/g)].map(([, id]) => id));
      const named = [
        ...text.matchAll(/(?<!@)\b((?:anthropic|openai|mistralai|google|qwen|ollama|ours)\/[\w.:-]*\w)/g),
      ];
      return named
        .map(([, id]) => id as string)
        .filter((id) => !known.has(id) && !own.has(id) && !/^openai\/v1$/.test(id))
        .map((id) => `${page}: ${id}`);
    });
    expect(unknown).toEqual([]);
  });
});
