import { type Catalog, createCatalog } from "../core/catalog/catalog.ts";
import type { CatalogData, ModelEndpoint, ModelRecord, ProviderRecord } from "../core/catalog/records.ts";
import type { Serving } from "../core/generation/call.ts";
import type { Transport } from "../core/ports/transport.ts";
import {
  createRoster,
  type ProviderKey,
  type ServedProvider,
  SPOKEN_FORMATS,
} from "../core/routing/roster.ts";
import type { Config, ProviderConfig } from "./config-schema.ts";
import { ConfigError } from "./load-config.ts";
import { SANDBOX_BASE_URL, SANDBOX_MODELS, SANDBOX_PROVIDER } from "./sandbox-catalog.ts";

type Environment = Readonly<Record<string, string | undefined>>;

/** What joining the catalog with the operator's keys takes. */
export interface ServingSources {
  readonly config: Config;
  readonly environment: Environment;
  /** Speaks to providers over the network. */
  readonly transport: Transport;
  /** The built-in provider's. */
  readonly sandboxTransport: Transport;
}

/** What is served, and what the operator should know of it. */
export interface BuiltServing extends Serving {
  readonly notices: readonly string[];
}

/**
 * Joins the catalog's facts with keys and addresses from environment and configuration.
 * @throws ConfigError for a provider that can not be called as configured.
 */
export function buildServing(data: CatalogData, sources: ServingSources): BuiltServing {
  const notices: string[] = [];
  const known = new Map(data.providers.map((record) => [record.slug, record]));
  const records = [...data.providers, ...hostsOf(sources.config, known)];
  const served = records.flatMap((record) => serveProvider(record, sources, notices) ?? []);
  const useSandbox =
    sources.config.sandbox === "on" || (sources.config.sandbox === "auto" && served.length === 0);
  if (useSandbox) served.push(serveSandbox(sources.sandboxTransport));
  const models = mergeModels(
    data.models,
    hostedModels(sources.config, known),
    useSandbox ? SANDBOX_MODELS : [],
  );
  const catalog: Catalog = createCatalog({
    source: data.source,
    providers: useSandbox ? [...records, SANDBOX_PROVIDER] : records,
    models,
  });
  return { catalog, roster: createRoster(models, served), notices };
}

/** Hosts that only the configuration knows. */
function hostsOf(config: Config, known: ReadonlyMap<string, ProviderRecord>): ProviderRecord[] {
  return Object.entries(config.providers)
    .filter(([slug]) => !known.has(slug))
    .map(([slug, provider]) => {
      if (provider.base_url === undefined || provider.models === undefined) {
        throw new ConfigError(
          `providers.${slug} is not in the catalog: give its base_url and models, or correct the name`,
        );
      }
      return describeHost(slug, provider);
    });
}

function describeHost(slug: string, provider: ProviderConfig): ProviderRecord {
  return {
    slug,
    name: provider.name ?? slug,
    format: "openai-chat",
    baseUrl: provider.base_url ?? null,
    env: { apiKey: [], baseUrl: `${slug.toUpperCase().replace(/-/g, "_")}_BASE_URL` },
    toolCallIds: "openai",
    quirks: {},
    privacyPolicyUrl: null,
    termsOfServiceUrl: null,
    statusPageUrl: null,
    headquarters: null,
    datacenters: null,
  };
}

/** A provider as it is called; null when nobody configured it. */
function serveProvider(
  record: ProviderRecord,
  sources: ServingSources,
  notices: string[],
): ServedProvider | null {
  const config = sources.config.providers[record.slug];
  if (config?.enabled === false) return null;
  const keys = readKeys(record, config, sources.environment);
  if (keys.length === 0) return null;
  if (!SPOKEN_FORMATS.has(record.format)) {
    notices.push(
      `${record.name} has a key, but its API format (${record.format}) is not spoken by this version yet`,
    );
    return null;
  }
  const base = config?.base_url ?? readVariable(sources.environment, record.env.baseUrl) ?? record.baseUrl;
  if (base === null) {
    notices.push(
      `${record.name} has a key but no address: set ${record.env.baseUrl} or providers.${record.slug}.base_url`,
    );
    return null;
  }
  return {
    record,
    chatUrl: chatUrlOf(base, record),
    keys,
    headers: lowerCase(config?.headers ?? {}),
    transport: sources.transport,
  };
}

function readKeys(
  record: ProviderRecord,
  config: ProviderConfig | undefined,
  environment: Environment,
): ProviderKey[] {
  const fromEnvironment = record.env.apiKey
    .map((name) => readVariable(environment, name))
    .find((key) => key !== null);
  const secrets = config?.api_keys ?? (fromEnvironment ? [fromEnvironment] : []);
  if (secrets.length > 0)
    return secrets.map((key, place) => ({ label: `${record.slug}#${place}`, secret: key }));
  // A host of one's own may want no key.
  return config?.base_url !== undefined && config.models !== undefined
    ? [{ label: `${record.slug}#0`, secret: null }]
    : [];
}

function readVariable(environment: Environment, name: string): string | null {
  const value = environment[name]?.trim();
  return value ? value : null;
}

function chatUrlOf(base: string, record: ProviderRecord): URL {
  const text = `${base.replace(/\/+$/, "")}/chat/completions`;
  const where = `${record.env.baseUrl} or providers.${record.slug}.base_url`;
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text))
    throw new ConfigError(`${where}: "${base}" is not an http or https address`);
  const url = new URL(text);
  if (url.username !== "" || url.password !== "")
    throw new ConfigError(`${where} must not hold a user name or password`);
  return url;
}

function lowerCase(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

function serveSandbox(transport: Transport): ServedProvider {
  return {
    record: SANDBOX_PROVIDER,
    chatUrl: new URL(`${SANDBOX_BASE_URL}/chat/completions`),
    keys: [{ label: "sandbox#0", secret: null }],
    headers: {},
    transport,
  };
}

/** Models of hosts of the operator's own; also further ones at a provider of the catalog. */
function hostedModels(config: Config, known: ReadonlyMap<string, ProviderRecord>): ModelRecord[] {
  return Object.entries(config.providers).flatMap(([slug, provider]) =>
    (provider.models ?? []).map(
      (model): ModelRecord => ({
        id: model.id.toLowerCase(),
        name: model.id,
        description: known.has(slug) ? null : `Served by ${provider.name ?? slug}.`,
        released: null,
        inputModalities: ["text"],
        outputModalities: ["text"],
        tokenizer: null,
        supportedParameters: [
          "max_tokens",
          "temperature",
          "top_p",
          "stop",
          "tools",
          "tool_choice",
          "response_format",
        ],
        expires: null,
        endpoints: [
          {
            provider: slug,
            name: model.name ?? model.id.slice(model.id.indexOf("/") + 1),
            contextLength: model.context_length,
            maxOutputTokens: model.max_output_tokens ?? null,
            prices: model.prices,
          },
        ],
      }),
    ),
  );
}

/** One record a model: who offers it first gives its facts, the others add their endpoints. */
function mergeModels(...lists: readonly (readonly ModelRecord[])[]): ModelRecord[] {
  const merged = new Map<string, ModelRecord>();
  for (const model of lists.flat()) {
    const earlier = merged.get(model.id);
    merged.set(
      model.id,
      earlier === undefined ? model : { ...earlier, endpoints: joinEndpoints(earlier, model) },
    );
  }
  return [...merged.values()];
}

/** What the operator says of an endpoint wins over the catalog. */
function joinEndpoints(earlier: ModelRecord, later: ModelRecord): ModelEndpoint[] {
  const replaced = new Set(later.endpoints.map(({ provider }) => provider));
  return [...earlier.endpoints.filter(({ provider }) => !replaced.has(provider)), ...later.endpoints];
}
