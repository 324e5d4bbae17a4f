import { describe, expect, test } from "bun:test";
import { ConfigError } from "../../src/app/config/config-error.ts";
import { parseYaml, YAML_BOUNDS } from "../../src/app/config/yaml-source.ts";
import { readModelsDev } from "../../src/core/catalog/refresh/source-models-dev.ts";

const repeat = (text: string, times: number) => text.repeat(times);
const lines = (times: number, line: (at: number) => string) =>
  Array.from({ length: times }, (_, at) => line(at)).join("\n");

/** Files that take the library minutes, or overflow its stack. */
const TOO_MUCH: readonly (readonly [string, string, string])[] = [
  ["100,000 brackets", `a: ${repeat("[", 100_000)}`, "more than 50000 values"],
  [
    "100,000 pairs of brackets",
    `a: ${repeat("[", 100_000)}${repeat("]", 100_000)}`,
    "more than 50000 values",
  ],
  ["100,000 braces", `a: ${repeat("{", 100_000)}`, "more than 50000 values"],
  ["200 levels of lists", `a: ${repeat("[", 200)}${repeat("]", 200)}`, "more than 64 levels of nesting"],
  ["100,000 lists in lists on one line", `a:\n  ${repeat("- ", 100_000)}x`, "more than 64 levels of nesting"],
  ["100,000 complex keys", repeat("? ", 100_000), "more than 64 levels of nesting"],
  [
    "1,000 levels of indentation",
    lines(1_000, (at) => `${repeat(" ", at)}a:`),
    "more than 64 levels of nesting",
  ],
  ["100,000 models", `models:\n${lines(100_000, (at) => `  - {id: a/m${at}}`)}`, "more than 50000 values"],
  ["100,000 keys", lines(100_000, (at) => `k${at}: 1`), "more than 50000 values"],
  ["2,000 aliases", `a: &a 1\nb:\n${lines(2_000, () => "  - *a")}`, "more than 1000 aliases"],
  [
    "aliases of aliases",
    `a: &a [x,x]\n${["b", "c", "d", "e", "f", "g", "h", "i"].map((name, at) => `${name}: &${name} [${repeat(`*${"abcdefgh"[at]},`, 9)}]`).join("\n")}`,
    "alias",
  ],
  ["five million characters", `a: "${repeat("x", 5_000_000)}"`, "more than 4194304 characters"],
];

describe("a configuration file", () => {
  test.each(TOO_MUCH)("with %s is rejected with a message that names the bound", (_name, text, message) => {
    let error: unknown = null;
    try {
      parseYaml(text, "gateway.yaml");
    } catch (thrown) {
      error = thrown;
    }
    expect(error).toBeInstanceOf(ConfigError);
    expect((error as Error).message).toContain(message);
    expect((error as Error).message).toMatch(/^gateway\.yaml:\d+:\d+/);
  });

  test("with as many levels and values as are allowed is read", () => {
    const deep = `${repeat("[", 60)}${repeat("]", 60)}`;
    expect(parseYaml(`a: ${deep}`, "f").value["a"]).toBeArray();
    const many = lines(10_000, (at) => `k${at}: "[,{["`);
    expect(Object.keys(parseYaml(many, "f").value)).toHaveLength(10_000);
  });

  test("with a key twice, or two documents, is rejected at its line", () => {
    expect(() => parseYaml("a: 1\nb:\n  c: 1\n  c: 2", "f")).toThrow("f:4:3: Map keys must be unique");
    expect(() => parseYaml("a: 1\n---\nb: 2", "f")).toThrow("multiple documents");
    expect(() => parseYaml("a: *b\nc: &b 1", "f")).toThrow("unknown alias *b");
  });
});

describe("a catalog source", () => {
  test.each([
    ["100,000 brackets", repeat("[", 100_000), "more than 256 levels of nesting"],
    ["100,000 levels of objects", `${repeat('{"a":', 100_000)}1${repeat("}", 100_000)}`, "levels of nesting"],
    ["too many models", `{"p":{"models":[${repeat('{"id":"x"},', 250_000)}{}]}}`, "more than 200000 objects"],
  ])("with %s is rejected with a reason", (_name, text, reason) => {
    expect(readModelsDev(text)).toEqual({ rejected: expect.stringContaining(reason) });
  });
});

test("the bounds of configuration files are those that their documentation names", () => {
  expect(YAML_BOUNDS).toEqual({ bytes: 4_194_304, values: 50_000, levels: 64, aliases: 1_000 });
});
