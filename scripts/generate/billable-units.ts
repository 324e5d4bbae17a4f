import type { PriceName } from "../../src/core/catalog/records/model-schema.ts";
import type { ProviderFormat } from "../../src/wire/conversation/traits/format-name.ts";
import { replaceBlock } from "./replace-block.ts";

/** What decides what happens with a unit, as far as data does: a test compares it with the catalog. */
export interface UnitBasis {
  /** A price that some endpoint of the provider has. */
  readonly price?: PriceName;
  /** A price tier of some endpoint of the provider. */
  readonly priceTier?: true;
  /** A field of requests in a format of the provider, and a value of it. */
  readonly field?: readonly [format: ProviderFormat, name: string, value: unknown];
  /** A type of tool in a format of the provider. */
  readonly tool?: readonly [format: ProviderFormat, tool: Readonly<Record<string, unknown>>];
  /** The endpoint by which `field` and `tool` are looked at. Default: any with a price. */
  readonly endpoint?: string;
}

/** `priced`: charged. `left out`: not sent with a platform key. `not possible`: no request of this gateway can ask for it. */
export type UnitStatus = "priced" | "left out" | "not possible";

/** Something that a vendor charges for. */
export interface BillableUnit extends UnitBasis {
  readonly unit: string;
  readonly status: UnitStatus;
  readonly how: string;
}

/** A vendor's price page, and what it names. */
export interface VendorUnits {
  readonly vendor: string;
  /** Its slug in the catalog. */
  readonly provider: string;
  readonly source: string;
  readonly units: readonly BillableUnit[];
}

const TOKENS: readonly BillableUnit[] = [
  { unit: "input tokens", status: "priced", how: "`prompt`", price: "prompt" },
  {
    unit: "output tokens, reasoning included",
    status: "priced",
    how: "`completion`, `reasoning`",
    price: "completion",
  },
  { unit: "cached input tokens", status: "priced", how: "`cacheRead`", price: "cacheRead" },
];
const BATCH: BillableUnit = { unit: "batch processing", status: "not possible", how: "no batch endpoint" };

/** The units of the four vendors with the most revenue from APIs of models, in their order, and of the largest reseller. */
export const VENDORS: readonly VendorUnits[] = [
  {
    vendor: "OpenAI",
    provider: "openai",
    source: "https://developers.openai.com/api/docs/pricing",
    units: [
      ...TOKENS,
      {
        unit: "cache writes",
        status: "priced",
        how: "as `prompt`; by `cacheWrite` where the catalog has one",
        price: "prompt",
      },
      {
        unit: "long context",
        status: "priced",
        how: "price tiers by the size of the prompt",
        priceTier: true,
      },
      {
        unit: "audio tokens of conversations",
        status: "priced",
        how: "`audioIn`, `audioOut`, otherwise as text; the catalog has no such model",
        price: "prompt",
      },
      {
        unit: "flex processing",
        status: "priced",
        how: "`factors`, by the `service_tier` of the answer; left out for models without one",
        field: ["openai-responses", "service_tier", "flex"],
        endpoint: "gpt-5",
      },
      {
        unit: "priority processing (fast mode)",
        status: "priced",
        how: "`factors`, by the `service_tier` of the answer; left out for models without one",
        field: ["openai-chat", "service_tier", "priority"],
        endpoint: "gpt-5",
      },
      {
        unit: "ultrafast mode",
        status: "left out",
        how: "`service_tier`",
        field: ["openai-chat", "service_tier", "ultrafast"],
        endpoint: "gpt-5",
      },
      {
        unit: "scale tier",
        status: "left out",
        how: "`service_tier`: a contract of the operator",
        field: ["openai-chat", "service_tier", "scale"],
        endpoint: "gpt-5",
      },
      {
        unit: "regional processing",
        status: "not possible",
        how: "chosen by the base URL: set a mark-up for the provider",
      },
      BATCH,
      {
        unit: "web search calls",
        status: "priced",
        how: "`search`",
        price: "search",
        tool: ["openai-responses", { type: "web_search" }],
        endpoint: "gpt-5",
      },
      {
        unit: "web search preview",
        status: "left out",
        how: "models that do not reason have another price",
        tool: ["openai-responses", { type: "web_search_preview" }],
        endpoint: "gpt-5",
      },
      {
        unit: "web search of chat completions",
        status: "left out",
        how: "`web_search_options`: the answer does not count searches",
        field: ["openai-chat", "web_search_options", {}],
        endpoint: "gpt-5",
      },
      {
        unit: "file search calls, vector storage",
        status: "left out",
        how: "`file_search`",
        tool: ["openai-responses", { type: "file_search" }],
        endpoint: "gpt-5",
      },
      {
        unit: "containers: code interpreter",
        status: "left out",
        how: "`code_interpreter`",
        tool: ["openai-responses", { type: "code_interpreter" }],
        endpoint: "gpt-5",
      },
      {
        unit: "containers: hosted shell",
        status: "left out",
        how: "`shell` with a container; a local shell costs nothing",
        tool: ["openai-responses", { type: "shell", environment: { type: "container_auto" } }],
        endpoint: "gpt-5",
      },
      {
        unit: "image generation tool",
        status: "left out",
        how: "`image_generation`",
        tool: ["openai-responses", { type: "image_generation" }],
        endpoint: "gpt-5",
      },
      {
        unit: "stored prompts with tools",
        status: "left out",
        how: "`prompt`",
        field: ["openai-responses", "prompt", { id: "pmpt_1" }],
        endpoint: "gpt-5",
      },
      {
        unit: "remote MCP servers, computer use",
        status: "priced",
        how: "as tokens",
        tool: ["openai-responses", { type: "mcp" }],
        endpoint: "gpt-5",
      },
      {
        unit: "image tokens",
        status: "priced",
        how: "`imageOut`, otherwise `completion`",
        price: "completion",
      },
      { unit: "embeddings", status: "priced", how: "`prompt`", price: "prompt" },
      { unit: "speech by character", status: "priced", how: "`character`", price: "character" },
      { unit: "transcription by minute", status: "priced", how: "`audioSecond`", price: "audioSecond" },
      { unit: "moderation", status: "priced", how: "free of charge" },
      {
        unit: "realtime, video, fine-tuning, evaluations, file storage",
        status: "not possible",
        how: "no such endpoint",
      },
    ],
  },
  {
    vendor: "Anthropic",
    provider: "anthropic",
    source: "https://platform.claude.com/docs/en/about-claude/pricing",
    units: [
      ...TOKENS,
      { unit: "cache writes for five minutes", status: "priced", how: "`cacheWrite`", price: "cacheWrite" },
      { unit: "cache writes for an hour", status: "priced", how: "`cacheWrite1h`", price: "cacheWrite1h" },
      {
        unit: "long context",
        status: "priced",
        how: "price tiers by the size of the prompt, for models that have them",
        price: "prompt",
      },
      {
        unit: "fast mode",
        status: "priced",
        how: "`factors`, by `usage.speed`; left out for models without one",
        field: ["anthropic-messages", "speed", "fast"],
        endpoint: "claude-opus-4-8",
      },
      {
        unit: "data residency",
        status: "priced",
        how: "`factors`, by `usage.inference_geo`; left out for models without one",
        field: ["anthropic-messages", "inference_geo", "us"],
        endpoint: "claude-opus-4-8",
      },
      {
        unit: "priority tier",
        status: "priced",
        how: "`service_tier: auto`: bought capacity, whose tokens cost no more",
        field: ["anthropic-messages", "service_tier", "auto"],
      },
      BATCH,
      {
        unit: "web searches",
        status: "priced",
        how: "`search`",
        price: "search",
        tool: ["anthropic-messages", { type: "web_search_20250305" }],
      },
      {
        unit: "web fetch, tool search, bash, text editor, memory, computer use, MCP",
        status: "priced",
        how: "as tokens",
        tool: ["anthropic-messages", { type: "web_fetch_20250910" }],
      },
      {
        unit: "code execution, containers and skills",
        status: "left out",
        how: "`code_execution`, `container`",
        tool: ["anthropic-messages", { type: "code_execution_20250825" }],
      },
      {
        unit: "advisor",
        status: "priced",
        how: "at the prices of the consulted model",
        tool: ["anthropic-messages", { type: "advisor_20260301" }],
      },
      { unit: "managed agents", status: "not possible", how: "no such endpoint" },
    ],
  },
  {
    vendor: "Google (Gemini API)",
    provider: "google",
    source: "https://ai.google.dev/gemini-api/docs/pricing",
    units: [
      ...TOKENS,
      { unit: "audio input", status: "priced", how: "`audioIn`", price: "audioIn" },
      { unit: "image output", status: "priced", how: "`imageOut`", price: "imageOut" },
      {
        unit: "long context",
        status: "priced",
        how: "price tiers by the size of the prompt",
        priceTier: true,
      },
      {
        unit: "cache storage",
        status: "not possible",
        how: "explicit caches cannot be created; implicit ones have no storage price",
      },
      {
        unit: "grounding with Google Search",
        status: "priced",
        how: "`search` or `searchedRequest`, by what the answer reports; no client API can ask for it",
        price: "search",
      },
      {
        unit: "grounding with Google Maps, URL context, code execution, file search",
        status: "not possible",
        how: "no client API can ask for them",
      },
      {
        unit: "flex and priority",
        status: "left out",
        how: "`service_tier`",
        field: ["gemini", "serviceTier", "flex"],
      },
      BATCH,
      { unit: "embeddings", status: "priced", how: "`prompt`", price: "prompt" },
      { unit: "Live API, Imagen, Veo, speech, music", status: "not possible", how: "no such endpoint" },
    ],
  },
  {
    vendor: "Amazon Bedrock",
    provider: "amazon-bedrock",
    source: "https://aws.amazon.com/bedrock/pricing/",
    units: [
      ...TOKENS,
      { unit: "cache writes", status: "priced", how: "`cacheWrite`", price: "cacheWrite" },
      { unit: "cache writes for an hour", status: "priced", how: "`cacheWrite1h`", price: "cacheWrite1h" },
      {
        unit: "priority and flex tiers",
        status: "left out",
        how: "`service_tier`",
        field: ["bedrock-converse", "serviceTier", { type: "priority" }],
      },
      {
        unit: "reserved tier, provisioned throughput",
        status: "left out",
        how: "`service_tier`: a contract of the operator",
        field: ["bedrock-converse", "serviceTier", { type: "reserved" }],
      },
      {
        unit: "latency-optimized inference",
        status: "not possible",
        how: "`performanceConfig` is never sent",
      },
      BATCH,
      { unit: "guardrails", status: "not possible", how: "`guardrailConfig` is never sent" },
      {
        unit: "web grounding and other system tools",
        status: "not possible",
        how: "no client API can ask for them",
      },
      {
        unit: "agents, knowledge bases, flows, evaluation, customization, imported models",
        status: "not possible",
        how: "no such endpoint",
      },
    ],
  },
  {
    vendor: "OpenRouter",
    provider: "openrouter",
    source: "https://openrouter.ai/docs/guides/administration/usage-accounting",
    units: [
      ...TOKENS,
      { unit: "cache writes", status: "priced", how: "`cacheWrite`, `cacheWrite1h`", price: "cacheWrite" },
      { unit: "audio input", status: "priced", how: "`audioIn`", price: "audioIn" },
      {
        unit: "what a request costs",
        status: "priced",
        how: "`usage.cost` replaces the prices, unless `is_byok` is true",
      },
      {
        unit: "plugin `web`",
        status: "priced",
        how: "`usage.cost`; left out for free models",
        field: ["openai-chat", "plugins", [{ id: "web" }]],
      },
      {
        unit: "plugin `file-parser` with OCR",
        status: "priced",
        how: "`usage.cost`; free models get the reader that costs nothing",
        field: ["openai-chat", "plugins", [{ id: "file-parser", pdf: { engine: "mistral-ocr" } }]],
      },
      {
        unit: "native search",
        status: "priced",
        how: "`usage.cost`",
        field: ["openai-chat", "web_search_options", {}],
      },
      {
        unit: "server tools: search, fetch",
        status: "priced",
        how: "`usage.cost`",
        tool: ["openai-chat", { type: "openrouter:web_search" }],
      },
      {
        unit: "server tools: others",
        status: "left out",
        how: "their bound is not known",
        tool: ["openai-chat", { type: "openrouter:shell" }],
      },
      {
        unit: "service tiers",
        status: "priced",
        how: "`usage.cost`",
        field: ["openai-chat", "service_tier", "priority"],
      },
      { unit: "suffix `:online`", status: "not possible", how: "not an id of the catalog" },
      {
        unit: "fee of keys of upstream providers",
        status: "not possible",
        how: "`is_byok`: the prices apply, and the fee is the operator's",
      },
      { unit: "fee of buying credits", status: "not possible", how: "not of a request: set a mark-up" },
    ],
  },
];

/** Returns the text of docs/pricing.md with the tables of all units in their place. */
export function placeUnits(page: string): string {
  return replaceBlock(page, "billable units", `\n${renderUnits()}\n`);
}

function renderUnits(): string {
  const tables = VENDORS.map(({ vendor, source, units }) => {
    const rows = units.map(({ unit, status, how }) => `| ${unit} | ${status} | ${how} |`);
    const head = [`### ${vendor}`, "", `[Price page](${source})`, "", "| Unit | | How |", "|---|---|---|"];
    return [...head, ...rows].join("\n");
  });
  return tables.join("\n\n");
}
