import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { cpSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DIGESTS_FILE, digestCatalog } from "../../src/app/catalog/catalog-digests.ts";
import { loadProviders, loadShippedCatalog, validateCatalog } from "../../src/app/catalog/load-catalog.ts";
import { SHIPPED_CATALOG_DIRECTORY } from "../../src/app/catalog/shipped-files.ts";
import { makeTempFolder } from "../support/temp-folder.ts";

describe("the shipped catalog", () => {
  test("is valid, and the same as when it is loaded by its digests", () => {
    const validated = validateCatalog(SHIPPED_CATALOG_DIRECTORY);
    expect(loadShippedCatalog()).toEqual(validated);
    expect(loadProviders(SHIPPED_CATALOG_DIRECTORY)).toEqual([...validated.providers]);
  });

  test("has the digests of its files (after a change: npm run generate)", () => {
    const written: unknown = JSON.parse(readFileSync(join(SHIPPED_CATALOG_DIRECTORY, DIGESTS_FILE), "utf8"));
    expect(written).toEqual({ ...digestCatalog(SHIPPED_CATALOG_DIRECTORY) });
  });
});

describe("a catalog directory with digests", () => {
  let directory: string;

  beforeEach(() => {
    directory = makeTempFolder("gateway-catalog-");
    cpSync(SHIPPED_CATALOG_DIRECTORY, directory, { recursive: true });
  });
  afterEach(() => rmSync(directory, { recursive: true }));

  function edit(file: string, from: string, to: string): void {
    const path = join(directory, file);
    const text = readFileSync(path, "utf8");
    expect(text).toContain(from);
    writeFileSync(path, text.replace(from, to));
  }

  test("is validated if a file of the models has changed", () => {
    edit("models/openai.json", '"openai/gpt-4o"', '"openai/GPT-4o"');
    expect(() => loadShippedCatalog(directory)).toThrow(/openai\.json: \[\d+\].*\.id/);
  });

  test("is validated if a file of the models has another name", () => {
    renameSync(join(directory, "models", "openai.json"), join(directory, "models", "opena.json"));
    expect(() => loadShippedCatalog(directory)).toThrow("belongs in another file");
  });

  test("is validated if the providers have changed, because models name them", () => {
    edit("providers.json", '"slug": "groq"', '"slug": "grog"');
    expect(() => loadShippedCatalog(directory)).toThrow("no such provider in providers.json");
  });

  test("rejects invalid providers", () => {
    edit("providers.json", '"slug": "groq"', '"slug": "Groq"');
    expect(() => loadProviders(directory)).toThrow(/providers\.json: .*\.slug/);
  });

  test.each([
    ["are absent", null],
    ["cannot be parsed", "{"],
    ["are of another form", "null"],
  ])("loads the same if its digests %s", (_, text) => {
    const file = join(directory, DIGESTS_FILE);
    if (text === null) rmSync(file);
    else writeFileSync(file, text);
    expect(loadShippedCatalog(directory)).toEqual(loadShippedCatalog());
  });
});
