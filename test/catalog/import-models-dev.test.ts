import { describe, expect, test } from "bun:test";
import type { ModelRecord } from "../../src/core/catalog/records/records.ts";
import { importModelsDev } from "../../src/core/catalog/refresh/import-models-dev.ts";
import { rulesForSource, shippedRules, sourceModel, sourceText } from "./source-fixture.ts";

function importText(text: string): { models: readonly ModelRecord[]; problems: readonly string[] } {
  const imported = importModelsDev(text, rulesForSource);
  if ("rejected" in imported) throw new Error(imported.rejected);
  return imported;
}

function importProviders(providers: Record<string, Record<string, unknown>[]>) {
  return importText(sourceText(providers));
}

function idOf(provider: string, id: string, rest: Record<string, unknown> = {}): string | undefined {
  const { models } = importProviders({ [provider]: [sourceModel(id, rest)] });
  return models.find((model) => model.endpoints.some((endpoint) => endpoint.name === id))?.id;
}

describe("the id of an imported model", () => {
  for (const [provider, name, id] of [
    ["openai", "gpt-4o", "openai/gpt-4o"],
    ["openai", "gpt-5.1-chat-latest", "openai/gpt-5.1-chat"],
    ["anthropic", "claude-opus-4-0", "anthropic/claude-opus-4"],
    ["anthropic", "claude-sonnet-4-5-20250929", "anthropic/claude-sonnet-4-5-20250929"],
    ["amazon-bedrock", "us.anthropic.claude-sonnet-4-5-20250929-v1:0", "anthropic/claude-sonnet-4.5"],
    ["amazon-bedrock", "global.anthropic.claude-opus-4-6-v1", "anthropic/claude-opus-4-6"],
    ["amazon-bedrock", "meta.llama3-3-70b-instruct-v1:0", "meta-llama/llama-3.3-70b-instruct"],
    ["amazon-bedrock", "deepseek.r1-v1:0", "deepseek/deepseek-r1"],
    ["google-vertex-anthropic", "claude-opus-4-5@20251101", "anthropic/claude-opus-4.5"],
    ["mistral", "codestral-latest", "mistralai/codestral-latest"],
    ["groq", "llama-3.3-70b-versatile", "meta-llama/llama-3.3-70b-instruct"],
    ["fireworks-ai", "accounts/fireworks/models/kimi-k2p6", "moonshotai/kimi-k2.6"],
    ["fireworks-ai", "accounts/fireworks/routers/kimi-k2p6-turbo", "moonshotai/kimi-k2.6-turbo"],
    ["togetherai", "meta-llama/Llama-3.3-70B-Instruct-Turbo", "meta-llama/llama-3.3-70b-instruct-turbo"],
    ["togetherai", "zai-org/GLM-5.1", "z-ai/glm-5.1"],
    ["wandb", "zai-org/GLM-5-FP8", "z-ai/glm-5-fp8"],
    ["chutes", "zai-org/GLM-5-TEE", "z-ai/glm-5"],
    ["cloudflare-workers-ai", "@cf/qwen/qwq-32b", "qwen/qwq-32b"],
    ["ollama-cloud", "gpt-oss:120b", "openai/gpt-oss-120b"],
    ["venice", "openai-gpt-52", "openai/gpt-5.2"],
    ["ovhcloud", "meta-llama-3_3-70b-instruct", "meta-llama/llama-3.3-70b-instruct"],
    ["nvidia", "nvidia/nvidia-nemotron-nano-9b-v2", "nvidia/nemotron-nano-9b-v2"],
    ["openrouter", "qwen/qwen3-coder", "qwen/qwen3-coder"],
    ["novita-ai", "qwen/qwen3-coder-480b-a35b-instruct", "qwen/qwen3-coder"],
  ] as const) {
    test(`is ${id} for ${name} at ${provider}`, () => expect(idOf(provider, name)).toBe(id));
  }

  test("ends in :free for a free variant, which is a separate model", () => {
    const { models } = importProviders({
      openrouter: [
        sourceModel("z-ai/glm-5"),
        sourceModel("z-ai/glm-5:free", { cost: { input: 0, output: 0 } }),
      ],
    });
    expect(models.map((model) => model.id)).toEqual(["z-ai/glm-5", "z-ai/glm-5:free"]);
    expect(models[1]?.endpoints[0]?.prices).toEqual({ prompt: "0", completion: "0" });
  });
});

describe("a model of several providers", () => {
  test("is one record in the spelling that clients know if its names differ only in spelling", () => {
    const { models } = importProviders({
      anthropic: [sourceModel("claude-sonnet-4-6")],
      openrouter: [sourceModel("anthropic/claude-sonnet-4.6")],
      venice: [sourceModel("claude-sonnet-4-6")],
    });
    expect(models.map((model) => model.id)).toEqual(["anthropic/claude-sonnet-4.6"]);
    expect(models[0]?.endpoints.map((endpoint) => `${endpoint.provider} ${endpoint.name}`)).toEqual([
      "anthropic claude-sonnet-4-6",
      "openrouter anthropic/claude-sonnet-4.6",
      "venice claude-sonnet-4-6",
    ]);
  });

  for (const [one, other] of [
    ["meta-llama/llama-3.1-8b-instruct", "meta-llama/llama-3.1-70b-instruct"],
    ["qwen/qwen3-32b", "qwen/qwen3-32b-fp8"],
    ["qwen/qwen3-235b-a22b-2507", "qwen/qwen3-235b-a22b-thinking-2507"],
    ["moonshotai/kimi-k2", "moonshotai/kimi-k2-0905"],
    ["x-ai/grok-4.20", "x-ai/grok-4.2"],
    ["openai/gpt-4o-2024-05-13", "openai/gpt-4o-2024-08-06"],
    ["anthropic/claude-opus-4.8", "anthropic/claude-opus-4.8-fast"],
  ] as const) {
    test(`is not assumed for ${one} and ${other}`, () => {
      expect(
        importProviders({ openrouter: [sourceModel(one)], "novita-ai": [sourceModel(other)] }).models,
      ).toHaveLength(2);
    });
  }

  test("has only the name at Bedrock that works from most regions", () => {
    const names = ["", "eu.", "us.", "global."].map((region) =>
      sourceModel(`${region}anthropic.claude-opus-4-8`),
    );
    const { models } = importProviders({ "amazon-bedrock": names });
    expect(models[0]?.endpoints.map((endpoint) => endpoint.name)).toEqual([
      "global.anthropic.claude-opus-4-8",
    ]);
  });

  test("has the facts of its author, and names what an endpoint lacks", () => {
    const { models } = importProviders({
      "novita-ai": [sourceModel("moonshotai/kimi-k2.5", { tool_call: false, name: "Kimi (novita)" })],
      moonshotai: [
        sourceModel("kimi-k2.5", {
          name: "Kimi K2.5",
          modalities: { input: ["text", "image", "pdf"], output: ["text"] },
        }),
      ],
    });
    expect(models[0]).toMatchObject({ name: "Kimi K2.5", inputModalities: ["text", "image", "file"] });
    expect(models[0]?.endpoints[1]).toMatchObject({
      provider: "novita",
      lacks: ["image", "file", "tool_choice", "tools"],
    });
  });
});

describe("an imported embedding model", () => {
  const EMBEDDING = { cost: { input: 0.02, output: 0 }, limit: { context: 8191, output: 1536 } };

  function importOne(rest: Record<string, unknown> = {}): ModelRecord | undefined {
    const source = sourceModel("text-embedding-3-small", { ...EMBEDDING, ...rest });
    return importProviders({ openai: [source] }).models[0];
  }

  test("has embeddings as output, no parameters of chats, and the limit of its input as context length", () => {
    expect(importOne()).toMatchObject({
      id: "openai/text-embedding-3-small",
      inputModalities: ["text"],
      outputModalities: ["embedding"],
      supportedParameters: [],
      endpoints: [
        {
          provider: "openai",
          contextLength: 8191,
          maxOutputTokens: null,
          prices: { prompt: "0.00000002", completion: "0" },
        },
      ],
    });
  });

  for (const [what, cost, prices] of [
    ["has no price for its answer even if the source has one", { input: 1, output: 1 }, "0.000001"],
    ["needs no price for its answer in the source", { input: 1 }, "0.000001"],
    ["is not served if its price is zero", { input: 0, output: 0 }, null],
    ["is not served without a price", undefined, null],
    ["is not served if it has an unknown charge", { input: 1, image: 1 }, null],
  ] as const) {
    test(what, () => {
      const found = importOne({ cost })?.endpoints[0]?.prices;
      expect(found?.prompt ?? null).toBe(prices);
      expect(found?.completion ?? null).toBe(prices === null ? null : "0");
    });
  }

  test("comes from the rules until the source lists it", () => {
    const idsAndPrices = (models: readonly ModelRecord[]) =>
      models
        .filter(({ id }) => id.includes("embed"))
        .map(({ id, endpoints }) => [id, endpoints[0]?.prices?.prompt]);
    const lacking = importProviders({ mistral: [sourceModel("mistral-large-2512")] }).models;
    expect(idsAndPrices(lacking)).toEqual([["mistralai/codestral-embed", "0.00000015"]]);
    const listing = importProviders({
      mistral: [sourceModel("mistral-large-2512"), sourceModel("codestral-embed", EMBEDDING)],
    }).models;
    expect(idsAndPrices(listing)).toEqual([["mistralai/codestral-embed", "0.00000002"]]);
  });
});

describe("a model of the rules that is not for conversations", () => {
  const importWith = (source: Record<string, Record<string, unknown>[]>) => {
    const imported = importModelsDev(sourceText(source), shippedRules);
    if ("rejected" in imported) throw new Error(imported.rejected);
    return imported;
  };

  test("is in every import, complete and with its prices", () => {
    const { models, problems } = importWith({ openai: [sourceModel("gpt-9")] });
    expect(problems).toEqual([]);
    expect(models.find(({ id }) => id === "openai/whisper-1")).toEqual({
      id: "openai/whisper-1",
      name: "Whisper",
      description: null,
      released: "2023-03-01",
      inputModalities: ["audio"],
      outputModalities: ["transcription"],
      tokenizer: null,
      supportedParameters: [],
      expires: null,
      endpoints: [
        {
          provider: "openai",
          name: "whisper-1",
          contextLength: 4096,
          maxOutputTokens: null,
          prices: { prompt: "0", completion: "0", audioSecond: "0.0001" },
        },
      ],
    });
  });

  test("gives way to an entry of the source with its id", () => {
    const { models } = importWith({ openai: [sourceModel("gpt-image-2")] });
    const found = models.filter(({ id }) => id === "openai/gpt-image-2");
    expect(found.map(({ outputModalities }) => outputModalities)).toEqual([["text"]]);
  });
});

describe("the import omits", () => {
  for (const [why, rest] of [
    ["a deprecated model", { status: "deprecated" }],
    ["a model without text as output", { modalities: { input: ["text"], output: ["image"] } }],
    ["a model without text as input", { modalities: { input: ["audio"], output: ["text"] } }],
    ["a model of unknown context length", { limit: { context: 0, output: 0 } }],
    ["a model in a format for which the provider has no row", { provider: { npm: "@ai-sdk/unheard-of" } }],
  ] as const) {
    test(why, () => expect(idOf("openai", "gpt-9", rest)).toBeUndefined());
  }

  test("embedding models of a provider without a known embeddings endpoint", () =>
    expect(idOf("huggingface", "Qwen/Qwen3-Embedding-8B")).toBeUndefined());

  for (const id of ["../../etc/passwd", "..", "a/b c", "a/ü", "a/", "/b", `a/${"b".repeat(300)}`]) {
    test(`a name that is not a valid id, ${id.slice(0, 20)}`, () => {
      const { models } = importProviders({ openrouter: [sourceModel(id)], openai: [sourceModel("gpt-9")] });
      for (const model of models) expect(model.id).toMatch(/^[a-z0-9][a-z0-9._-]*\/[a-z0-9][a-z0-9._-]*$/);
    });
  }

  test("an unknown provider, and reports it", () => {
    const { models, problems } = importProviders({
      openai: [sourceModel("gpt-9")],
      newcomer: [sourceModel("m")],
    });
    expect(models).toHaveLength(1);
    expect(problems.join()).toContain("newcomer: unknown provider with 1 models");
  });

  test("an entry that cannot be read, and reports it", () => {
    const { models, problems } = importProviders({ openai: [sourceModel("gpt-9"), { id: "gpt-10" }] });
    expect(models.map((model) => model.id)).toEqual(["openai/gpt-9"]);
    expect(problems.join()).toContain("openai/gpt-10: not read");
  });
});

describe("imported prices", () => {
  for (const [what, cost, expected] of [
    [
      "include prompt, completion and cache",
      { input: 2, output: 10, cache_read: 0.2, cache_write: 2.5 },
      { prompt: "0.000002", completion: "0.00001", cacheRead: "0.0000002", cacheWrite: "0.0000025" },
    ],
    [
      "include cache prices in other spellings",
      { input: 1, output: 2, cached_input: 0.5 },
      { prompt: "0.000001", completion: "0.000002", cacheRead: "0.0000005" },
    ],
    [
      "include audio",
      { input: 1, output: 2, input_audio: 4, output_audio: 8 },
      { prompt: "0.000001", completion: "0.000002", audioIn: "0.000004", audioOut: "0.000008" },
    ],
    [
      "do not include a zero besides other prices",
      { input: 1, output: 2, cache_write: 0 },
      { prompt: "0.000001", completion: "0.000002" },
    ],
    [
      "do not include a price of reasoning that equals the completion's",
      { input: 1, output: 2, reasoning: 2 },
      { prompt: "0.000001", completion: "0.000002" },
    ],
    ["are absent if the source has none", undefined, null],
    ["are absent if they are zero without :free, as for a preview", { input: 0, output: 0 }, null],
    ["are absent if only one of prompt and completion is not zero", { input: 1, output: 0 }, null],
    ["are absent if there is an unknown charge", { input: 1, output: 2, citation: 3 }, null],
    ["are absent if one is negative", { input: -1, output: 2 }, null],
    ["are absent if one is not a number", { input: "free", output: 2 }, null],
  ] as const) {
    test(what, () => {
      const { models } = importProviders({ openai: [sourceModel("gpt-9", { cost })] });
      expect(models[0]?.endpoints[0]?.prices as unknown).toEqual(expected);
    });
  }

  test("have tiers for prompts above the size that the source names, in both of its notations", () => {
    const tier = { input: 4, output: 18 };
    for (const cost of [
      {
        input: 2,
        output: 12,
        cache_read: 0.2,
        tiers: [{ tier: { type: "context", size: 200000 }, ...tier }],
      },
      { input: 2, output: 12, cache_read: 0.2, context_over_200k: tier },
    ]) {
      const { models } = importProviders({ google: [sourceModel("gemini-9", { cost })] });
      expect(models[0]?.endpoints[0]?.priceTiers).toEqual([
        {
          minPromptTokens: 200001,
          prompt: "0.000004",
          completion: "0.000018",
          cacheRead: "0.0000002",
          search: "0.014",
        },
      ]);
    }
  });

  test("include the charges of the rules that are not per token, only for the rule's provider, also in tiers and changes", () => {
    const cost = { input: 2, output: 30 };
    const over = { input: 4, output: 60 };
    const source = sourceText({
      google: [
        sourceModel("gemini-2.5-pro", { cost: { ...cost, context_over_200k: over } }),
        sourceModel("gemini-2.5-flash-image", { cost }),
      ],
      openrouter: [sourceModel("google/gemini-2.5-pro", { cost })],
    });
    const change = { from: "2026-09-01", prices: { prompt: "0.000003", completion: "0.00003" } };
    const rules = { ...rulesForSource, priceChanges: { google: { "gemini-2.5-pro": [change] } } };
    const imported = importModelsDev(source, rules);
    if ("rejected" in imported) throw new Error(imported.rejected);
    const endpoints = imported.models.flatMap((model) => model.endpoints);
    const find = (name: string) => endpoints.find((endpoint) => endpoint.name === name);
    const searched = { searchedRequest: "0.035" };
    expect(find("gemini-2.5-pro")).toMatchObject({
      prices: { prompt: "0.000002", completion: "0.00003", ...searched },
      priceTiers: [{ prompt: "0.000004", ...searched }],
      priceChanges: [{ from: "2026-09-01", prices: { ...change.prices, ...searched } }],
    });
    expect(find("gemini-2.5-flash-image")?.prices).toEqual({
      prompt: "0.000002",
      completion: "0.0000025",
      imageOut: "0.00003",
      ...searched,
    });
    expect(find("google/gemini-2.5-pro")?.prices).toEqual({ prompt: "0.000002", completion: "0.00003" });
  });

  test("of Anthropic's one-hour cache are twice the prompt's at every host with Anthropic's price for five minutes", () => {
    const cost = { input: 3, output: 15, cache_read: 0.3, cache_write: 3.75 };
    const over = { input: 6, output: 22.5, cache_read: 0.6, cache_write: 7.5 };
    const { models } = importProviders({
      anthropic: [sourceModel("claude-new-9", { cost: { ...cost, context_over_200k: over } })],
      openrouter: [sourceModel("anthropic/claude-odd-9", { cost: { ...cost, cache_write: 3.6 } })],
      openai: [sourceModel("gpt-9", { cost })],
    });
    const hours = models.map(({ id, endpoints }) => [id, endpoints[0]?.prices?.cacheWrite1h]);
    expect(Object.fromEntries(hours)).toEqual({
      "anthropic/claude-new-9": "0.000006",
      "anthropic/claude-odd-9": undefined,
      "openai/gpt-9": undefined,
    });
    const tiers = models.find(({ id }) => id === "anthropic/claude-new-9")?.endpoints[0]?.priceTiers;
    expect(tiers?.[0]?.cacheWrite1h).toBe("0.000012");
  });

  test("include announced price changes from the rules", () => {
    const change = { from: "2027-01-01", prices: { prompt: "0.000009", completion: "0.00001" } };
    const rules = { ...rulesForSource, priceChanges: { openai: { "gpt-9": [change] } } };
    const imported = importModelsDev(sourceText({ openai: [sourceModel("gpt-9")] }), rules);
    if ("rejected" in imported) throw new Error(imported.rejected);
    expect(imported.models[0]?.endpoints[0]).toMatchObject({
      prices: { prompt: "0.000001", completion: "0.000002" },
      priceChanges: [change],
    });
  });

  test("are absent for a :free model that has a price, so that it is not served", () => {
    const { models, problems } = importProviders({ openrouter: [sourceModel("a/b:free")] });
    expect(models[0]?.endpoints[0]?.prices).toBeNull();
    expect(problems.join()).toContain("is free by its id, but has a price");
  });

  test("of a host with the author's price for text include the author's tiers and audio price", () => {
    const { models } = importProviders({
      google: [
        sourceModel("gemini-9", {
          cost: { input: 1, output: 2, input_audio: 5, context_over_200k: { input: 3, output: 4 } },
        }),
      ],
      openrouter: [sourceModel("google/gemini-9")],
    });
    expect(models[0]?.endpoints[1]).toMatchObject({
      provider: "openrouter",
      prices: { audioIn: "0.000005" },
      priceTiers: [{ minPromptTokens: 200001, prompt: "0.000003" }],
    });
  });

  test("are absent for a reseller whose price for images is unknown, so that it is not served", () => {
    const { models } = importProviders({
      openrouter: [
        sourceModel("google/gemini-9-image", { modalities: { input: ["text"], output: ["text", "image"] } }),
      ],
    });
    expect(models[0]?.endpoints[0]?.prices).toBeNull();
  });
});

describe("imported limits and dates", () => {
  test("include a prompt limit below the context length, and ignore one above it", () => {
    for (const [input, expected] of [
      [600, 600],
      [5000, undefined],
    ] as const) {
      const { models } = importProviders({
        openai: [sourceModel("gpt-9", { limit: { context: 1000, input, output: 4000 } })],
      });
      expect(models[0]?.endpoints[0]?.maxPromptTokens as number | undefined).toBe(expected);
      expect(models[0]?.endpoints[0]?.maxOutputTokens).toBe(1000);
    }
  });

  for (const [written, expected] of [
    ["2025-04-28", "2025-04-28"],
    ["2025-04", "2025-04-01"],
    ["2025-25-11", null],
    ["soon", null],
    [undefined, null],
  ] as const) {
    test(`have the release day ${expected} for ${written}`, () => {
      const { models } = importProviders({ openai: [sourceModel("gpt-9", { release_date: written })] });
      expect(models[0]?.released as string | null).toBe(expected);
    });
  }
});

test("an import reads models in an object by id like models in an array", () => {
  const providers = { openai: [sourceModel("gpt-9"), sourceModel("gpt-8")], xai: [sourceModel("grok-9")] };
  expect(importText(sourceText(providers, "object"))).toEqual(importText(sourceText(providers, "array")));
});

describe("an import rejects a text that is not a source", () => {
  for (const [what, text, reason] of [
    ["nothing", "", "is empty"],
    ["a web page", "<!doctype html><html></html>", "is a web page"],
    ["half a file", sourceText({ openai: [sourceModel("gpt-9")] }).slice(0, 200), "cut off"],
    ["a list", "[]", "not a list of providers"],
    ["another shape", '{"data":[{"id":"gpt-9"}]}', "not a list of providers"],
    ["a number", "12", "not a list of providers"],
    ["no providers", "{}", "lists no models"],
    ["no models", '{"openai":{"models":[]}}', "lists no models"],
  ] as const) {
    test(`${what}: ${reason}`, () => {
      const imported = importModelsDev(text, rulesForSource);
      expect("rejected" in imported ? imported.rejected : "").toContain(reason);
    });
  }
});
