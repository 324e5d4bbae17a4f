import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { loadShippedCatalog } from "../../src/app/catalog/load-catalog.ts";
import { formatModels } from "../../src/core/catalog/records/format-catalog.ts";
import { isSoundModel } from "../../src/core/catalog/records/is-sound-model.ts";
import { modelSchema } from "../../src/core/catalog/records/model-schema.ts";
import type { ModelEndpoint, ModelRecord, PriceChange } from "../../src/core/catalog/records/records.ts";
import { diffCatalogs } from "../../src/core/catalog/refresh/diff-catalog.ts";
import {
  findModelProblems,
  parseModels,
  parseProviders,
} from "../../src/core/catalog/served/validate-catalog.ts";

const data = loadShippedCatalog();

/** A model with every optional member. */
const CHANGING: ModelRecord = {
  ...(data.models[0] as ModelRecord),
  endpoints: [
    {
      ...(data.models[0] as ModelRecord).endpoints[0]!,
      prices: { prompt: "1", completion: "1" },
      priceChanges: [
        { from: "2026-08-31", prices: { prompt: "2", completion: "1" } },
        {
          from: "2026-09-01",
          prices: { prompt: "3", completion: "1" },
          priceTiers: [{ minPromptTokens: 5, prompt: "4", completion: "1" }],
        },
      ],
    },
  ],
};

function isModelBySchema(value: unknown): boolean {
  return modelSchema.safeParse(value).success;
}

/** Values that are valid for some members and invalid for others. */
const anything = fc.oneof(
  fc.constantFrom(
    null,
    true,
    0,
    -1,
    1.5,
    1e300,
    "",
    "text",
    "embedding",
    "file",
    "0",
    "0.10",
    "1e-7",
    "-1",
    "2025-02-29",
    "2025-02-30",
    "gemini",
    "constructor",
  ),
  fc.constantFrom(
    [],
    {},
    [""],
    ["text"],
    [null],
    { prompt: "0" },
    { min: 0 },
    { prompt: "1", completion: "1" },
  ),
  fc.jsonValue({ maxDepth: 2 }),
);

/** Returns a copy of a model in which one value, chosen by the numbers of `walk`, is replaced or removed. */
function damage(model: ModelRecord, walk: readonly number[], value: unknown, extra: boolean): unknown {
  const copy = structuredClone(model) as unknown as Record<string, unknown>;
  let at: Record<string, unknown> = copy;
  for (const [depth, step] of walk.entries()) {
    const keys = Object.keys(at);
    const key = keys[step % Math.max(keys.length, 1)];
    if (key === undefined) break;
    const next = at[key];
    if (depth + 1 < walk.length && typeof next === "object" && next !== null) {
      at = next as Record<string, unknown>;
      continue;
    }
    if (extra) at[`${key}x`] = value;
    else if (value === undefined) delete at[key];
    else at[key] = value;
    break;
  }
  return JSON.parse(JSON.stringify(copy));
}

describe("the fast check of models", () => {
  test("accepts every shipped model, like the schema", () => {
    for (const model of [...data.models, CHANGING])
      expect([model.id, isSoundModel(model), isModelBySchema(model)]).toEqual([model.id, true, true]);
  });

  test("accepts a damaged model if and only if the schema does", () => {
    const walk = fc.array(fc.nat(40), { minLength: 1, maxLength: 5 });
    const value = fc.option(anything, { nil: undefined });
    fc.assert(
      fc.property(
        fc.oneof({ weight: 4, arbitrary: fc.constantFrom(...data.models) }, fc.constant(CHANGING)),
        walk,
        value,
        fc.boolean(),
        (model, steps, replacement, extra) => {
          const damaged = damage(model, steps, replacement, extra);
          expect(isSoundModel(damaged)).toBe(isModelBySchema(damaged));
        },
      ),
      { numRuns: 3000 },
    );
  });
});

test("a model with embeddings as output must have no other output", () => {
  const [model] = data.models;
  for (const [outputModalities, isSound] of [
    [["embedding"], true],
    [["embedding", "text"], false],
    [["text", "embedding"], false],
    [[], false],
  ] as const) {
    const changed = JSON.parse(JSON.stringify({ ...model, outputModalities }));
    expect([isSoundModel(changed), isModelBySchema(changed)]).toEqual([isSound, isSound]);
  }
});

describe("the check of a catalog file reports the position of", () => {
  const [model] = data.models;
  for (const [what, change, place] of [
    ["an id without author", { id: "name" }, "[0] (name).id: not of the form author/name"],
    ["an upper-case id", { id: "A/b" }, "[0] (A/b).id"],
    ["a model without endpoints", { endpoints: [] }, ".endpoints"],
    ["an unknown field", { color: "red" }, "Unrecognized key"],
    ["an unknown member of takes", { takes: { color: "red" } }, ".takes"],
    ["a habit of reasoning that is none", { takes: { reasoning: "seldom" } }, ".takes.reasoning"],
    ["a cache of no tokens", { takes: { cacheMinTokens: 0 } }, ".takes.cacheMinTokens"],
    ["an invalid day", { released: "2025-13-01" }, ".released"],
  ] as const) {
    test(what, () => {
      const { value, problems } = parseModels("models/x.json", JSON.stringify([{ ...model, ...change }]));
      expect(value).toBeNull();
      expect(problems.join("\n")).toStartWith("models/x.json: ");
      expect(problems.join("\n")).toContain(place);
    });
  }

  for (const [what, text, place] of [
    ["text that is not JSON", "{", "providers.json: not JSON"],
    ["a file without rows", "[]", "providers.json: the file"],
    [
      "a base URL that ends in a slash",
      JSON.stringify([{ ...data.providers[0], baseUrl: "https://a.example/" }]),
      "ends in a slash",
    ],
    [
      "a base URL that is not https",
      JSON.stringify([{ ...data.providers[0], baseUrl: "http://a.example" }]),
      ".baseUrl",
    ],
    [
      "a provider with neither base URL nor template",
      JSON.stringify([{ ...data.providers[0], baseUrl: null }]),
      "needs one of",
    ],
    ["a repeated row", JSON.stringify([data.providers[0], data.providers[0]]), "is listed twice"],
  ] as const) {
    test(what, () => expect(parseProviders("providers.json", text).problems.join("\n")).toContain(place));
  }
});

test("price tiers must be in ascending order and require prices", () => {
  const [model] = data.models as [ModelRecord];
  const tier = { minPromptTokens: 5, prompt: "0.1", completion: "0.1" };
  const endpoint = {
    provider: "openai",
    name: "m",
    contextLength: 1,
    maxOutputTokens: null,
    prices: { prompt: "0.1", completion: "0.1" },
  };
  const faults = (endpoints: ModelRecord["endpoints"]) =>
    findModelProblems([{ ...model, id: "a/b", endpoints }], data.providers);
  expect(faults([{ ...endpoint, priceTiers: [tier, { ...tier, minPromptTokens: 6 }] }])).toEqual([]);
  expect(faults([{ ...endpoint, priceTiers: [tier, tier] }])).toEqual([
    "a/b: openai m: price tiers are not in ascending order",
  ]);
  expect(faults([{ ...endpoint, prices: null, priceTiers: [tier] }])).toEqual([
    "a/b: openai m: price tiers without prices",
  ]);
});

test("price changes must be in ascending order, require prices, and pass the same checks as prices", () => {
  const [endpoint] = CHANGING.endpoints as [ModelEndpoint];
  const [first, second] = endpoint.priceChanges as [PriceChange, PriceChange];
  const faults = (change: Partial<ModelEndpoint>) =>
    findModelProblems([{ ...CHANGING, id: "a/b", endpoints: [{ ...endpoint, ...change }] }], data.providers);
  expect(faults({})).toEqual([]);
  expect(faults({ priceChanges: [second, first] }).join()).toContain(
    "price changes are not in ascending order",
  );
  expect(faults({ prices: null }).join()).toContain("price changes without prices");
  const free = { ...first, prices: { prompt: "0", completion: "0" } };
  expect(faults({ priceChanges: [free, second] }).join()).toContain(
    "from 2026-08-31: :free and a price of zero",
  );
  const tier = second.priceTiers![0]!;
  expect(faults({ priceChanges: [{ ...second, priceTiers: [tier, tier] }] }).join()).toContain(
    "tiers are not in ascending order",
  );
  const [change] = diffCatalogs([data.models[0] as ModelRecord], [CHANGING]).changed;
  expect(change?.changes.join("\n")).toContain("2026-09-01");
  const written = formatModels([CHANGING]);
  expect(parseModels("models/x.json", written).value?.[0]?.endpoints[0]?.priceChanges).toEqual([
    first,
    second,
  ]);
});
