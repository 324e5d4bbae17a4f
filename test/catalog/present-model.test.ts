import { describe, expect, test } from "bun:test";
import { loadShippedCatalog } from "../../src/app/catalog/load-catalog.ts";
import { linksOf, presentModel } from "../../src/core/catalog/present/present-model.ts";
import { presentProvider } from "../../src/core/catalog/present/present-provider.ts";
import type { ModelEndpoint, ModelRecord } from "../../src/core/catalog/records/records.ts";

const NOW = Date.parse("2026-07-01T12:00:00Z");

function endpoint(rest: Partial<ModelEndpoint> = {}): ModelEndpoint {
  return {
    provider: "openai",
    name: "m",
    contextLength: 1000,
    maxOutputTokens: 100,
    prices: { prompt: "0.000002", completion: "0.000004" },
    ...rest,
  };
}

function model(rest: Partial<ModelRecord> = {}): ModelRecord {
  return {
    id: "author/name",
    name: "Name",
    description: null,
    released: "2025-04-14",
    inputModalities: ["text", "image"],
    outputModalities: ["text"],
    tokenizer: null,
    supportedParameters: ["max_tokens", "tools"],
    expires: null,
    endpoints: [endpoint()],
    ...rest,
  };
}

describe("a presented model", () => {
  test("has every field of the API", () => {
    expect(presentModel(model(), [endpoint()], NOW)).toEqual({
      id: "author/name",
      object: "model",
      created: 1744588800,
      owned_by: "author",
      name: "Name",
      context_length: 1000,
      pricing: { prompt: "0.000002", completion: "0.000004" },
      description:
        "Name takes text and images and answers with text. It calls tools. Its context window has 1,000 tokens.",
      canonical_slug: "author/name",
      architecture: {
        input_modalities: ["text", "image"],
        output_modalities: ["text"],
        tokenizer: "Other",
        modality: "text+image->text",
      },
      top_provider: { context_length: 1000, max_completion_tokens: 100, is_moderated: false },
      supported_parameters: ["max_tokens", "tools"],
      isFree: false,
      expiration_date: null,
      links: { details: "/api/gateway/models/author/name/endpoints" },
      default_parameters: null,
      per_request_limits: null,
      supported_voices: null,
    });
  });

  test.each([
    ["author/name:free", "author/name:free/endpoints"],
    ["author/a b/c", "author/a%20b%2Fc/endpoints"],
    ["plain", "plain"],
  ])("has the path of its description: %s", (id, path) => {
    expect(linksOf(id)).toEqual({ details: `/api/gateway/models/${path}` });
  });

  test("has the smallest context window and the highest of each price of its endpoints", () => {
    const cheap = endpoint({
      contextLength: 4000,
      maxOutputTokens: 400,
      prices: { prompt: "0.000001", completion: "0.00001", cacheRead: "0.0000001" },
    });
    const described = presentModel(model(), [endpoint(), cheap], NOW);
    expect(described).toMatchObject({
      context_length: 1000,
      top_provider: { context_length: 4000, max_completion_tokens: 400 },
      pricing: { prompt: "0.000002", completion: "0.00001", input_cache_read: "0.000002" },
    });
  });

  test("has the highest price for each prompt size at which a price of an endpoint changes", () => {
    const tiered = endpoint({
      priceTiers: [{ minPromptTokens: 501, prompt: "0.000006", completion: "0.000008" }],
    });
    const dear = endpoint({ prices: { prompt: "0.000003", completion: "0.000009" } });
    expect(presentModel(model(), [tiered, dear], NOW)?.pricing).toEqual({
      prompt: "0.000003",
      completion: "0.000009",
      overrides: [{ min_prompt_tokens: 501, prompt: "0.000006", completion: "0.000009" }],
    });
  });

  test("omits modalities and parameters that no endpoint accepts", () => {
    const described = presentModel(model(), [endpoint({ lacks: ["image", "tools"] })], NOW);
    expect(described).toMatchObject({
      architecture: { input_modalities: ["text"] },
      supported_parameters: ["max_tokens"],
    });
    expect(
      presentModel(model(), [endpoint({ lacks: ["tools"] }), endpoint()], NOW)?.supported_parameters,
    ).toContain("tools");
  });

  test("is free if its id ends in :free, and only then", () => {
    expect(
      presentModel(
        model({ id: "author/name:free" }),
        [endpoint({ prices: { prompt: "0", completion: "0" } })],
        NOW,
      )?.isFree,
    ).toBe(true);
  });

  test("does not exist without an endpoint that has a price", () => {
    expect(presentModel(model(), [], NOW)).toBeNull();
    expect(presentModel(model(), [endpoint({ prices: null })], NOW)).toBeNull();
  });

  test("of the shipped catalog always has a context window and prices", () => {
    for (const shipped of loadShippedCatalog().models) {
      const described = presentModel(shipped, shipped.endpoints, NOW);
      if (described === null) continue;
      expect(described.context_length).toBeGreaterThan(0);
      expect(described.created).toBeGreaterThan(Date.UTC(2020, 0) / 1000);
      expect(described.pricing.prompt).toMatch(/^\d+(?:\.\d+)?$/);
      const costsNothing = Object.values(described.pricing).every((price) => price === "0");
      // Some vendors check texts without a charge, for accounts only.
      if (shipped.outputModalities[0] !== "moderation") expect(described.isFree).toBe(costsNothing);
    }
  });
});

test("a presented provider has every field of the API, and null for unknown facts", () => {
  const llama = loadShippedCatalog().providers.find((provider) => provider.slug === "llama");
  if (llama === undefined) throw new Error("the catalog has no such provider");
  expect(presentProvider(llama, 7, true)).toEqual({
    slug: "llama",
    name: "Llama API",
    displayName: "Llama API",
    privacy_policy_url: null,
    terms_of_service_url: null,
    status_page_url: null,
    headquarters: "US",
    datacenters: null,
    byokEnabled: true,
    models: 7,
  });
});
