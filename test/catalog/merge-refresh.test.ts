import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { findPriceJumps } from "../../src/core/catalog/prices/price-jumps.ts";
import type { PriceTerms } from "../../src/core/catalog/prices/price-row.ts";
import { endMissing, findNextChange, missingSince } from "../../src/core/catalog/records/expiry.ts";
import type { ModelEndpoint, ModelRecord, Prices } from "../../src/core/catalog/records/records.ts";
import { mergeRefresh, type RefreshTerms } from "../../src/core/catalog/refresh/merge-refresh.ts";

const NOW = Date.parse("2026-07-03T12:00:00Z");
const TERMS: RefreshTerms = { factor: "2", now: NOW, waiting: [], rejected: [] };

function prices(prompt: string, completion = "8", more: Partial<Prices> = {}): Prices {
  return { prompt, completion, ...more };
}

function endpoint(provider: string, terms: PriceTerms = { prices: prices("4") }, name = "m"): ModelEndpoint {
  return { provider, name, contextLength: 1000, maxOutputTokens: null, ...terms };
}

function model(id: string, ...endpoints: ModelEndpoint[]): ModelRecord {
  return {
    id,
    name: id,
    description: null,
    released: null,
    inputModalities: ["text"],
    outputModalities: ["text"],
    tokenizer: null,
    supportedParameters: [],
    expires: null,
    endpoints,
  };
}

describe("the price changes beyond the factor", () => {
  const tier = (minPromptTokens: number, prompt: string) => ({ minPromptTokens, ...prices(prompt) });
  const change = (from: string, prompt: string) => ({ from, prices: prices(prompt) });
  const cases: [string, PriceTerms, PriceTerms, string[]][] = [
    [
      "do not include a change by exactly the factor",
      { prices: prices("4") },
      { prices: prices("8", "4") },
      [],
    ],
    [
      "include a rise by more than the factor",
      { prices: prices("4") },
      { prices: prices("8.1") },
      ["prompt 4 8.1"],
    ],
    [
      "include a fall by more than the factor",
      { prices: prices("4") },
      { prices: prices("1.9") },
      ["prompt 4 1.9"],
    ],
    ["include a price that becomes zero", { prices: prices("4") }, { prices: prices("0") }, ["prompt 4 0"]],
    [
      "include a price that was zero",
      { prices: prices("0") },
      { prices: prices("0.001") },
      ["prompt 0 0.001"],
    ],
    ["include a price that becomes unknown", { prices: prices("4") }, { prices: null }, ["prompt 4 null"]],
    ["do not include a price that was unknown", { prices: null }, { prices: prices("4") }, []],
    [
      "include each kind of price that changes",
      { prices: prices("4", "8", { audioIn: "4" }) },
      { prices: prices("4", "80", { audioIn: "9" }) },
      ["completion 8 80", "audioIn 4 9"],
    ],
    [
      "include a new price for a kind that had the prompt's price",
      { prices: prices("4") },
      { prices: prices("4", "8", { cacheRead: "1" }) },
      ["cacheRead 4 1"],
    ],
    [
      "do not include a removed price if the prompt's price is within the factor",
      { prices: prices("4", "8", { cacheRead: "3" }) },
      { prices: prices("4") },
      [],
    ],
    [
      "compare a new price of the one-hour cache with that of the five-minute cache",
      { prices: prices("4", "8", { cacheWrite: "5" }) },
      { prices: prices("4", "8", { cacheWrite: "5", cacheWrite1h: "11" }) },
      ["cacheWrite1h 5 11"],
    ],
    [
      "include a new charge per request",
      { prices: prices("4") },
      { prices: prices("4", "8", { request: "1" }) },
      ["request 0 1"],
    ],
    [
      "do not include a new tier within the factor",
      { prices: prices("4") },
      { prices: prices("4"), priceTiers: [tier(100, "8")] },
      [],
    ],
    [
      "include a new tier beyond the factor",
      { prices: prices("4") },
      { prices: prices("4"), priceTiers: [tier(100, "9")] },
      ["prompt 4 9 at 100"],
    ],
    [
      "include a removed tier",
      { prices: prices("4"), priceTiers: [tier(100, "9")] },
      { prices: prices("4") },
      ["prompt 9 4 at 100"],
    ],
    [
      "include a tier that begins at a smaller prompt",
      { prices: prices("4"), priceTiers: [tier(100, "9")] },
      { prices: prices("4"), priceTiers: [tier(50, "9")] },
      ["prompt 4 9 at 50"],
    ],
    [
      "include an announced price",
      { prices: prices("4") },
      { prices: prices("4"), priceChanges: [change("2026-09-01", "9")] },
      ["prompt 4 9 from 2026-09-01"],
    ],
    [
      "do not include a price that was announced before",
      { prices: prices("4"), priceChanges: [change("2026-07-03", "9")] },
      { prices: prices("9") },
      [],
    ],
    [
      "include the withdrawal of an announced price",
      { prices: prices("4"), priceChanges: [change("2026-07-04", "9")] },
      { prices: prices("4") },
      ["prompt 9 4 from 2026-07-04"],
    ],
  ];
  for (const [what, before, after, expected] of cases) {
    test(what, () => {
      const jumps = findPriceJumps(before, after, { factor: "2", now: NOW }).map(
        ({ kind, before: old, after: fresh, minPromptTokens, from }) =>
          `${kind} ${old} ${fresh}${minPromptTokens ? ` at ${minPromptTokens}` : ""}${from ? ` from ${from}` : ""}`,
      );
      expect(jumps).toEqual(expected);
    });
  }
});

describe("merging a source into the catalog", () => {
  test("marks an endpoint that the source no longer lists as missing, until the source lists it again", () => {
    const both = model("a/x", endpoint("groq"), endpoint("openai"));
    const one = model("a/x", endpoint("openai"));
    const gone = mergeRefresh([both], [one], TERMS).models;
    expect(gone[0]?.endpoints.map(({ provider, missingSince: since }) => [provider, since])).toEqual([
      ["groq", "2026-07-03"],
      ["openai", undefined],
    ]);
    expect(missingSince(gone[0]!)).toBeNull();
    const later = mergeRefresh(gone, [one], { ...TERMS, now: NOW + 86_400_000 }).models;
    expect(later).toEqual(gone);
    expect(mergeRefresh(later, [both], TERMS).models).toEqual([both]);
    const [ended] = endMissing(gone, 7);
    expect(ended).toMatchObject({ expires: null, endpoints: [{ expires: "2026-07-10" }, {}] });
    expect(findNextChange([ended!], "2026-07-03")).toBe("2026-07-10");
    expect(findNextChange([ended!], "2026-07-10")).toBeNull();
  });

  test("does not miss an endpoint of a price map, unless it reads one or lists the model under another name there", () => {
    const mapped = { ...endpoint("groq"), fromPriceMap: true as const };
    const before = model("a/x", mapped, endpoint("openai"));
    const rest = model("a/x", endpoint("openai"));
    const missing = (fetched: readonly ModelRecord[], hasPriceMap: boolean) =>
      mergeRefresh([before], fetched, { ...TERMS, hasPriceMap }).models.flatMap(({ endpoints }) =>
        endpoints.filter((each) => each.missingSince !== undefined).map(({ provider }) => provider),
      );
    expect(missing([rest], false)).toEqual([]);
    expect(missing([], false)).toEqual(["openai"]);
    expect(missing([rest], true)).toEqual(["groq"]);
    const renamed = model("a/x", endpoint("groq", { prices: prices("4") }, "m-2"), endpoint("openai"));
    expect(missing([renamed], false)).toEqual(["groq"]);
  });

  test("keeps what a model and an endpoint take where the source does not say it", () => {
    const before = {
      ...model("a/x", { ...endpoint("groq"), takesHere: { cacheMinTokens: 1024 } }),
      takes: { prefill: false, cacheMinTokens: 512 },
    };
    const after = { ...model("a/x", endpoint("groq")), takes: { prefill: true } };
    const [merged] = mergeRefresh([before], [after], TERMS).models;
    expect(merged?.takes).toEqual({ prefill: true, cacheMinTokens: 512 });
    expect(merged?.endpoints[0]?.takesHere).toEqual({ cacheMinTokens: 1024 });
    const [plain] = mergeRefresh(
      [model("a/x", endpoint("groq"))],
      [model("a/x", endpoint("groq"))],
      TERMS,
    ).models;
    expect(plain).toEqual(model("a/x", endpoint("groq")));
  });

  test("holds the price change of an endpoint that also got another name", () => {
    const before = model("a/x", endpoint("openai", { prices: prices("4") }, "x-1"));
    const after = model("a/x", endpoint("openai", { prices: prices("40") }, "x-2"));
    const { models, waiting } = mergeRefresh([before], [after], TERMS);
    expect(waiting).toMatchObject([{ name: "x-2", jumps: [{ before: "4", after: "40" }] }]);
    expect(models[0]?.endpoints.find(({ name }) => name === "x-2")?.prices?.prompt).toBe("4");
  });

  test("keeps a rejected price change while its endpoint is missing", () => {
    const before = model("a/x", endpoint("openai"));
    const after = model("a/x", endpoint("openai", { prices: prices("40") }));
    const { waiting } = mergeRefresh([before], [after], TERMS);
    const gone = mergeRefresh([before], [], { ...TERMS, rejected: waiting });
    expect(gone.rejected).toEqual(waiting);
    const back = mergeRefresh(gone.models, [after], { ...TERMS, rejected: gone.rejected });
    expect([back.waiting, back.rejected]).toEqual([[], waiting]);
  });

  test("never loses a model or an endpoint, and applies price changes within the factor and holds all others", () => {
    const price = fc.integer({ min: 0, max: 12 }).map(String);
    const deployments = fc.uniqueArray(fc.constantFrom("groq", "mistral", "openai"), { minLength: 1 });
    const list = fc
      .uniqueArray(fc.tuple(fc.constantFrom("a/x", "a/y", "a/z"), deployments, price), {
        selector: ([id]) => id,
      })
      .map((items) =>
        items.map(([id, slugs, prompt]) =>
          model(id, ...slugs.sort().map((slug) => endpoint(slug, { prices: prices(prompt) }))),
        ),
      );
    const namesOf = (models: readonly ModelRecord[]) =>
      models.flatMap(({ id, endpoints }) => endpoints.map(({ provider }) => `${id} ${provider}`));
    fc.assert(
      fc.property(list, list, (current, fetched) => {
        const { models, waiting } = mergeRefresh(current, fetched, TERMS);
        expect(new Set(namesOf(models))).toEqual(new Set([...namesOf(current), ...namesOf(fetched)]));
        const held = new Set(waiting.map((change) => `${change.model} ${change.provider}`));
        for (const before of current)
          for (const old of before.endpoints) {
            const after = models.find(({ id }) => id === before.id);
            const fresh = after?.endpoints.find(({ provider }) => provider === old.provider);
            expect(findPriceJumps(old, fresh!, { factor: "2", now: NOW })).toEqual([]);
            if (held.has(`${before.id} ${old.provider}`)) expect(fresh?.prices).toEqual(old.prices);
          }
        // Merging the same source again changes nothing and holds the same changes.
        expect(mergeRefresh(models, fetched, { ...TERMS, waiting })).toEqual({
          models,
          waiting,
          rejected: [],
        });
      }),
    );
  });
});
