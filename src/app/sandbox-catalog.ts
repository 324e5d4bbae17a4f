import type { ModelRecord, ProviderRecord } from "../core/catalog/records.ts";

/** A URL that is never resolved (RFC 6761): the sandbox answers inside the process. */
export const SANDBOX_BASE_URL = "https://sandbox.invalid/v1";

/** The facts of a provider that is not in the catalog. */
export const NO_FACTS: Pick<
  ProviderRecord,
  "privacyPolicyUrl" | "termsOfServiceUrl" | "statusPageUrl" | "headquarters" | "datacenters"
> = {
  privacyPolicyUrl: null,
  termsOfServiceUrl: null,
  statusPageUrl: null,
  headquarters: null,
  datacenters: null,
};

/** The built-in provider for trials. It is part of the catalog only while it is on (docs/sandbox.md). */
export const SANDBOX_PROVIDER: ProviderRecord = {
  slug: "sandbox",
  name: "Sandbox (built-in, for tests)",
  format: "openai-chat",
  baseUrl: SANDBOX_BASE_URL,
  env: { apiKey: [], baseUrl: "SANDBOX_BASE_URL" },
  toolCallIds: "openai",
  parameters: ["n", "seed", "stop"],
  quirks: {},
  failsOnDemand: true,
  // Nothing leaves the gateway.
  trainsOnData: false,
  retainsData: false,
  ...NO_FACTS,
};

const CONTEXT_LENGTH = 131_072;
const MAX_OUTPUT_TOKENS = 32_768;
const EMBEDDING_CONTEXT_LENGTH = 8_192;

type TokenPrices = { readonly prompt: string; readonly completion: string };

const PRICES: TokenPrices = { prompt: "0.000001", completion: "0.000002" };
const FREE: TokenPrices = { prompt: "0", completion: "0" };

function sandboxModel(id: string, name: string, prices: TokenPrices): ModelRecord {
  return {
    id,
    name,
    description:
      "A built-in test provider that repeats what it is told. No model runs and nothing leaves the gateway.",
    released: "2026-11-21",
    inputModalities: ["text", "image"],
    outputModalities: ["text"],
    tokenizer: null,
    supportedParameters: [
      "max_tokens",
      "temperature",
      "top_p",
      "tools",
      "tool_choice",
      "response_format",
      "structured_outputs",
      "reasoning",
      "include_reasoning",
    ],
    expires: null,
    endpoints: [
      {
        provider: "sandbox",
        name: "echo",
        contextLength: CONTEXT_LENGTH,
        maxOutputTokens: MAX_OUTPUT_TOKENS,
        prices,
      },
    ],
  };
}

function sandboxEmbedding(id: string, name: string, prompt: string): ModelRecord {
  return {
    id,
    name,
    description:
      "A built-in test provider whose vectors are made of a hash of the text. No model runs and nothing leaves the gateway.",
    released: "2026-11-21",
    inputModalities: ["text"],
    outputModalities: ["embedding"],
    tokenizer: null,
    supportedParameters: [],
    expires: null,
    endpoints: [
      {
        provider: "sandbox",
        name: "embed",
        contextLength: EMBEDDING_CONTEXT_LENGTH,
        maxOutputTokens: null,
        prices: { prompt, completion: "0" },
      },
    ],
  };
}

/** A priced and a free model of each kind, so that calls with and without a key can be tried. */
export const SANDBOX_MODELS: readonly ModelRecord[] = [
  sandboxModel("sandbox/echo", "Sandbox echo", PRICES),
  sandboxModel("sandbox/echo:free", "Sandbox echo (free)", FREE),
  sandboxEmbedding("sandbox/embed", "Sandbox embed", "0.0000001"),
  sandboxEmbedding("sandbox/embed:free", "Sandbox embed (free)", "0"),
  // Fill in the middle is served only for models with this prefix.
  sandboxModel("mistralai/sandbox-fim", "Sandbox fill in the middle", PRICES),
];
