import { describe, expect, test } from "bun:test";
import type { ModelRecord } from "../../src/core/catalog/records/records.ts";
import { importModels } from "../../src/core/catalog/refresh/import-models-dev.ts";
import type { ImportRules } from "../../src/core/catalog/refresh/import-rules.ts";
import { rulesForSource, sourceModel, sourceText } from "./source-fixture.ts";

const TODAY = "2026-11-28";

/** Returns an entry of a price map with defaults for absent facts. */
function entry(provider: string, facts: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    litellm_provider: provider,
    mode: "chat",
    source: "https://example.com/prices",
    max_input_tokens: 200_000,
    max_output_tokens: 10_000,
    input_cost_per_token: 4e-6,
    output_cost_per_token: 2e-5,
    supports_function_calling: true,
    ...facts,
  };
}

type Listed = Record<string, Record<string, unknown>[]>;

/** Imports a list and a price map. The list always has a model of OpenAI, because an empty one is rejected. */
function importBoth(map: Record<string, unknown>, listed: Listed = {}, rules: ImportRules = rulesForSource) {
  const list = sourceText({ openai: [sourceModel("gpt-4o")], ...listed });
  const imported = importModels({ list, priceMap: { text: JSON.stringify(map), today: TODAY } }, rules);
  if ("rejected" in imported) throw new Error(imported.rejected);
  const find = (id: string): ModelRecord | undefined => imported.models.find((model) => model.id === id);
  return { ...imported, find };
}

const claude = (facts: Record<string, unknown> = {}) => entry("anthropic", facts);

describe("a model that only the price map lists", () => {
  test("is added with the id that clients know, a name made from it, and prices that are shifted digit by digit", () => {
    const { find } = importBoth({
      "claude-opus-9-5": claude({
        cache_read_input_token_cost: 2e-7,
        cache_creation_input_token_cost: 5e-6,
        cache_creation_input_token_cost_above_1hr: 8e-6,
      }),
    });
    expect(find("anthropic/claude-opus-9.5")).toMatchObject({
      name: "Claude Opus 9.5",
      released: null,
      endpoints: [
        {
          provider: "anthropic",
          name: "claude-opus-9-5",
          contextLength: 200_000,
          maxOutputTokens: 10_000,
          prices: {
            prompt: "0.000004",
            completion: "0.00002",
            cacheRead: "0.0000002",
            cacheWrite: "0.000005",
            cacheWrite1h: "0.000008",
          },
          fromPriceMap: true,
        },
      ],
    });
  });

  test("has the price tiers of the map, whether their sizes are in names or in ranges", () => {
    const { find } = importBoth({
      "claude-haiku-9": claude({
        input_cost_per_token_above_100k_tokens: 5e-6,
        output_cost_per_token_above_100k_tokens: 3e-5,
      }),
      "dashscope/qwen9-max": {
        ...entry("dashscope"),
        input_cost_per_token: undefined,
        output_cost_per_token: undefined,
        tiered_pricing: [
          { range: [0, 32_000], input_cost_per_token: 1e-6, output_cost_per_token: 2e-6 },
          { range: [32_000, 1e6], input_cost_per_token: 3e-6, output_cost_per_token: 4e-6 },
        ],
      },
    });
    expect(find("anthropic/claude-haiku-9")?.endpoints[0]?.priceTiers).toMatchObject([
      { minPromptTokens: 100_001, prompt: "0.000005", completion: "0.00003" },
    ]);
    expect(find("qwen/qwen9-max")?.endpoints[0]).toMatchObject({
      prices: { prompt: "0.000001", completion: "0.000002" },
      priceTiers: [{ minPromptTokens: 32_001, prompt: "0.000003", completion: "0.000004" }],
    });
  });

  test("has the tokens of prompt and answer as its window where the map states those of the prompt alone", () => {
    const { find } = importBoth({ "gpt-6-nova": entry("openai") });
    expect(find("openai/gpt-6-nova")?.endpoints[0]).toMatchObject({
      contextLength: 210_000,
      maxPromptTokens: 200_000,
      maxOutputTokens: 10_000,
    });
  });

  test("is controlled like the earlier model that the rules name, if no source says how it reasons", () => {
    const reasoning_options = [{ type: "effort", values: ["none", "high"] }];
    const { find } = importBoth(
      { "zai/glm-5.3": entry("zai", { supports_reasoning: true }) },
      { zai: [sourceModel("glm-5.2", { reasoning: true, reasoning_options })] },
    );
    expect(find("z-ai/glm-5.3")).toMatchObject({
      reasoning: { efforts: ["none", "high"], canDisable: true },
      supportedParameters: expect.arrayContaining(["reasoning_effort"]),
    });
  });

  test("has no price if the map names a charge that no price here stands for", () => {
    const { find, problems } = importBoth({ "claude-opus-9": claude({ input_cost_per_request: 0.01 }) });
    expect(find("anthropic/claude-opus-9")?.endpoints[0]?.prices).toBeNull();
    expect(problems.join()).toContain("input_cost_per_request");
  });
});

describe("an entry of the price map is omitted, and counted by reason,", () => {
  for (const [what, map, reason] of [
    ["if it names no source", { "claude-opus-9": claude({ source: undefined }) }, "without a source"],
    ["if its vendor has retired it", { "claude-opus-9": claude({ deprecation_date: TODAY }) }, "retired"],
    ["if it is of another kind", { "claude-opus-9": claude({ mode: "realtime" }) }, "of another kind"],
    ["if the rules leave its name out", { "claude-mythos-9": claude() }, "by rule"],
    ["if it has no provider", { latest: { alias_of: "claude-opus-9" } }, "without a provider"],
    ["if its provider is not in the catalog", { x: entry("fal_ai") }, "provider not imported"],
    ["if it cannot be read", { "claude-opus-9": claude({ supports_vision: "yes" }) }, "not read"],
  ] as const) {
    test(what, () => {
      const { models, omitted } = importBoth({ "gpt-4o": entry("openai"), ...map });
      expect(models.map(({ id }) => id)).toEqual(["openai/gpt-4o"]);
      expect(omitted).toEqual({ [`price map, ${reason}`]: 1 });
    });
  }

  test("if a host lists it and models.dev knows the model elsewhere: the map keeps what hosts have stopped to serve", () => {
    const map = {
      "together_ai/zai-org/GLM-5.2": entry("together_ai"),
      "together_ai/zai-org/GLM-9": entry("together_ai"),
    };
    const { find, omitted } = importBoth(map, { zai: [sourceModel("glm-5.2")] });
    expect(find("z-ai/glm-5.2")?.endpoints.map(({ provider }) => provider)).toEqual(["zai"]);
    expect(find("z-ai/glm-9")?.endpoints.map(({ provider }) => provider)).toEqual(["togetherai"]);
    expect(omitted).toEqual({ "price map, older model of a host": 1 });
  });

  test("and an unknown provider is reported once", () => {
    const { problems } = importBoth({
      "gpt-4o": entry("openai"),
      x: entry("newcomer"),
      y: entry("newcomer"),
    });
    expect(problems).toEqual([
      "price map: unknown provider newcomer; add it to priceMap in import-rules.json",
    ]);
  });
});

test("a dated snapshot that only the price map lists is left out if the model itself is listed", () => {
  const { models } = importBoth({
    "gpt-4o-2026-11-01": entry("openai"),
    "gpt-6-nova-2026-11-01": entry("openai"),
  });
  expect(models.map(({ id }) => id)).toEqual(["openai/gpt-4o", "openai/gpt-6-nova-2026-11-01"]);
});

describe("a model of both sources", () => {
  const listed = (cost: object) => ({ anthropic: [sourceModel("claude-opus-9", { cost, name: "Opus" })] });
  const priced = (facts: object, cost: object) =>
    importBoth({ "claude-opus-9": claude({ ...facts }) }, listed(cost)).find("anthropic/claude-opus-9");

  test("has the prices of the price map and all other facts of models.dev", () => {
    expect(priced({}, { input: 1, output: 2, cache_read: 0.1 })).toMatchObject({
      name: "Opus",
      released: "2025-04-28",
      endpoints: [{ contextLength: 1000, prices: { prompt: "0.000004", completion: "0.00002" } }],
    });
  });

  test("keeps prices that only models.dev has while both agree about prompt and completion", () => {
    const agreeing = priced({}, { input: 4, output: 20, cache_read: 0.4 });
    expect(agreeing?.endpoints[0]?.prices?.cacheRead).toBe("0.0000004");
    const changed = priced({}, { input: 5, output: 20, cache_read: 0.5 });
    expect(changed?.endpoints[0]?.prices?.cacheRead).toBeUndefined();
  });

  test("keeps the prices of models.dev where the price map has none", () => {
    const free = { input_cost_per_token: 0, output_cost_per_token: 0 };
    expect(priced(free, { input: 1, output: 2 })?.endpoints[0]?.prices).toMatchObject({ prompt: "0.000001" });
  });

  test("is not marked as coming from the price map", () => {
    expect(priced({}, { input: 1, output: 2 })?.endpoints[0]).not.toHaveProperty("fromPriceMap");
  });
});

describe("what a model takes", () => {
  const bare: ImportRules = { ...rulesForSource, takes: [] };
  const claims = {
    supports_sampling_params: false,
    supports_assistant_prefill: false,
    supports_forced_tool_use: false,
    supports_mid_conversation_system: true,
    supports_adaptive_thinking: true,
    supports_native_structured_output: true,
    supports_reasoning: true,
    supports_max_reasoning_effort: true,
    thinking_always_on: true,
    prompt_cache_min_tokens: 512,
    supports_prompt_cache_breakpoint: true,
    default_reasoning_effort: "medium",
  };

  test("is what the price map claims of the author's own API", () => {
    const model = importBoth({ "claude-opus-9": claude(claims) }, {}, bare).find("anthropic/claude-opus-9");
    expect(model?.takes).toEqual({
      sampling: false,
      prefill: false,
      forcedTools: false,
      reasoning: "always",
      adaptive: true,
      budgets: false,
      defaultEffort: "medium",
      midConversationSystem: true,
      cacheMinTokens: 512,
      cacheBreakpoints: true,
      structuredOutput: true,
    });
    expect(model?.supportedParameters).not.toContain("temperature");
    expect(model?.reasoning).toEqual({ efforts: ["low", "medium", "high", "max"] });
  });

  test("is listed at a host as far as the host differs", () => {
    const map = {
      "claude-opus-9": claude(claims),
      "anthropic.claude-opus-9": entry("bedrock_converse", { ...claims, prompt_cache_min_tokens: 1024 }),
    };
    const model = importBoth(map, {}, bare).find("anthropic/claude-opus-9");
    expect(model?.endpoints.map(({ provider, takesHere }) => [provider, takesHere])).toEqual([
      ["amazon-bedrock", { cacheMinTokens: 1024 }],
      ["anthropic", undefined],
    ]);
  });

  test("is completed by the rules of its family, which override a claim only if they correct it", () => {
    const rule = { models: "^anthropic/claude-opus-", source: "https://example.com" };
    const rules: ImportRules = {
      ...bare,
      takes: [
        { ...rule, takes: { prefill: true, budgets: true } },
        { ...rule, takes: { cacheMinTokens: 256 }, corrects: true },
      ],
    };
    const map = {
      "claude-opus-9": claude({ supports_assistant_prefill: false, prompt_cache_min_tokens: 512 }),
      "anthropic.claude-opus-9": entry("bedrock_converse", { prompt_cache_min_tokens: 1024 }),
    };
    const model = importBoth(map, {}, rules).find("anthropic/claude-opus-9");
    expect(model?.takes).toEqual({ prefill: false, budgets: true, cacheMinTokens: 256 });
    expect(model?.endpoints[0]).not.toHaveProperty("takesHere");
  });

  test("is what a catalog knows of the model, if the import reads no price map", () => {
    const known = importBoth({ "claude-opus-9": claude(claims) }, {}, bare).models;
    const list = sourceText({ anthropic: [sourceModel("claude-opus-9")] });
    const imported = importModels({ list, known }, bare);
    if ("rejected" in imported) throw new Error(imported.rejected);
    expect(imported.models[0]?.takes).toMatchObject({ sampling: false, cacheMinTokens: 512 });
    expect(imported.models[0]?.supportedParameters).not.toContain("temperature");
  });

  test("decides whether its reasoning can be switched off, and whether it must be asked for", () => {
    const reasoning_options = [{ type: "effort", values: ["none", "low", "high"] }, { type: "toggle" }];
    const listed = { anthropic: [sourceModel("claude-opus-9", { reasoning: true, reasoning_options })] };
    const controlOf = (habit: Record<string, unknown>) =>
      importBoth({ "claude-opus-9": claude(habit) }, listed, bare).find("anthropic/claude-opus-9")?.reasoning;
    const efforts = ["none", "low", "high"];
    expect(controlOf({ thinking_always_on: true })).toEqual({ efforts: ["low", "high"] });
    expect(controlOf({ thinking_on_by_default: true })).toEqual({ efforts, canDisable: true });
    expect(controlOf({})).toEqual({ efforts, canDisable: true, onlyWhenTold: true });
  });
});

describe("an import is rejected with a price map that", () => {
  const list = sourceText({ openai: [sourceModel("gpt-4o")] });
  for (const [text, reason] of [
    ["", "is empty"],
    ["<html>", "is a web page"],
    ['{"a": {', "cut off"],
    ["[]", "not a price map"],
    ['{"a": 1}', "not a price map"],
    ["{}", "lists no model of a known provider"],
    [`{"a": ${"[".repeat(100_000)}`, "has"],
    [`{${"{".repeat(200_001)}`, "more than 200000 objects"],
  ] as const) {
    test(`${reason}: ${text.slice(0, 10)}`, () => {
      const imported = importModels({ list, priceMap: { text, today: TODAY } }, rulesForSource);
      expect(imported).toEqual({ rejected: expect.stringContaining(`with a price map that `) });
      expect(JSON.stringify(imported)).toContain(reason);
    });
  }
});
