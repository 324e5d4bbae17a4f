import { describe, expect, test } from "bun:test";
import { loadShippedCatalog } from "../../src/app/load-catalog.ts";
import { createCatalog } from "../../src/core/catalog/catalog.ts";

const catalog = createCatalog(loadShippedCatalog());

describe("find", () => {
  for (const id of ["openai/gpt-4o", "OpenAI/GPT-4o"]) {
    test(id, () => expect(catalog.find(id)?.id).toBe("openai/gpt-4o"));
  }
  for (const id of ["gpt-4o", "openai/gpt-4o ", "openai/gpt-nine", "", "__proto__", "constructor"]) {
    test(`nothing for ${JSON.stringify(id)}`, () => expect(catalog.find(id)).toBeUndefined());
  }
});

describe("suggest", () => {
  for (const [typed, first] of [
    ["gpt-4o", "openai/gpt-4o"],
    ["openai/gpt4o-mini", "openai/gpt-4o-mini"],
    ["anthropic/claude-sonnet-4-5", "anthropic/claude-sonnet-4.5"],
    ["claude-sonnet-4.5", "anthropic/claude-sonnet-4.5"],
    ["google/gemini-2.5-por", "google/gemini-2.5-pro"],
    ["mistral/codestral-latest", "mistralai/codestral-latest"],
  ] as const) {
    test(`${typed} meant ${first}`, () => expect(catalog.suggest(typed, 3)[0]).toBe(first));
  }

  test("keeps to its limit and has nothing for nonsense", () => {
    expect(catalog.suggest("gpt", 2).length).toBeLessThanOrEqual(2);
    expect(catalog.suggest("zzzz-xxxx", 3)).toEqual([]);
    expect(catalog.suggest("", 3)).toEqual([]);
    expect(catalog.suggest("x".repeat(1_000_000), 3)).toEqual([]);
  });
});

test("provider finds by slug", () => {
  expect(catalog.provider("mistral")?.toolCallIds).toBe("mistral");
  expect(catalog.provider("nobody")).toBeUndefined();
});
