import type { ProviderFormat } from "../../wire/conversation/traits/format-name.ts";
import { CHAT_FORMAT } from "../../wire/formats/traits.ts";

/** The meaning of a provider's name in another gateway's configuration. */
export type KnownProvider =
  /** A provider of the catalog. */
  | { readonly kind: "catalog"; readonly slug: string }
  /** A server of the operator's own. `baseUrl` is its usual address; null if it has none. */
  | { readonly kind: "host"; readonly baseUrl: string | null; readonly format: ProviderFormat };

const catalog = (slug: string): KnownProvider => ({ kind: "catalog", slug });
const host = (baseUrl: string | null = null, format: ProviderFormat = CHAT_FORMAT): KnownProvider => ({
  kind: "host",
  baseUrl,
  format,
});

/** Names that both LiteLLM and Portkey use. */
const COMMON: Readonly<Record<string, KnownProvider>> = {
  anthropic: catalog("anthropic"),
  bedrock: catalog("amazon-bedrock"),
  cerebras: catalog("cerebras"),
  codestral: catalog("codestral"),
  cohere: catalog("cohere"),
  dashscope: catalog("alibaba"),
  deepinfra: catalog("deepinfra"),
  deepseek: catalog("deepseek"),
  groq: catalog("groq"),
  huggingface: catalog("huggingface"),
  inception: catalog("inception"),
  mistral: catalog("mistral"),
  moonshot: catalog("moonshotai"),
  nebius: catalog("nebius"),
  novita: catalog("novita"),
  ollama: host("http://localhost:11434/v1"),
  openai: catalog("openai"),
  openrouter: catalog("openrouter"),
  ovhcloud: catalog("ovhcloud"),
  perplexity: catalog("perplexity"),
  sambanova: host("https://api.sambanova.ai/v1"),
  siliconflow: catalog("siliconflow"),
  upstage: catalog("upstage"),
};

/** Providers by the part of a LiteLLM model before the first slash, and by `custom_llm_provider`. */
export const LITELLM_PROVIDERS: Readonly<Record<string, KnownProvider>> = {
  ...COMMON,
  azure: catalog("azure"),
  azure_ai: host(),
  baseten: catalog("baseten"),
  bedrock_converse: catalog("amazon-bedrock"),
  chutes: catalog("chutes"),
  cloudflare: catalog("cloudflare"),
  cohere_chat: catalog("cohere"),
  custom_openai: host(),
  databricks: host(),
  docker_model_runner: host("http://localhost:12434/engines/llama.cpp/v1"),
  fireworks_ai: catalog("fireworks"),
  friendliai: catalog("friendli"),
  gemini: catalog("google"),
  github: catalog("github-models"),
  gradient_ai: catalog("digitalocean"),
  hosted_vllm: host(),
  litellm_proxy: host(),
  llamafile: host("http://127.0.0.1:8080/v1"),
  lm_studio: host("http://localhost:1234/v1"),
  meta_llama: catalog("llama"),
  minimax: catalog("minimax"),
  nvidia_nim: catalog("nvidia"),
  ollama_chat: host("http://localhost:11434/v1"),
  openai_like: host(),
  oobabooga: host(),
  together_ai: catalog("togetherai"),
  vercel_ai_gateway: host("https://ai-gateway.vercel.sh/v1"),
  vertex_ai: catalog("google-vertex"),
  vertex_ai_beta: catalog("google-vertex"),
  vllm: host(),
  volcengine: host("https://ark.cn-beijing.volces.com/api/v3"),
  wandb: catalog("wandb"),
  xai: catalog("xai"),
  xinference: host(),
  zai: catalog("zai"),
};

/** Providers by `provider` of a Portkey target. */
export const PORTKEY_PROVIDERS: Readonly<Record<string, KnownProvider>> = {
  ...COMMON,
  "azure-ai": host(),
  "azure-openai": catalog("azure"),
  "fireworks-ai": catalog("fireworks"),
  github: catalog("github-models"),
  google: catalog("google"),
  lambda: host("https://api.lambda.ai/v1"),
  "meta-llama": catalog("llama"),
  "mistral-ai": catalog("mistral"),
  ncompass: host(),
  "together-ai": catalog("togetherai"),
  "vertex-ai": catalog("google-vertex"),
  vllm: host(),
  "workers-ai": catalog("cloudflare"),
  "x-ai": catalog("xai"),
  zhipu: catalog("zai"),
};

/** Providers of models that LiteLLM accepts without a provider's name, by a pattern of the model's name. */
export const BARE_MODELS: readonly (readonly [pattern: string, provider: string])[] = [
  ...[
    "gpt-*",
    "chatgpt-*",
    "o1*",
    "o3*",
    "o4*",
    "text-embedding-*",
    "ft:*",
    "tts-*",
    "whisper-*",
    "dall-e-*",
  ].map((pattern) => [pattern, "openai"] as const),
  ["claude-*", "anthropic"],
  ["command*", "cohere"],
  ["embed-*", "cohere"],
  ["gemini-*", "vertex_ai"],
  ["mistral-*", "mistral"],
  ["open-mistral-*", "mistral"],
  ["open-mixtral-*", "mistral"],
  ["codestral-*", "mistral"],
  ["deepseek-*", "deepseek"],
];

/** Returns the provider for a name; null if the table does not have it. */
export function findProvider(
  table: Readonly<Record<string, KnownProvider>>,
  name: string,
): KnownProvider | null {
  return Object.hasOwn(table, name) ? (table[name] as KnownProvider) : null;
}
