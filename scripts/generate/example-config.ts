/**
 * Renders `gateway.example.yaml` from the schema of the configuration: every key with its default, or commented out if it
 * has none, and descriptions as comments.
 */
import { join } from "node:path";
import { stringify } from "yaml";
import { z } from "zod";
import { configSchema } from "../../src/app/config/config-schema.ts";

export const EXAMPLE_FILE = join(import.meta.dir, "../..", "gateway.example.yaml");

/** The parts of JSON Schema that the configuration uses. */
interface Schema {
  readonly type?: string;
  readonly description?: string;
  readonly default?: unknown;
  readonly needsRestart?: boolean;
  readonly enum?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema | boolean;
  readonly items?: Schema;
}

/** Values to show for keys that have no default, by their path; `*` is any slug. */
const EXAMPLES: Readonly<Record<string, unknown>> = {
  admin_key: "a-long-random-text",
  "database.url": "postgres://gateway:password@localhost:5432/gateway",
  "database.password_file": "/run/secrets/db_password",
  "storage.retention_days": 90,
  "redis.url": "redis://localhost:6379",
  "metrics.token": "a-long-random-text",
  webhooks: [
    { url: "https://alerts.example.com/gateway", secret: "a-long-random-text-of-32-characters" },
    { url: "https://hooks.slack.com/services/…", format: "slack", events: ["provider.down", "provider.up"] },
  ],
  "console.built_dir": "/usr/share/gateway/console",
  "catalog.source": "./models.json",
  "catalog.price_map": "./prices.json",
  "pricing.rules": [
    { plans: ["pro"], models: ["openai/*"], markup_percent: 5, byok_fee_percent: 1 },
    {
      accounts: ["org_01h455vb4pex5vsknk084sn02q"],
      from: "2027-01-01",
      until: "2027-12-31",
      providers: ["openai"],
      models: ["openai/gpt-4o"],
      prices: { prompt: "0.000002", completion: "0.000008" },
      price_tiers: [{ min_prompt_tokens: 200_000, prompt: "0.000004", completion: "0.000012" }],
    },
    { markup_percent: "12.5" },
  ],
  "catalog.overrides": {
    "openai/gpt-4o": { endpoints: { openai: { prices: { prompt: "0.000002", completion: "0.000008" } } } },
    "openai/gpt-4": { hidden: true },
    "acme/every-key": {
      name: "Every Key",
      description: "A model that the catalog does not have",
      released: "2026-01-31",
      input_modalities: ["text", "image"],
      output_modalities: ["text"],
      tokenizer: null,
      supported_parameters: ["max_tokens", "temperature", "tools", "reasoning"],
      reasoning: {
        efforts: ["low", "high"],
        budget_tokens: { min: 0, max: 32_000 },
        can_disable: true,
        only_when_told: true,
      },
      takes: {
        sampling: true,
        prefill: false,
        forced_tools: true,
        reasoning: "when-told",
        adaptive: false,
        budgets: true,
        default_effort: "low",
        mid_conversation_system: true,
        cache_min_tokens: 1024,
        cache_breakpoints: true,
        structured_output: true,
        temperature: { min: 0, max: 1 },
        stop: { list: true },
        top_p: { not_with: { parameter: "temperature", values: [0] } },
        logprobs: { values: [false], while_reasoning: true },
      },
      expires: null,
      endpoints: {
        openai: {
          name: "its-name-there",
          formats: ["openai-responses", "openai-chat"],
          no_tools_while_reasoning: ["openai-chat"],
          context_length: 200_000,
          max_prompt_tokens: 180_000,
          max_output_tokens: 20_000,
          prices: {
            prompt: "0.000002",
            completion: "0.000008",
            cache_read: "0.0000002",
            cache_write: "0.0000025",
            cache_write_1h: "0.000004",
            audio_in: "0.00004",
            audio_out: "0.00008",
            reasoning: "0.000008",
            request: "0.001",
            image: "0.001",
            image_out: "0.00003",
            request_medium: "0.008",
            request_high: "0.012",
            search: "0.01",
            searched_request: "0.014",
            character: "0.000015",
            audio_second: "0.0001",
            generated_image: "0.04",
            image_variants: [{ quality: "hd", size: "1024x1536", price: "0.08" }],
          },
          price_tiers: [{ min_prompt_tokens: 100_001, prompt: "0.000004", completion: "0.000012" }],
          price_changes: [{ from: "2027-01-01", prices: { prompt: "0.000001", completion: "0.000004" } }],
          lacks: ["image"],
          takes: { seed: "no", stop: "yes" },
          takes_here: { cache_min_tokens: 4096 },
          expires: "2027-12-31",
          hidden: false,
        },
      },
    },
  },
  "limits.per_key.requests_per_minute": 60,
  "limits.per_key.tokens_per_minute": 200_000,
  "limits.per_key.concurrent": 10,
  "limits.per_account.requests_per_minute": 600,
  "limits.per_account.tokens_per_minute": 2_000_000,
  "limits.per_account.concurrent": 100,
  "limits.per_model.requests_per_minute": 1_000,
  "limits.per_model.tokens_per_minute": 4_000_000,
  "limits.per_model.concurrent": 200,
  "limits.models": { "*:free": { requests_per_minute: 60 }, "openai/*": { tokens_per_minute: 1_000_000 } },
  "policy.allowed_models": ["anthropic/*", "openai/gpt-5*"],
  "policy.allowed_providers": ["anthropic", "openai", "azure*"],
  tiers: [
    {
      id: "gateway-auto/fast",
      name: "Fast",
      description: "Quick answers, better ones for plans.",
      released: "2026-05-31",
      rule: {
        by: "header",
        header: "x-gateway-mode",
        cases: [
          {
            values: ["plan", "debug"],
            pick: { models: ["openai/gpt-5.4-mini"], reasoning: "low", verbosity: "low" },
          },
        ],
        else: { models: ["google/gemini-3.1-flash-lite", "openai/gpt-5.4-nano"] },
      },
    },
    {
      id: "gateway-auto/small",
      name: "Small",
      rule: {
        by: "balance",
        paid: { models: ["mistralai/mistral-small-latest"] },
        else: { models: ["openai/gpt-oss-20b:free"] },
      },
    },
    {
      id: "gateway-auto/free",
      name: "Free",
      rule: { by: "free", except: ["*-preview:free"], last: ["openai/gpt-oss-20b:free"] },
    },
  ],
  named_routes: {
    "gpt-4o": { kind: "alias", target: "openai/gpt-5.4-mini" },
    trial: {
      kind: "group",
      sticky: "session",
      targets: [
        { model: "openai/gpt-5.4-mini", weight: 90, shadow: { model: "qwen/qwen3.5-flash", share: 0.05 } },
        { model: "qwen/qwen3.7-plus", weight: 10 },
      ],
    },
    "openai/gpt-4.1": { kind: "alias", target: "openai/gpt-5.4", replaces_model: true },
    "groq/*": { kind: "alias", target: "*", provider: "groq" },
  },
  guardrails: [
    { name: "no-secrets", kind: "regex", action: "block", patterns: ["sk-[A-Za-z0-9]{20,}"] },
    {
      name: "personal-data",
      kind: "pii",
      on: "both",
      action: "mask",
      types: ["email", "credit_card"],
      models: ["openai/*"],
    },
    {
      name: "injection",
      kind: "injection",
      action: "warn",
      phrases: ["open sesame"],
      teams: ["team_01h455vb4pex5vsknk084sn02q"],
    },
    {
      name: "policy",
      kind: "webhook",
      on: "both",
      url: "https://checks.example.com/texts",
      secret: "0123456789abcdef0123456789abcdef",
      timeout_ms: 2_000,
      on_error: "block",
      stream: "hold",
    },
  ],
  "providers.*.send": { fields: ["web_search_options"], tools: ["file_search"] },
  "providers.*.trains_on_data": false,
  "providers.*.zero_retention": true,
  "providers.*.takes": { logit_bias: "no", temperature: { min: 0, max: 1 } },
  "console.url": "https://gateway.example.com",
  "console.oidc.issuer": "https://login.example.com",
  "console.oidc.client_id": "gateway",
  "console.oidc.client_secret": "what-the-provider-shows",
  "console.oidc.client_secret_file": "/run/secrets/oidc-client",
  "console.oidc.rules": [
    { claim: "groups", value: "gateway-operators", operator: true },
    { claim: "groups", value: "engineering", organization: "org_…", role: "member" },
    {
      ...{ claim: "groups", value: "search-leads", organization: "org_…", role: "member" },
      ...{ teams: ["Search"], lead: true },
    },
  ],
  "billing.buy_credits_url": "https://example.com/credits",
  "billing.webhook_secret": "another-long-random-text-of-at-least-32-characters",
  "providers.*.base_url": "http://127.0.0.1:8000/v1",
  "providers.*.api_keys": ["what-vllm-was-started-with"],
  "providers.*.headers": { "x-team": "search" },
  "providers.*.auth": "bearer",
  "providers.*.formats": ["openai-chat", "openai-responses", "anthropic-messages"],
  "providers.*.name": "vLLM",
  "providers.*.models.id": "qwen/qwen3-32b",
  "providers.*.models.name": "Qwen/Qwen3-32B",
  "providers.*.models.copy_of": "qwen/qwen3-32b",
  "providers.*.models.input": ["text", "image"],
  "providers.*.models.context_length": 32_768,
  "providers.*.models.released": "2026-05-31",
  "providers.*.models.max_output_tokens": 8_192,
  "providers.*.models.takes": { seed: "no", top_k: { max: 100 } },
  "providers.*.models.prices": {
    prompt: "0.0000003",
    completion: "0.0000012",
    cache_read: "0.00000003",
    cache_write: "0.000000375",
    request: "0",
    image: "0",
    search: "0",
    character: "0",
    audio_second: "0",
    generated_image: "0",
    image_variants: [{ quality: "hd", size: "1024x1024", price: "0" }],
  },
  "providers.*.models.price_tiers": [
    { min_prompt_tokens: 128_000, prompt: "0.0000006", completion: "0.0000024" },
  ],
  "providers.*.models.price_changes": [
    { from: "2027-01-01", prices: { prompt: "0.0000002", completion: "0.0000008" } },
  ],
};

/** Keys that do not apply to self-hosted servers, or exclude another key. The short examples show them. */
const NOT_FOR_HOSTS = new Set(["parts", "token_url", "format"]);

/** Examples besides the provider with all keys. */
const SHORT_PROVIDERS = [
  {
    about:
      "A provider of the catalog with several keys. The next key is tried if one is rejected or rate limited. A key with weight 0 is only used then.",
    value: {
      openai: {
        api_keys: [
          { id: "main", key: "sk-first", weight: 1, enabled: true },
          { id: "spare", key: "sk-second", weight: 0 },
        ],
      },
    },
  },
  {
    about: "Azure OpenAI: the base URL depends on the resource of the provider account.",
    value: { azure: { api_keys: ["what-azure-shows"], parts: { resource: "my-resource" } } },
  },
  {
    about:
      "Vertex AI with the key file that GOOGLE_APPLICATION_CREDENTIALS names. token_url is needed only for another token endpoint.",
    value: {
      "google-vertex": {
        parts: { project: "my-project", location: "europe-west4" },
        token_url: "https://oauth2.googleapis.com/token",
      },
    },
  },
  {
    about: "Ollama with its default port, called in one of its formats.",
    value: {
      ollama: {
        base_url: "http://127.0.0.1:11434/v1",
        format: "openai-chat",
        models: [{ id: "ollama/llama3.2", name: "llama3.2", prices: { prompt: "0", completion: "0" } }],
      },
    },
  },
] as const;

const HEADING = [
  "# All configuration keys with their defaults. Copy the keys that you change to gateway.yaml, or to a file",
  "# that GATEWAY_CONFIG names. Environment variables take precedence over the file.",
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the syntax of references
  "# Texts may refer to variables and files: ${NAME}, ${NAME:-default}, ${file:/path} (docs/configuration.md).",
  "# A reload (SIGHUP) applies changes, except to settings that need a restart.",
  "# `gateway config print` shows the effective configuration. Generated by `npm run generate`.",
];

/** Returns the text of the example file. */
export function renderExampleConfig(): string {
  const schema = z.toJSONSchema(configSchema, { io: "input" }) as Schema;
  const blocks = Object.entries(schema.properties ?? {}).map(([key, member]) =>
    renderMember(key, member, key),
  );
  const lines = [HEADING, ...blocks, renderProviders(schema)].flatMap((block) => [...block, ""]);
  return `${lines.join("\n").trimEnd()}\n`;
}

/** Renders a key at the top level. Keys without a default are commented out, and so are sections without any default. */
function renderMember(key: string, schema: Schema, path: string): string[] {
  const bare = renderBare(key, schema, path);
  if (schema.properties === undefined) return hasDefault(schema) ? bare : commentOutValue(bare);
  const members = Object.entries(schema.properties);
  // A section without a default is optional, and some of its keys may be required.
  const isOptional = schema.default === undefined;
  if (isOptional || !members.some(([, member]) => hasDefault(member))) return commentOutValue(bare);
  const lines = members.flatMap(([name, member]) => renderMember(name, member, `${path}.${name}`));
  return [...renderComment(schema), `${key}:`, ...indent(lines)];
}

/** Renders a key with all its members, whether they have a default or not. */
function renderBare(key: string, schema: Schema, path: string): string[] {
  const comment = renderComment(schema);
  if (schema.items?.properties !== undefined && EXAMPLES[path] === undefined) {
    const [first = "", ...rest] = renderMembers(schema.items, path);
    return [...comment, `${key}:`, `  - ${first}`, ...indent(indent(rest))];
  }
  if (schema.properties !== undefined && !hasDefault(schema) && EXAMPLES[path] === undefined)
    return [...comment, `${key}:`, ...indent(renderMembers(schema, path))];
  return [...comment, ...toYaml({ [key]: EXAMPLES[path] ?? schema.default ?? exampleOf(path) })];
}

function renderMembers(schema: Schema, path: string): string[] {
  return Object.entries(schema.properties ?? {}).flatMap(([key, member]) =>
    renderBare(key, member, `${path}.${key}`),
  );
}

/** An empty object is not a default: every section has it. */
function hasDefault({ default: value, properties }: Schema): boolean {
  return value !== undefined && !(properties !== undefined && Object.keys(value as object).length === 0);
}

/** Renders short examples of providers, and one with every key. */
function renderProviders(schema: Schema): string[] {
  const provider = schema.properties?.["providers"]?.additionalProperties as Schema;
  const short = SHORT_PROVIDERS.flatMap(({ about, value }) => [`# ${about}`, ...toYaml(value), ""]);
  const whole = [
    "# All keys of a provider, for vLLM.",
    "vllm:",
    ...indent(renderMembers(forHosts(provider), "providers.*")),
  ];
  return ["# Providers, for example:", "#", ...commentOut(["providers:", ...indent([...short, ...whole])])];
}

function forHosts(provider: Schema): Schema {
  const members = Object.entries(provider.properties ?? {}).filter(([key]) => !NOT_FOR_HOSTS.has(key));
  return { ...provider, properties: Object.fromEntries(members) };
}

function exampleOf(path: string): unknown {
  const example = EXAMPLES[path];
  if (example === undefined)
    throw new Error(`${path} has no default: give it an example in ${import.meta.file}`);
  return example;
}

function toYaml(value: unknown): string[] {
  return stringify(value, { lineWidth: 0 }).trimEnd().split("\n");
}

const COMMENT_CHARS = 100;

function renderComment({ description, enum: words, needsRestart }: Schema): string[] {
  const choice = words && `One of: ${words.join(", ")}.`;
  const text = [description, choice, needsRestart && "Needs a restart."].filter(Boolean).join(" ");
  const lines: string[] = [];
  for (const word of text.split(" ")) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + word.length < COMMENT_CHARS)
      lines[lines.length - 1] = `${last} ${word}`;
    else if (word !== "") lines.push(`# ${word}`);
  }
  return lines;
}

function indent(lines: readonly string[]): string[] {
  return lines.map((line) => (line === "" ? "" : `  ${line}`));
}

function commentOutValue(lines: readonly string[]): string[] {
  return lines.map((line) => (line.startsWith("#") ? line : `# ${line}`));
}

function commentOut(lines: readonly string[]): string[] {
  return lines.map((line) => `# ${line}`.trimEnd());
}
