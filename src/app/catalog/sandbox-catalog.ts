import type { ModelRecord, Prices, ProviderRecord } from "../../core/catalog/records/records.ts";
import { CHAT_FORMAT } from "../../wire/formats/traits.ts";

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
  format: CHAT_FORMAT,
  baseUrl: SANDBOX_BASE_URL,
  env: { apiKey: [], baseUrl: "SANDBOX_BASE_URL" },
  toolCallIds: "openai",
  parameters: ["n", "seed", "stop"],
  quirks: {},
  isOwnHost: true,
  failsOnDemand: true,
  // Nothing leaves the gateway.
  trainsOnData: false,
  retainsData: false,
  ...NO_FACTS,
};

const CONTEXT_LENGTH = 131_072;
const MAX_OUTPUT_TOKENS = 32_768;
const SOLE_CONTEXT_LENGTH = 8_192;

const PRICES: Prices = { prompt: "0.000001", completion: "0.000002" };

const ECHO = { upstreamName: "echo", does: "repeats what it is told" };
const AGENT = {
  upstreamName: "agent",
  does: "calls the first tool of a request, and then repeats what it is told",
};

/** Makes a model for conversations. */
function sandboxModel(
  id: string,
  name: string,
  { upstreamName, does, prices }: Omit<SoleModel, "output">,
): ModelRecord {
  return {
    id,
    name,
    description: describeModel(does),
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
        name: upstreamName,
        contextLength: CONTEXT_LENGTH,
        maxOutputTokens: MAX_OUTPUT_TOKENS,
        prices,
      },
    ],
  };
}

/** The differences between the models that are not for conversations. */
interface SoleModel {
  readonly upstreamName: string;
  readonly output: string;
  /** What the sandbox does. */
  readonly does: string;
  readonly prices: Prices;
}

function describeModel(does: string): string {
  return `A built-in test provider that ${does}. No model runs and nothing leaves the gateway.`;
}

const FREE_PRICES: Prices = { prompt: "0", completion: "0" };

/** Makes a priced and a free model. */
function sandboxModels(id: string, sole: SoleModel): readonly ModelRecord[] {
  const name = `Sandbox ${id.slice(id.indexOf("/") + 1)}`;
  return [
    createSoleModel(id, name, sole),
    createSoleModel(`${id}:free`, `${name} (free)`, { ...sole, prices: FREE_PRICES }),
  ];
}

function createSoleModel(
  id: string,
  name: string,
  { upstreamName, output, does, prices }: SoleModel,
): ModelRecord {
  return {
    id,
    name,
    description: describeModel(does),
    released: "2026-11-21",
    inputModalities: ["text"],
    outputModalities: [output],
    tokenizer: null,
    supportedParameters: [],
    expires: null,
    endpoints: [
      {
        provider: "sandbox",
        name: upstreamName,
        contextLength: SOLE_CONTEXT_LENGTH,
        maxOutputTokens: null,
        prices,
      },
    ],
  };
}

/** A priced and a free model of each kind, so that calls with and without a key can be tried. */
export const SANDBOX_MODELS: readonly ModelRecord[] = [
  sandboxModel("sandbox/echo", "Sandbox echo", { ...ECHO, prices: PRICES }),
  sandboxModel("sandbox/echo:free", "Sandbox echo (free)", { ...ECHO, prices: FREE_PRICES }),
  sandboxModel("sandbox/agent", "Sandbox agent", { ...AGENT, prices: PRICES }),
  sandboxModel("sandbox/agent:free", "Sandbox agent (free)", { ...AGENT, prices: FREE_PRICES }),
  ...sandboxModels("sandbox/embed", {
    upstreamName: "embed",
    output: "embedding",
    does: "makes vectors of a hash of the text",
    prices: { prompt: "0.0000001", completion: "0" },
  }),
  ...sandboxModels("sandbox/moderate", {
    upstreamName: "moderate",
    output: "moderation",
    does: "flags the word violence",
    prices: { prompt: "0.0000001", completion: "0" },
  }),
  ...sandboxModels("sandbox/rank", {
    upstreamName: "rank",
    output: "rerank",
    does: "counts the words of the query in each document",
    prices: { prompt: "0", completion: "0", search: "0.001" },
  }),
  ...sandboxModels("sandbox/draw", {
    upstreamName: "draw",
    output: "image",
    does: "makes images of one pixel",
    prices: { prompt: "0", completion: "0", generatedImage: "0.001" },
  }),
  ...sandboxModels("sandbox/speak", {
    upstreamName: "speak",
    output: "speech",
    does: "speaks silence",
    prices: { prompt: "0", completion: "0", character: "0.000001" },
  }),
  ...sandboxModels("sandbox/transcribe", {
    upstreamName: "transcribe",
    output: "transcription",
    does: "says how large a form is",
    prices: { prompt: "0", completion: "0", audioSecond: "0.0001" },
  }),
  // Fill in the middle is served only for models with this prefix.
  sandboxModel("mistralai/sandbox-fim", "Sandbox fill in the middle", { ...ECHO, prices: PRICES }),
];
