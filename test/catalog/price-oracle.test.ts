import { expect, test } from "bun:test";
import { calcPrice } from "@pydantic/genai-prices";
import { loadShippedCatalog } from "../../src/app/catalog/load-catalog.ts";
import { asFields } from "../../src/base/json/fields.ts";
import type { ModelEndpoint, Prices } from "../../src/core/catalog/records/records.ts";
import type { FormatName } from "../../src/wire/conversation/traits/format-name.ts";
import { NO_TOKENS, type TokenUsage } from "../../src/wire/conversation/usage.ts";
import { UPSTREAM_CODECS } from "../../src/wire/formats/codecs.ts";
import { priceAt, priceUsage } from "../support/price-usage.ts";
import { hasRecordings, readAnswers } from "../support/vendors/recordings.ts";

/** The day of the catalog's data. */
const NOW = Date.parse("2026-07-02T12:00:00Z");

/** Folders of recordings, with the provider here and in the other list, and the format. */
const SOURCES: readonly (readonly [folder: string, slug: string, theirs: string, format: FormatName])[] = [
  ["anthropic", "anthropic", "anthropic", "anthropic-messages"],
  ["google", "google", "google", "gemini"],
  ["openai-chat", "openai", "openai", "openai-chat"],
  ["openai-responses", "openai", "openai", "openai-responses"],
  ["mistral", "mistral", "mistral", "openai-chat"],
  ["groq", "groq", "groq", "openai-chat"],
  ["xai", "xai", "x-ai", "openai-chat"],
  ["deepseek-chat", "deepseek", "deepseek", "openai-chat"],
  ["moonshotai", "moonshotai", "moonshotai", "openai-chat"],
  ["perplexity", "perplexity", "perplexity", "openai-chat"],
];

interface Case {
  readonly name: string;
  readonly model: string;
  readonly usage: TokenUsage;
  /** Nanodollars. */
  readonly ours: number;
  readonly theirs: number;
}

const endpoints = loadShippedCatalog().models.flatMap((model) => model.endpoints);

/** Returns the endpoint with this name, or the one of which a dated name is a snapshot. */
function findEndpoint(slug: string, name: string): ModelEndpoint | undefined {
  const plain = name.replace(/-\d{4}-\d\d-\d\d$/, "");
  const own = endpoints.filter((endpoint) => endpoint.provider === slug && endpoint.prices !== null);
  return own.find((endpoint) => endpoint.name === name) ?? own.find((endpoint) => endpoint.name === plain);
}

function listCases(): Case[] {
  return SOURCES.flatMap(([folder, slug, theirName, format]) =>
    readAnswers(folder).flatMap(({ name, text }): Case[] => {
      const body = asFields(JSON.parse(text));
      const model = body?.["model"] ?? body?.["modelVersion"];
      if (body === null || typeof model !== "string") return [];
      const decoded = UPSTREAM_CODECS[format].decodeAnswer(body);
      const usage = decoded.kind === "answer" ? decoded.answer.usage : null;
      const endpoint = findEndpoint(slug, model);
      if (usage === null || usage === undefined || endpoint === undefined) return [];
      const theirs = calcPrice(theirUsage(usage), model, { providerId: theirName, timestamp: new Date(NOW) });
      if (theirs === null) return [];
      const ours = priceUsage(endpoint, usage, NOW);
      return [{ name, model: `${slug}/${model}`, usage, ours, theirs: Math.round(theirs.total_price * 1e9) }];
    }),
  );
}

function theirUsage(usage: TokenUsage): Record<string, number> {
  return {
    input_tokens: usage.promptTokens,
    output_tokens: usage.completionTokens,
    cache_read_tokens: usage.cachedTokens,
    cache_write_tokens: usage.cacheWriteTokens,
    cache_write_1h_tokens: usage.cacheWrite1hTokens,
    web_searches: usage.searches,
  };
}

interface Difference {
  readonly why: string;
  /** The prices from which the other list computes its cost. */
  readonly theirs: Prices;
}

/** The models for which the two lists differ, and why. All other costs are equal to the nanodollar. */
const DIFFERENCES: Readonly<Record<string, Difference>> = {
  "mistral/mistral-small-latest": {
    why: "The name stands for the newest version: this catalog has the newest version's price, the other list an earlier one's.",
    theirs: { prompt: "0.0000001", completion: "0.0000003" },
  },
  "deepseek/deepseek-reasoner": {
    why: "DeepSeek has lowered its price; the other list has the price of the model's first months.",
    theirs: { prompt: "0.00000055", completion: "0.00000219", cacheRead: "0.00000014" },
  },
  "deepseek/deepseek-chat": {
    why: "DeepSeek has lowered its price here too.",
    theirs: { prompt: "0.00000027", completion: "0.0000011", cacheRead: "0.00000007" },
  },
  "openai/gpt-5.6-sol": {
    why: "OpenAI has lowered its price; the other list has that of the model's first months.",
    theirs: { prompt: "0.000005", completion: "0.00003" },
  },
  "perplexity/sonar": {
    why: "Perplexity also charges for searches by context size: the other list has the highest price, this catalog the one that was requested.",
    theirs: { prompt: "0.000001", completion: "0.000001", request: "0.012" },
  },
};

test.skipIf(!hasRecordings)(
  "recorded token usage costs the same as by another price list, except for explained differences",
  () => {
    const cases = listCases();
    expect(cases.length).toBeGreaterThan(50);
    const different = new Set<string>();
    for (const { name, model, usage, ours, theirs } of cases) {
      const difference = DIFFERENCES[model];
      if (ours !== theirs) different.add(model);
      expect([name, difference ? priceAt(difference.theirs, usage) : ours]).toEqual([name, theirs]);
    }
    const searching = cases.filter(({ usage }) => usage.searches > 0).map(({ model }) => model);
    expect(searching).toEqual(["anthropic/claude-sonnet-4-20250514", "openai/gpt-5-mini-2025-08-07"]);
    // An explanation without a difference must be removed.
    expect([...different].sort()).toEqual(Object.keys(DIFFERENCES).sort());
  },
);

test("images in answers, and searches of providers that charge per search, cost the same as by another price list", () => {
  const timestamp = new Date(NOW);
  const searches = endpoints.filter(({ provider, prices }) => {
    return (provider === "anthropic" || provider === "openai") && prices?.search !== undefined;
  });
  let compared = 0;
  for (const { provider, name, prices } of searches) {
    const one = calcPrice({ web_searches: 1_000 }, name, { providerId: provider, timestamp });
    // The other list has no price for some models.
    if (!one?.total_price) continue;
    compared += 1;
    expect([name, Number(prices?.search) * 1_000]).toEqual([name, one.total_price]);
  }
  expect(compared).toBeGreaterThan(30);
  for (const endpoint of endpoints.filter(({ prices }) => prices?.imageOut !== undefined)) {
    const usage = { ...NO_TOKENS, promptTokens: 100, completionTokens: 1_300, imageCompletionTokens: 1_290 };
    const theirs = calcPrice({ ...theirUsage(usage), output_image_tokens: 1_290 }, endpoint.name, {
      providerId: "google",
      timestamp,
    });
    const ours = priceUsage(endpoint, usage, NOW);
    expect([endpoint.name, ours]).toEqual([endpoint.name, Math.round(theirs!.total_price * 1e9)]);
  }
});

test("reading a cache, and writing it for five minutes or an hour, cost the same as by another price list", () => {
  const usage = {
    ...NO_TOKENS,
    promptTokens: 100_000,
    cachedTokens: 50_000,
    cacheWriteTokens: 40_000,
    cacheWrite1hTokens: 30_000,
    completionTokens: 1_000,
  };
  const names = [
    "claude-haiku-4-5-20251001",
    "claude-sonnet-4-5-20250929",
    "claude-opus-4-6",
    "claude-fable-5",
  ];
  for (const name of names) {
    const endpoint = findEndpoint("anthropic", name)!;
    const theirs = calcPrice(theirUsage(usage), name, { providerId: "anthropic", timestamp: new Date(NOW) });
    expect([name, priceUsage(endpoint, usage, NOW)]).toEqual([name, Math.round(theirs!.total_price * 1e9)]);
  }
});
