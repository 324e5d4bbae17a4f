import { describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { loadShippedCatalog } from "../../src/app/catalog/load-catalog.ts";
import { SHIPPED_CATALOG_DIRECTORY } from "../../src/app/catalog/shipped-files.ts";
import {
  formatModels,
  formatProviders,
  groupByAuthor,
} from "../../src/core/catalog/records/format-catalog.ts";
import { importModels } from "../../src/core/catalog/refresh/import-models-dev.ts";
import { shippedRules } from "./source-fixture.ts";

const data = loadShippedCatalog();
const models = new Map(data.models.map((model) => [model.id, model]));
const SOURCES = join(import.meta.dir, "..", "..", "..", "shared", "catalog");
const LIST = join(SOURCES, "models-dev.json");
const PRICE_MAP = join(SOURCES, "models-2026-11.json");
/** The day on which the catalog was imported. */
const IMPORTED = "2026-11-28";

/** Prices per million tokens that the vendors publish. */
const WELL_KNOWN: readonly (readonly [id: string, provider: string, prompt: string, completion: string])[] = [
  ["openai/gpt-4o", "openai", "2.5", "10"],
  ["openai/gpt-4o-mini", "openai", "0.15", "0.6"],
  ["openai/gpt-4.1", "openai", "2", "8"],
  ["openai/gpt-5", "openai", "1.25", "10"],
  ["openai/gpt-5-mini", "openai", "0.25", "2"],
  ["openai/gpt-5.1", "openai", "1.25", "10"],
  ["openai/o3", "openai", "2", "8"],
  ["openai/gpt-oss-120b", "groq", "0.15", "0.6"],
  ["anthropic/claude-haiku-4.5", "anthropic", "1", "5"],
  ["anthropic/claude-sonnet-4", "anthropic", "3", "15"],
  ["anthropic/claude-sonnet-4.5", "anthropic", "3", "15"],
  ["anthropic/claude-opus-4.1", "anthropic", "15", "75"],
  ["anthropic/claude-opus-4.5", "anthropic", "5", "25"],
  ["anthropic/claude-opus-5", "anthropic", "5", "25"],
  ["anthropic/claude-opus-5.5", "anthropic", "4", "20"],
  ["anthropic/claude-sonnet-5.5", "anthropic", "2", "10"],
  ["anthropic/claude-haiku-5.5", "anthropic", "0.1", "0.5"],
  ["anthropic/claude-fable-5.1", "anthropic", "10", "50"],
  ["openai/gpt-5.6", "openai", "4", "20"],
  ["openai/gpt-6-sol", "openai", "2", "10"],
  ["openai/gpt-6.1-sol", "openai", "2", "10"],
  ["deepseek/deepseek-flash", "deepseek", "0.3", "1.2"],
  ["deepseek/deepseek-v4-pro", "deepseek", "1.32", "3.96"],
  ["google/gemini-2.5-pro", "google", "1.25", "10"],
  ["google/gemini-2.5-flash", "google", "0.3", "2.5"],
  ["google/gemini-2.5-flash-lite", "google", "0.1", "0.4"],
  ["google/gemini-3-flash-preview", "google", "0.5", "3"],
  ["mistralai/mistral-large-2512", "mistral", "0.5", "1.5"],
  ["mistralai/codestral-latest", "mistral", "0.3", "0.9"],
  ["mistralai/codestral-2508", "mistral", "0.3", "0.9"],
  ["meta-llama/llama-3.3-70b-instruct", "groq", "0.59", "0.79"],
  ["moonshotai/kimi-k2-0905", "moonshotai", "0.6", "2.5"],
  ["z-ai/glm-4.6", "zai", "0.6", "2.2"],
  ["deepseek/deepseek-r1-0528", "deepinfra", "0.5", "2.15"],
  ["qwen/qwen3-coder", "alibaba", "1.5", "7.5"],
  ["cohere/command-a", "cohere", "2.5", "10"],
  ["perplexity/sonar-pro", "perplexity", "3", "15"],
  ["minimax/minimax-m2", "minimax", "0.3", "1.2"],
  ["openai/text-embedding-3-small", "openai", "0.02", "0"],
  ["openai/text-embedding-3-large", "azure", "0.143", "0"],
  ["openai/text-embedding-ada-002", "openai", "0.1", "0"],
  ["google/gemini-embedding-001", "google", "0.15", "0"],
  ["mistralai/mistral-embed", "mistral", "0.1", "0"],
  ["mistralai/codestral-embed", "mistral", "0.15", "0"],
  ["cohere/embed-v4.0", "cohere", "0.12", "0"],
  ["qwen/qwen3-embedding-8b", "nebius", "0.01", "0"],
];

describe("the shipped catalog", () => {
  test("loads and names its source", () => {
    expect(data.source).toContain("models.dev");
  });

  test("has at least 25 providers and 300 models with a price", () => {
    const priced = data.models.filter((model) =>
      model.endpoints.some((endpoint) => endpoint.prices !== null),
    );
    expect(data.providers.length).toBeGreaterThanOrEqual(25);
    expect(priced.length).toBeGreaterThanOrEqual(300);
  });

  test("has unique ids of the form author/name", () => {
    expect(models.size).toBe(data.models.length);
    for (const id of models.keys())
      expect(id).toMatch(/^[a-z0-9][a-z0-9._-]*\/[a-z0-9][a-z0-9._-]*(:[a-z0-9-]+)?$/);
  });

  test("has only endpoints of known providers, each name once, and no provider without an endpoint", () => {
    const slugs = new Set(data.providers.map((provider) => provider.slug));
    const used = new Set<string>();
    for (const model of data.models) {
      const names = model.endpoints.map((endpoint) => `${endpoint.provider} ${endpoint.name}`);
      expect(new Set(names).size).toBe(names.length);
      for (const endpoint of model.endpoints) used.add(endpoint.provider);
    }
    expect([...used].sort()).toEqual([...slugs].sort());
  });

  test("has no variable for a key that machines may have set for another purpose", () => {
    const keys = new Set(data.providers.flatMap((provider) => provider.env.apiKey));
    for (const hazard of [
      "GITHUB_TOKEN",
      "GH_TOKEN",
      "AWS_ACCESS_KEY_ID",
      "WANDB_API_KEY",
      "CLOUDFLARE_API_TOKEN",
      "DIGITALOCEAN_ACCESS_TOKEN",
    ]) {
      expect(keys.has(hazard)).toBe(false);
    }
  });

  test("has a separate variable for the base URL of each provider", () => {
    const variables = data.providers.map((provider) => provider.env.baseUrl);
    expect(new Set(variables).size).toBe(variables.length);
  });

  for (const [id, provider, prompt, completion] of WELL_KNOWN) {
    test(`has the price ${prompt} and ${completion} per million tokens for ${id} at ${provider}`, () => {
      const endpoint = models.get(id)?.endpoints.find((candidate) => candidate.provider === provider);
      expect(Number(endpoint?.prices?.prompt) * 1e6).toBeCloseTo(Number(prompt), 9);
      expect(Number(endpoint?.prices?.completion) * 1e6).toBeCloseTo(Number(completion), 9);
    });
  }

  test("is formatted as the formatter writes it", () => {
    for (const [file, text] of Object.entries(readShipped()))
      expect([file, text]).toEqual([file, formatShipped(file)]);
  });
});

const there = existsSync(LIST) && existsSync(PRICE_MAP);
if (!there)
  console.warn(`skipped: the comparison of the catalog with its sources, which are not at ${SOURCES}`);

test.skipIf(!there)("an import of the stored sources gives the shipped files", () => {
  const priceMap = { text: readFileSync(PRICE_MAP, "utf8"), today: IMPORTED };
  const imported = importModels({ list: readFileSync(LIST, "utf8"), priceMap }, shippedRules);
  if ("rejected" in imported) throw new Error(imported.rejected);
  const again = [...groupByAuthor(imported.models)].map(
    ([author, group]) => [`${author}.json`, formatModels(group)] as const,
  );
  const { "../providers.json": _, ...shipped } = readShipped();
  expect(Object.fromEntries(again)).toEqual(shipped);
});

function readShipped(): Record<string, string> {
  const files: Record<string, string> = {};
  const directory = join(SHIPPED_CATALOG_DIRECTORY, "models");
  for (const name of [...readdirSync(directory), "../providers.json"]) {
    files[name] = readFileSync(join(directory, name), "utf8");
  }
  return files;
}

function formatShipped(file: string): string {
  if (file === "../providers.json") return formatProviders(data.providers);
  return formatModels(data.models.filter((model) => `${model.id.split("/")[0]}.json` === file));
}
