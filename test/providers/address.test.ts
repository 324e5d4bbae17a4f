import { describe, expect, test } from "bun:test";
import { loadShippedCatalog } from "../../src/app/catalog/load-catalog.ts";
import { systemClock } from "../../src/base/time/clock.ts";
import type { ProviderRecord } from "../../src/core/catalog/records/records.ts";
import type { UpstreamAction, UpstreamAddress } from "../../src/core/deployments/upstream-address.ts";
import {
  type AddressPlan,
  type AddressReading,
  createAddress,
} from "../../src/providers/address/create-address.ts";
import { createFetchTransport } from "../../src/providers/fetch/transport.ts";
import { PROVIDER_FORMATS } from "../../src/wire/conversation/traits/format-name.ts";
import { makeServiceAccount } from "../support/vendors/service-account.ts";

const data = loadShippedCatalog();
const account = makeServiceAccount();

function rowOf(slug: string): ProviderRecord {
  return data.providers.find((row) => row.slug === slug) as ProviderRecord;
}

type Change = Partial<Omit<AddressPlan, "record">> & { readonly record?: Partial<ProviderRecord> };

function read(slug: string, { record, ...change }: Change = {}): AddressReading {
  const plan = {
    record: { ...rowOf(slug), ...record },
    base: null,
    parts: {},
    secrets: ["secret"],
    ...change,
  };
  const tokenUrl = new URL("https://oauth2.googleapis.com/token");
  return createAddress(plan, { clock: systemClock, transport: createFetchTransport(), tokenUrl });
}

function addressOf(slug: string, change: Change = {}): UpstreamAddress {
  const reading = read(slug, change);
  if (reading.kind !== "address") throw new Error(JSON.stringify(reading));
  return reading.address;
}

const PARTS = {
  region: "eu-central-1",
  resource: "my-resource",
  project: "my-project",
  location: "europe-west4",
  account: "my-account",
};
const DATED = { ...PARTS, api_version: "2024-10-21" };
const VERTEX = { parts: PARTS, secrets: [account.json] };
const at = (location: string): Change => ({ ...VERTEX, parts: { ...PARTS, location } });
const base = (text: string): Change => ({ base: text, parts: PARTS });

/** Slug, call, configuration and expected URL. `*` is the format of the row. */
const ADDRESSES: readonly (readonly [string, string, Change, string | null])[] = [
  ["openai", "chat", {}, "https://api.openai.com/v1/chat/completions"],
  ["openai", "chat stream", {}, "https://api.openai.com/v1/chat/completions"],
  ["openai", "embeddings", {}, "https://api.openai.com/v1/embeddings"],
  ["openai", "chat openai-responses", {}, "https://api.openai.com/v1/responses"],
  ["openai", "completions openai-completions", {}, "https://api.openai.com/v1/completions"],
  ["openai", "completions", {}, null],
  ["openai", "chat openai-completions", {}, null],
  ["deepseek", "completions openai-completions stream", {}, "https://api.deepseek.com/beta/completions"],
  ["fireworks", "completions openai-completions", {}, "https://api.fireworks.ai/inference/v1/completions"],
  ["openai", "fim", {}, null],
  ["openai", "count-tokens", {}, null],
  ["openai", "chat anthropic-messages", {}, null],
  ["openai", "chat", base("http://127.0.0.1:8000/v1//"), "http://127.0.0.1:8000/v1/chat/completions"],
  ["deepseek", "chat", {}, "https://api.deepseek.com/chat/completions"],
  ["deepseek", "chat anthropic-messages", {}, "https://api.deepseek.com/anthropic/v1/messages"],
  ["deepseek", "count-tokens anthropic-messages", {}, null],
  ["deepseek", "chat openai-responses", {}, "https://api.deepseek.com/responses"],
  ["openrouter", "chat anthropic-messages", {}, "https://openrouter.ai/api/v1/messages"],
  ["openrouter", "chat openai-responses", {}, "https://openrouter.ai/api/v1/responses"],
  ["moonshotai", "chat anthropic-messages", {}, "https://api.moonshot.ai/anthropic/v1/messages"],
  [
    "moonshotai",
    "chat anthropic-messages",
    base("https://api.moonshot.cn/v1"),
    "https://api.moonshot.cn/anthropic/v1/messages",
  ],
  ["zai", "chat anthropic-messages", {}, "https://api.z.ai/api/anthropic/v1/messages"],
  ["minimax", "chat anthropic-messages", {}, "https://api.minimax.io/anthropic/v1/messages"],
  ["fireworks", "chat anthropic-messages", {}, "https://api.fireworks.ai/inference/v1/messages"],
  ["deepinfra", "chat anthropic-messages", {}, "https://api.deepinfra.com/anthropic/v1/messages"],
  ["deepinfra", "chat openai-responses", {}, "https://api.deepinfra.com/v1/responses"],
  ["huggingface", "chat anthropic-messages", {}, "https://router.huggingface.co/v1/messages"],
  ["novita", "chat anthropic-messages", {}, "https://api.novita.ai/anthropic/v1/messages"],
  ["siliconflow", "chat anthropic-messages", {}, "https://api.siliconflow.com/v1/messages"],
  ["xiaomi", "chat anthropic-messages", {}, "https://api.xiaomimimo.com/anthropic/v1/messages"],
  ["stepfun", "count-tokens anthropic-messages", {}, "https://api.stepfun.com/v1/messages/count_tokens"],
  ["ollama-cloud", "chat anthropic-messages", {}, "https://ollama.com/v1/messages"],
  ["groq", "chat openai-responses", {}, "https://api.groq.com/openai/v1/responses"],
  ["groq", "chat anthropic-messages", {}, null],
  ["mistral", "chat", {}, "https://api.mistral.ai/v1/chat/completions"],
  ["mistral", "fim", {}, "https://api.mistral.ai/v1/fim/completions"],
  ["codestral", "fim stream", {}, "https://codestral.mistral.ai/v1/fim/completions"],
  ["anthropic", "chat stream", {}, "https://api.anthropic.com/v1/messages"],
  ["anthropic", "count-tokens", {}, "https://api.anthropic.com/v1/messages/count_tokens"],
  ["anthropic", "embeddings", {}, null],
  ["anthropic", "chat", base("https://proxy.example/v1/"), "https://proxy.example/v1/messages"],
  [
    "azure-anthropic",
    "chat",
    { parts: PARTS },
    "https://my-resource.services.ai.azure.com/anthropic/v1/messages",
  ],
  ["google", "chat", {}, "https://generativelanguage.googleapis.com/v1beta/models/M:generateContent"],
  [
    "google",
    "chat stream",
    {},
    "https://generativelanguage.googleapis.com/v1beta/models/M:streamGenerateContent?alt=sse",
  ],
  [
    "google",
    "embeddings",
    {},
    "https://generativelanguage.googleapis.com/v1beta/models/M:batchEmbedContents",
  ],
  ["google", "count-tokens", {}, "https://generativelanguage.googleapis.com/v1beta/models/M:countTokens"],
  ["google", "chat", base("https://g.example/v1beta"), "https://g.example/v1beta/models/M:generateContent"],
  [
    "google-vertex",
    "chat stream",
    VERTEX,
    "https://europe-west4-aiplatform.googleapis.com/v1/projects/my-project/locations/europe-west4/publishers/google/models/M:streamGenerateContent?alt=sse",
  ],
  [
    "google-vertex",
    "chat",
    at("global"),
    "https://aiplatform.googleapis.com/v1/projects/my-project/locations/global/publishers/google/models/M:generateContent",
  ],
  [
    "google-vertex",
    "chat",
    at("eu"),
    "https://aiplatform.eu.rep.googleapis.com/v1/projects/my-project/locations/eu/publishers/google/models/M:generateContent",
  ],
  [
    "google-vertex",
    "chat",
    { parts: { location: "europe-west4" } },
    "https://aiplatform.googleapis.com/v1/publishers/google/models/M:generateContent",
  ],
  [
    "google-vertex",
    "chat",
    { ...VERTEX, base: "https://v.example/" },
    "https://v.example/v1/projects/my-project/locations/europe-west4/publishers/google/models/M:generateContent",
  ],
  [
    "google-vertex-anthropic",
    "chat",
    VERTEX,
    "https://europe-west4-aiplatform.googleapis.com/v1/projects/my-project/locations/europe-west4/publishers/anthropic/models/M:rawPredict",
  ],
  [
    "google-vertex-anthropic",
    "chat stream",
    { ...VERTEX, base: "https://v.example/v1" },
    "https://v.example/v1/projects/my-project/locations/europe-west4/publishers/anthropic/models/M:streamRawPredict",
  ],
  [
    "google-vertex-anthropic",
    "count-tokens",
    at("us"),
    "https://aiplatform.us.rep.googleapis.com/v1/projects/my-project/locations/us/publishers/anthropic/models/count-tokens:rawPredict",
  ],
  [
    "google-vertex-openai",
    "chat stream",
    VERTEX,
    "https://europe-west4-aiplatform.googleapis.com/v1/projects/my-project/locations/europe-west4/endpoints/openapi/chat/completions",
  ],
  [
    "amazon-bedrock",
    "chat",
    { parts: PARTS },
    "https://bedrock-runtime.eu-central-1.amazonaws.com/model/M/converse",
  ],
  [
    "amazon-bedrock",
    "chat stream",
    { parts: PARTS },
    "https://bedrock-runtime.eu-central-1.amazonaws.com/model/M/converse-stream",
  ],
  ["amazon-bedrock", "embeddings", { parts: PARTS }, null],
  [
    "amazon-bedrock-mantle",
    "chat stream",
    { parts: PARTS },
    "https://bedrock-mantle.eu-central-1.api.aws/v1/responses",
  ],
  ["azure", "chat", { parts: PARTS }, "https://my-resource.openai.azure.com/openai/v1/chat/completions"],
  [
    "azure",
    "chat openai-responses",
    { parts: PARTS },
    "https://my-resource.openai.azure.com/openai/v1/responses",
  ],
  ["azure", "embeddings", { parts: PARTS }, "https://my-resource.openai.azure.com/openai/v1/embeddings"],
  [
    "azure",
    "chat stream",
    { parts: DATED },
    "https://my-resource.openai.azure.com/openai/deployments/M/chat/completions?api-version=2024-10-21",
  ],
  [
    "azure",
    "chat openai-responses",
    { parts: DATED },
    "https://my-resource.openai.azure.com/openai/responses?api-version=2024-10-21",
  ],
  ["azure", "chat", base("https://a.example/"), "https://a.example/openai/v1/chat/completions"],
  ["azure", "chat", base("https://a.example/openai/v1/"), "https://a.example/openai/v1/chat/completions"],
  ["azure", "chat", base("https://a.example/openai"), "https://a.example/openai/v1/chat/completions"],
  ["cohere", "chat stream", {}, "https://api.cohere.com/v2/chat"],
  ["cohere", "embeddings", {}, "https://api.cohere.com/v2/embed"],
  ["cohere", "chat", base("https://c.example/v2"), "https://c.example/v2/chat"],
  [
    "cloudflare",
    "chat",
    { parts: PARTS },
    "https://api.cloudflare.com/client/v4/accounts/my-account/ai/v1/chat/completions",
  ],
];

describe("the URL of a request", () => {
  test.each(ADDRESSES)(
    "follows the provider's row and the configuration: %s for %s",
    (slug, asked, change, url) => {
      const words = asked.split(" ");
      const call = {
        format: PROVIDER_FORMATS.find((format) => words.includes(format)) ?? rowOf(slug).format,
        action: words[0] as UpstreamAction,
        model: "M",
        stream: words.includes("stream"),
      };
      const address = addressOf(slug, change);
      expect(address.urlFor(call)?.href ?? null).toBe(url);
      expect(address.urlFor(call)).toBe(address.urlFor(call));
    },
  );

  test.each([
    ["google-vertex-anthropic", "claude-sonnet-4@20250514", "models/claude-sonnet-4@20250514:rawPredict"],
    ["amazon-bedrock", "amazon.nova-pro-v1:0", "model/amazon.nova-pro-v1%3A0/converse"],
    [
      "amazon-bedrock",
      "arn:aws:bedrock:us-east-1:1:inference-profile/x",
      "model/arn%3Aaws%3Abedrock%3Aus-east-1%3A1%3Ainference-profile%2Fx/converse",
    ],
    ["google", "a/../b?c#d", "models/a%2F..%2Fb%3Fc%23d:generateContent"],
  ])("at %s to one segment of the path for the model %s", (slug, model, path) => {
    const change = slug === "google" ? {} : slug === "amazon-bedrock" ? { parts: PARTS } : VERTEX;
    const call = { format: rowOf(slug).format, action: "chat", model, stream: false } as const;
    expect(addressOf(slug, change).urlFor(call)?.href).toEndWith(`/${path}`);
  });

  test("differs for each model, also when models alternate", () => {
    const address = addressOf("google");
    const urlOf = (model: string, stream: boolean) =>
      address.urlFor({ format: "gemini", action: "chat", model, stream })?.pathname;
    const seen = [urlOf("a", false), urlOf("b", false), urlOf("a", true), urlOf("a", false)];
    expect(seen).toEqual([
      "/v1beta/models/a:generateContent",
      "/v1beta/models/b:generateContent",
      "/v1beta/models/a:streamGenerateContent",
      "/v1beta/models/a:generateContent",
    ]);
  });
});

describe("the authentication of a request", () => {
  const request = {
    url: new URL("https://x.example/"),
    body: new Uint8Array(),
    headers: { "content-type": "application/json" },
  };

  test.each([
    ["openai", {}, { authorization: "Bearer secret" }],
    ["cohere", {}, { authorization: "Bearer secret" }],
    ["anthropic", {}, { "x-api-key": "secret" }],
    ["anthropic", { record: { auth: "bearer" } }, { authorization: "Bearer secret" }],
    ["azure-anthropic", { parts: PARTS }, { "x-api-key": "secret" }],
    ["azure", { parts: PARTS }, { "api-key": "secret" }],
    ["azure", { parts: DATED }, { "api-key": "secret" }],
    ["google", {}, { "x-goog-api-key": "secret" }],
    ["google-vertex", { parts: PARTS }, { "x-goog-api-key": "secret" }],
    ["amazon-bedrock", { parts: PARTS }, { authorization: "Bearer secret" }],
    ["amazon-bedrock-mantle", { parts: PARTS }, { authorization: "Bearer secret" }],
  ] satisfies (readonly [string, Change, Record<string, string>])[])(
    "follows the provider's row and the configuration, and is absent without a key: %s",
    (slug, change, headers) => {
      const address = addressOf(slug, change as Change);
      expect(address.authorize({ ...request, secret: "secret" })).toEqual(headers);
      expect(address.authorize({ ...request, secret: null })).toEqual({});
    },
  );

  test("is a signature if the AWS key is a pair", () => {
    const pair = "AKIDEXAMPLE00000:wJalrXUtnFEMI/K7MDENG:SESSION";
    const change = { parts: PARTS, secrets: [pair] };
    const proof = addressOf("amazon-bedrock", change).authorize({ ...request, secret: pair });
    expect(proof).toMatchObject({
      authorization: expect.stringMatching(
        /^AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE00000\/\d{8}\/eu-central-1\/bedrock\/aws4_request, SignedHeaders=content-type;host;x-amz-date;x-amz-security-token, Signature=[0-9a-f]{64}$/,
      ),
      "x-amz-security-token": "SESSION",
    });
    expect(JSON.stringify(proof)).not.toContain("wJalr");
  });

  test("comes with the API version for Anthropic", () => {
    const version = { "anthropic-version": "2023-06-01" };
    expect(addressOf("anthropic").headersFor("anthropic-messages")).toEqual(version);
    expect(addressOf("deepseek").headersFor("anthropic-messages")).toEqual(version);
    expect(addressOf("deepseek").headersFor("openai-chat")).toEqual({});
  });
});

describe("a provider", () => {
  test.each([
    ["azure", {}, ["resource"]],
    ["azure-anthropic", {}, ["resource"]],
    ["cloudflare", {}, ["account"]],
    ["amazon-bedrock", {}, ["region"]],
    ["amazon-bedrock", { base: "https://b.example", secrets: ["AKIDEXAMPLE00000:x"] }, ["region"]],
    ["google-vertex", { secrets: [account.json], parts: { location: "global" } }, ["project"]],
    ["google-vertex-openai", { secrets: [account.json] }, ["location", "project"]],
  ] satisfies (readonly [string, Change, string[]])[])(
    "cannot be called without its address parts: %s",
    (slug, change, missing) => {
      expect(read(slug, change as Change)).toEqual({ kind: "incomplete", missing });
    },
  );

  test.each([
    ["azure", { parts: { resource: "evil.example/x#" } }, "its resource has characters"],
    ["amazon-bedrock", { parts: { region: "x@evil.example" } }, "its region has characters"],
    ["azure", { parts: { resource: "a:b" } }, "is not a URL"],
    ["google-vertex-openai", { parts: PARTS }, "does not accept API keys"],
    ["google-vertex", { parts: PARTS, secrets: [account.json, "key"] }, "mixture"],
    ["google-vertex", { parts: PARTS, secrets: ["{"] }, "is not JSON"],
    [
      "google-vertex",
      { parts: PARTS, secrets: ['{"type":"authorized_user","refresh_token":"1//hidden"}'] },
      'of type "authorized_user"',
    ],
    [
      "google-vertex",
      { parts: PARTS, secrets: [makeServiceAccount({ client_email: undefined }).json] },
      "lacks client_email",
    ],
    [
      "google-vertex",
      { parts: PARTS, secrets: [makeServiceAccount({ private_key: "hidden" }).json] },
      "cannot be read",
    ],
  ] satisfies (readonly [string, Change, string])[])(
    "cannot be called with unusable keys or parts, and the reason does not contain the key: %s",
    (slug, change, words) => {
      const reading = read(slug, change as Change);
      expect(reading).toEqual({ kind: "refused", reason: expect.stringContaining(words) });
      expect(JSON.stringify(reading)).not.toContain("hidden");
    },
  );
});
