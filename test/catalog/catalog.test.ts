import { describe, expect, test } from "bun:test";
import { loadShippedCatalog } from "../../src/app/catalog/load-catalog.ts";
import { createCatalog } from "../../src/core/catalog/served/catalog.ts";

const catalog = createCatalog(loadShippedCatalog());

describe("a catalog", () => {
  for (const id of ["openai/gpt-4o", "OpenAI/GPT-4o"]) {
    test(`finds openai/gpt-4o as ${id}`, () => expect(catalog.find(id)?.id).toBe("openai/gpt-4o"));
  }
  for (const id of ["gpt-4o", "openai/gpt-4o ", "openai/gpt-nine", "", "__proto__", "constructor"]) {
    test(`finds nothing as ${JSON.stringify(id)}`, () => expect(catalog.find(id)).toBeUndefined());
  }
});

describe("the suggestions of a catalog", () => {
  for (const [typed, first] of [
    ["gpt-4o", "openai/gpt-4o"],
    ["openai/gpt4o-mini", "openai/gpt-4o-mini"],
    ["anthropic/claude-sonnet-4-5", "anthropic/claude-sonnet-4.5"],
    ["claude-sonnet-4.5", "anthropic/claude-sonnet-4.5"],
    ["google/gemini-2.5-por", "google/gemini-2.5-pro"],
    ["mistral/codestral-latest", "mistralai/codestral-latest"],
  ] as const) {
    test(`begin with ${first} for ${typed}`, () => expect(catalog.suggest(typed, 3)[0]).toBe(first));
  }

  test("are at most as many as asked for, and none for a name that resembles no model", () => {
    expect(catalog.suggest("gpt", 2).length).toBeLessThanOrEqual(2);
    expect(catalog.suggest("zzzz-xxxx", 3)).toEqual([]);
    expect(catalog.suggest("", 3)).toEqual([]);
    expect(catalog.suggest("x".repeat(1_000_000), 3)).toEqual([]);
  });
});

test("a catalog finds a provider by its slug", () => {
  expect(catalog.provider("mistral")?.toolCallIds).toBe("mistral");
  expect(catalog.provider("unknown")).toBeUndefined();
});
