import {
  ADDRESS_SCHEMES,
  type AddressScheme,
  type AuthKind,
} from "../../core/catalog/records/provider-schema.ts";
import type { UpstreamAction } from "../../core/deployments/upstream-address.ts";
import type { ProviderFormat } from "../../wire/conversation/traits/format-name.ts";

/** A path after a provider's base URL, with `{model}` and address parts in braces. Some APIs have another path for streams. */
export type Path = string | { readonly whole: string; readonly streamed: string };

/** The URLs and authentication of an API. */
export interface Scheme {
  /** The usual authentication. */
  readonly auth: AuthKind;
  /** Headers of every request. Configured headers take precedence. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Ends of configured base URLs that are removed, because the paths begin with them. */
  readonly dropsEnd?: RegExp;
  readonly paths: Readonly<Partial<Record<ProviderFormat, Readonly<Partial<Record<UpstreamAction, Path>>>>>>;
}

/** Schemes that no row names. The configuration selects them in place of the row's scheme. */
type Variant = "azure-dated" | "vertex-express";

const GEMINI_CHAT: Path = {
  whole: "/models/{model}:generateContent",
  streamed: "/models/{model}:streamGenerateContent?alt=sse",
};
const VERTEX = "/v1/projects/{project}/locations/{location}";
const VERTEX_MODELS = `${VERTEX}/publishers/anthropic/models`;
const DEPLOYMENT = "/openai/deployments/{model}";
const API_VERSION = "?api-version={api_version}";

/** OpenAI's endpoints for media, which Azure has too. */
const MEDIA = {
  images: "/images/generations",
  speech: "/audio/speech",
  transcriptions: "/audio/transcriptions",
} as const;
/** The forwarded endpoints of an API like OpenAI's. `/rerank` is not in OpenAI's API, but vLLM, Jina and others serve it in addition. */
const OTHERS = { ...MEDIA, moderations: "/moderations", rerank: "/rerank" } as const;

export const SCHEMES: Readonly<Record<AddressScheme | Variant, Scheme>> = {
  openai: {
    auth: "bearer",
    paths: {
      "openai-chat": { chat: "/chat/completions", embeddings: "/embeddings", ...OTHERS },
      "openai-responses": { chat: "/responses" },
      "openai-completions": { completions: "/completions" },
    },
  },
  anthropic: {
    auth: "x-api-key",
    headers: { "anthropic-version": "2023-06-01" },
    dropsEnd: /\/v1$/,
    paths: {
      "anthropic-messages": { chat: "/v1/messages", "count-tokens": "/v1/messages/count_tokens" },
    },
  },
  // Google's SDKs expect a base URL without a version, others with one.
  gemini: {
    auth: "x-goog-api-key",
    dropsEnd: /\/v1beta$/,
    paths: {
      gemini: prefixPaths("/v1beta", {
        chat: GEMINI_CHAT,
        "count-tokens": "/models/{model}:countTokens",
        embeddings: "/models/{model}:batchEmbedContents",
      }),
    },
  },
  vertex: {
    auth: "google",
    dropsEnd: /\/v1(beta1)?$/,
    paths: {
      gemini: prefixPaths(`${VERTEX}/publishers/google`, {
        chat: GEMINI_CHAT,
        "count-tokens": "/models/{model}:countTokens",
      }),
      "anthropic-messages": {
        chat: {
          whole: `${VERTEX_MODELS}/{model}:rawPredict`,
          streamed: `${VERTEX_MODELS}/{model}:streamRawPredict`,
        },
        // The only path whose model is in the body.
        "count-tokens": `${VERTEX_MODELS}/count-tokens:rawPredict`,
      },
      "openai-chat": { chat: `${VERTEX}/endpoints/openapi/chat/completions` },
    },
  },
  // An API key of Vertex belongs to a project, so the path does not contain one.
  "vertex-express": {
    auth: "google",
    dropsEnd: /\/v1(beta1)?$/,
    paths: {
      gemini: prefixPaths("/v1/publishers/google", {
        chat: GEMINI_CHAT,
        "count-tokens": "/models/{model}:countTokens",
      }),
    },
  },
  bedrock: {
    auth: "aws",
    paths: {
      "bedrock-converse": {
        chat: { whole: "/model/{model}/converse", streamed: "/model/{model}/converse-stream" },
        "count-tokens": "/model/{model}/count-tokens",
      },
    },
  },
  azure: {
    auth: "api-key",
    dropsEnd: /\/openai(\/v1)?$/,
    paths: {
      "openai-chat": {
        chat: "/openai/v1/chat/completions",
        embeddings: "/openai/v1/embeddings",
        ...prefixPaths("/openai/v1", MEDIA),
      },
      "openai-responses": { chat: "/openai/v1/responses" },
    },
  },
  // For a configured, dated API version, as in Azure's own client.
  "azure-dated": {
    auth: "api-key",
    dropsEnd: /\/openai(\/v1)?$/,
    paths: {
      "openai-chat": {
        chat: `${DEPLOYMENT}/chat/completions${API_VERSION}`,
        embeddings: `${DEPLOYMENT}/embeddings${API_VERSION}`,
        images: `${DEPLOYMENT}${MEDIA.images}${API_VERSION}`,
        speech: `${DEPLOYMENT}${MEDIA.speech}${API_VERSION}`,
        transcriptions: `${DEPLOYMENT}${MEDIA.transcriptions}${API_VERSION}`,
      },
      "openai-responses": { chat: `/openai/responses${API_VERSION}` },
    },
  },
  cohere: {
    auth: "bearer",
    dropsEnd: /\/v[12]$/,
    paths: { "cohere-chat": { chat: "/v2/chat", embeddings: "/v2/embed", rerank: "/v2/rerank" } },
  },
};

/** Returns the usual scheme of a format: the one of its own vendor, which is the first scheme with the format. */
export function usualSchemeOf(format: ProviderFormat): AddressScheme {
  return ADDRESS_SCHEMES.find((name) => SCHEMES[name].paths[format] !== undefined) as AddressScheme;
}

function prefixPaths(prefix: string, paths: Readonly<Record<string, Path>>): Readonly<Record<string, Path>> {
  const prefixed = (path: Path): Path =>
    typeof path === "string"
      ? prefix + path
      : { whole: prefix + path.whole, streamed: prefix + path.streamed };
  return Object.fromEntries(Object.entries(paths).map(([action, path]) => [action, prefixed(path)]));
}
