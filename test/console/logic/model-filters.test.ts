import { describe, expect, test } from "bun:test";
import type { CatalogModel } from "../../../src/console/api/schema.ts";
import { compareModels } from "../../../src/console/screens/models/compare-models.ts";
import {
  comparePath,
  filterModels,
  modelPath,
  nextSort,
  printFilters,
  readFilters,
  readIds,
} from "../../../src/console/screens/models/model-filters.ts";
import { formatPerMillion } from "../../../src/console/screens/models/model-format.ts";
import type { ModelDetails } from "../../../src/console/state/catalog/model-types.ts";

const BASE: CatalogModel = {
  id: "acme/base",
  name: "Base",
  author: "acme",
  released: "2026-01-01",
  context_length: 128_000,
  max_output_tokens: null,
  input_modalities: ["text"],
  output_modalities: ["text"],
  supported_parameters: [],
  pricing: { prompt: "0.000001", completion: "0.000002" },
  is_free: false,
  is_served: true,
  not_served_because: null,
  providers: ["acme"],
  served_by: ["acme"],
  tiers: [],
  expires: null,
};
const CHEAP: CatalogModel = {
  ...BASE,
  id: "acme/cheap",
  name: "Cheap",
  pricing: { prompt: "0.0000001", completion: "0.0000002" },
  supported_parameters: ["tools"],
};
const VISION: CatalogModel = {
  ...BASE,
  id: "other/vision",
  name: "A Vision",
  input_modalities: ["text", "image"],
  context_length: 1_000_000,
  supported_parameters: ["reasoning_effort"],
  is_served: false,
  not_served_because: "no_provider_key",
  providers: ["openai"],
};
const UNPRICED: CatalogModel = {
  ...BASE,
  id: "acme/unpriced",
  name: "Unpriced",
  pricing: null,
  released: null,
  is_served: false,
  not_served_because: "no_price",
};
const ALL = [BASE, CHEAP, VISION, UNPRICED];

const namesOf = (query: Readonly<Record<string, string>>): string[] =>
  filterModels(ALL, readFilters(query)).map(({ name }) => name);

test("models that can be called come first, and the newest of them at the top, before those without a date", () => {
  const model = (name: string, released: string | null, is_served: boolean): CatalogModel => ({
    ...BASE,
    id: `acme/${name}`,
    name,
    released,
    is_served,
  });
  const all = [
    model("old", "2024-12-31", true),
    model("undated", null, true),
    model("unserved", "2026-09-09", false),
    model("new", "2026-02-10", true),
  ];
  const names = (query: Readonly<Record<string, string>>) =>
    filterModels(all, readFilters(query)).map(({ name }) => name);
  expect(names({})).toEqual(["new", "old", "undated", "unserved"]);
  expect(names({ sort: "-released" })).toEqual(["unserved", "new", "old", "undated"]);
});

describe("filters of models", () => {
  test.each([
    [{}, ["Base", "Cheap", "A Vision", "Unpriced"]],
    [{ q: "acme CHEAP" }, ["Cheap"]],
    [{ q: "openai" }, ["A Vision"]],
    [{ in: "image" }, ["A Vision"]],
    [{ out: "image" }, []],
    [{ tools: "1" }, ["Cheap"]],
    [{ reasoning: "1" }, ["A Vision"]],
    [{ price: "0.5" }, ["Cheap"]],
    [{ context: "200000" }, ["A Vision"]],
    [{ served: "yes" }, ["Base", "Cheap"]],
    [{ served: "no" }, ["A Vision", "Unpriced"]],
    [{ provider: "openai" }, ["A Vision"]],
    [{ sort: "name" }, ["A Vision", "Base", "Cheap", "Unpriced"]],
    [{ sort: "-input" }, ["Base", "A Vision", "Cheap", "Unpriced"]],
    [{ sort: "input" }, ["Cheap", "Base", "A Vision", "Unpriced"]],
  ])("%j show %j, and models without a value come last", (query, names) => {
    expect(namesOf(query as Readonly<Record<string, string>>)).toEqual(names);
  });

  test("are the same after they were written to the address and read from it", () => {
    const query = {
      q: "gpt 5",
      in: "image",
      out: "text",
      tools: "1",
      reasoning: "1",
      price: "0.5",
      context: "128000",
      served: "no",
      provider: "openai",
      sort: "-context",
    };
    expect(printFilters(readFilters(query))).toEqual(query);
    expect(Object.values(printFilters(readFilters({})))).toEqual(Array(10).fill(null));
  });

  test("ignore values of the address that are not valid", () => {
    const query = { sort: "-nothing", price: "cheap", context: "-5", served: "maybe", tools: "yes" };
    expect(readFilters(query)).toEqual({ ...readFilters({}), isDescending: true });
  });

  test("order by a pressed column, and the other way round by the next press", () => {
    const filters = readFilters({});
    expect(nextSort(filters, "input")).toEqual({ sort: "input", isDescending: false });
    expect(nextSort(filters, "context")).toEqual({ sort: "context", isDescending: true });
    expect(nextSort({ ...filters, sort: "context", isDescending: true }, "context").isDescending).toBe(false);
  });
});

test("the address of a comparison keeps the ids in order, each once and at most four", () => {
  const ids = ["sandbox/echo:free", "a/b", "c/d", "e/f"];
  const query = Object.fromEntries(new URL(comparePath(ids), "http://x").searchParams);
  expect(readIds(query)).toEqual(ids);
  expect(readIds({ ids: "a/b,a/b,,c/d,e/f,g/h,i/j" })).toEqual(["a/b", "c/d", "e/f", "g/h"]);
  expect(modelPath("sandbox/echo:free")).toBe("/console/models/sandbox/echo%3Afree");
});

test.each([
  [0, "0.00"],
  [2.5, "2.50"],
  [0.25, "0.25"],
  [0.025, "0.025"],
  [0.125, "0.125"],
  [0.0976, "0.0976"],
  [0.1, "0.10"],
  [120, "120.00"],
  [4_000, "4,000"],
])("a price of %p dollars per million tokens is shown as %p", (dollars, text) => {
  expect(formatPerMillion(dollars)).toBe(text);
});

test("a comparison marks the best number of each row, and none where all are equal or unknown", () => {
  const details = (model: CatalogModel): ModelDetails => ({
    ...model,
    description: null,
    tokenizer: null,
    endpoints: [],
  });
  const rows = compareModels([details(BASE), details(CHEAP), details(UNPRICED)]).flatMap(({ rows }) => rows);
  const bestOf = (label: string) => [...(rows.find((row) => row.label === label)?.best ?? [])];
  expect(bestOf("Input")).toEqual([1]);
  expect(bestOf("Context window")).toEqual([]);
  expect(bestOf("Time to first token, median")).toEqual([]);
  expect(rows.find(({ label }) => label === "Input")?.values).toEqual(["$1.00", "$0.10", "–"]);
});
