import type { Clock } from "../base/clock.ts";
import { applyOverrides } from "../core/catalog/apply-overrides.ts";
import { type Catalog, createCatalog } from "../core/catalog/catalog.ts";
import { endMissing } from "../core/catalog/expiry.ts";
import { listProviderFormats } from "../core/catalog/list-formats.ts";
import type {
  CatalogData,
  ModelEndpoint,
  ModelRecord,
  ProviderRecord,
  SamplingParameter,
} from "../core/catalog/records.ts";
import { addSamplingParameters } from "../core/catalog/sampling-parameters.ts";
import {
  type ByokKeyReading,
  createServedModels,
  type ProviderKey,
  type ServedProvider,
} from "../core/deployments/served-models.ts";
import type { Transport } from "../core/deployments/transport.ts";
import type { UpstreamAddress, UpstreamCall } from "../core/deployments/upstream-address.ts";
import type { Serving } from "../core/generation/call.ts";
import { type AddressReading, createAddress } from "../providers/address/create-address.ts";
import { GOOGLE_TOKEN_URL } from "../providers/address/google-tokens.ts";
import type { FormatName } from "../wire/conversation/format-name.ts";
import type { Config, ProviderConfig } from "./config-schema.ts";
import { ConfigError } from "./load-config.ts";
import { loadTiers } from "./load-tiers.ts";
import { readOverrides, spellPath } from "./override-schema.ts";
import { type Environment, readFirst, readProviderKeys } from "./read-provider-keys.ts";
import { NO_FACTS, SANDBOX_BASE_URL, SANDBOX_MODELS, SANDBOX_PROVIDER } from "./sandbox-catalog.ts";

/** What joining the catalog with the operator's keys takes. */
export interface ServingSources {
  readonly config: Config;
  readonly environment: Environment;
  readonly clock: Clock;
  /** Speaks to providers over the network. */
  readonly transport: Transport;
  /** The built-in provider's. */
  readonly sandboxTransport: Transport;
}

/** What is served, and what the operator should know of it. */
export interface BuiltServing extends Serving {
  readonly notices: readonly string[];
  /** Overrides that do not fit the catalog; they are left out. */
  readonly overrideProblems: readonly string[];
}

/**
 * Joins the catalog's facts with keys and addresses from environment and configuration.
 * @throws ConfigError for a provider that can not be called as configured.
 */
export function buildServing(data: CatalogData, sources: ServingSources): BuiltServing {
  const notices: string[] = [];
  const known = new Map(data.providers.map((record) => [record.slug, record]));
  checkFormats(sources.config, known);
  const records = [...data.providers, ...hostsOf(sources.config, known)].map((record) =>
    withDataFacts(record, sources.config.providers[record.slug]),
  );
  const served = records.flatMap((record) => serveProvider(record, sources, notices) ?? []);
  const hasKeys = served.some(({ keys }) => keys.length > 0);
  const useSandbox = sources.config.sandbox === "on" || (sources.config.sandbox === "auto" && !hasKeys);
  if (useSandbox) served.push(serveSandbox(sources.sandboxTransport));
  const overrides = readOverrides(sources.config.catalog.overrides);
  const { models: listed, problems } = applyOverrides(
    endMissing(data.models, sources.config.catalog.grace_days),
    overrides,
    records,
  );
  const providers = useSandbox ? [...records, SANDBOX_PROVIDER] : records;
  const models = addSamplingParameters(
    mergeModels(listed, hostedModels(sources.config, known), useSandbox ? SANDBOX_MODELS : []),
    providers,
  );
  const catalog: Catalog = createCatalog({ source: data.source, providers, models });
  const tiers = loadTiers(sources.config, catalog, useSandbox, notices);
  return {
    catalog,
    servedModels: createServedModels(models, served, sources.clock.now()),
    tiers,
    notices,
    overrideProblems: problems.map(({ path, message }) => `${spellPath(path)}: ${message}`),
  };
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

/** What the operator's contract with a provider says of data wins over its public policy. */
function withDataFacts(record: ProviderRecord, config: ProviderConfig | undefined): ProviderRecord {
  const { trains_on_data: trains, zero_retention: keepsNothing } = config ?? {};
  if (trains === undefined && keepsNothing === undefined) return record;
  return {
    ...record,
    ...(trains === undefined ? {} : { trainsOnData: trains }),
    ...(keepsNothing === undefined ? {} : { retainsData: !keepsNothing }),
  };
}

/**
 * Rejects formats that cannot be: of a provider of the catalog those that its row does not have.
 * @throws ConfigError
 */
function checkFormats(config: Config, known: ReadonlyMap<string, ProviderRecord>): void {
  for (const [slug, { format, formats }] of Object.entries(config.providers)) {
    if (format !== undefined && formats !== undefined)
      throw new ConfigError(`providers.${slug}.format: formats says it already; leave one of them out`);
    const record = known.get(slug);
    if (record === undefined) continue;
    const spoken = listProviderFormats(record);
    const odd = listConfigured({ format, formats }).find((name) => !spoken.includes(name));
    if (odd !== undefined)
      throw new ConfigError(
        `providers.${slug}.${format === undefined ? "formats" : "format"}: ${slug} does not speak ${odd}, but ${spoken.join(", ")}`,
      );
  }
}

/** The formats that the operator names, in either of the two fields. */
function listConfigured({ format, formats }: Pick<ProviderConfig, "format" | "formats">) {
  return formats ?? (format === undefined ? [] : [format]);
}

/** The formats that a provider is spoken to in. */
function chooseFormats(record: ProviderRecord, config: ProviderConfig | undefined): readonly FormatName[] {
  const configured = config === undefined ? [] : listConfigured(config);
  return configured.length > 0 ? configured : listProviderFormats(record);
}

function describeHost(slug: string, provider: ProviderConfig): ProviderRecord {
  const [format = "openai-chat", ...further] = listConfigured(provider);
  return {
    slug,
    name: provider.name ?? slug,
    format,
    ...(further.length === 0 ? {} : { formats: Object.fromEntries(further.map((name) => [name, {}])) }),
    baseUrl: provider.base_url ?? null,
    env: { apiKey: [], baseUrl: `${slug.toUpperCase().replace(/-/g, "_")}_BASE_URL` },
    toolCallIds: format === "anthropic-messages" || format === "bedrock-converse" ? "anthropic" : "openai",
    parameters: HOST_PARAMETERS,
    quirks: {},
    ...NO_FACTS,
  };
}

/** What vLLM, SGLang, llama.cpp, Ollama and LM Studio all take. */
const HOST_PARAMETERS: readonly SamplingParameter[] = [
  "frequency_penalty",
  "presence_penalty",
  "seed",
  "stop",
];

/**
 * A provider as it is called: with the keys that somebody configured, and with those that accounts bring. Null where
 * neither can be; that it has keys and cannot be called with them, a notice says.
 */
function serveProvider(
  row: ProviderRecord,
  sources: ServingSources,
  notices: string[],
): ServedProvider | null {
  const config = sources.config.providers[row.slug];
  if (config?.enabled === false) return null;
  const record = config?.auth === undefined ? row : { ...row, auth: config.auth };
  const keys = readHouseKeys(record, sources, notices);
  const readByokKey = openToOwnKeys(record, sources, keys.length > 0);
  if (keys.length === 0 && readByokKey === null) return null;
  return {
    record,
    formats: chooseFormats(record, config),
    keys,
    transport: sources.transport,
    readByokKey: readByokKey,
  };
}

function readHouseKeys(record: ProviderRecord, sources: ServingSources, notices: string[]): ProviderKey[] {
  const config = sources.config.providers[record.slug];
  const found = readProviderKeys(record, config, sources.environment, notices);
  if (found.length === 0) return [];
  const secrets = found.map(({ secret }) => secret);
  const reading = readAddress(record, secrets, sources);
  if (reading.kind !== "address") {
    notices.push(describeProblem(record, reading));
    return [];
  }
  const { address } = reading;
  const headers = lowerCase(config?.headers ?? {});
  return found.map((key) => ({ ...key, byokId: null, address, headers }));
}

/** What no secret is; it only stands for one. */
const PROBE = "any-key";

/**
 * How accounts' own keys are made ready for a provider; null where nobody has said where it is. Each has an address of its
 * own, because some depend on the key. The operator's further headers are not sent with them: they may be the
 * gateway's credentials.
 */
function openToOwnKeys(
  record: ProviderRecord,
  sources: ServingSources,
  isServed: boolean,
): ServedProvider["readByokKey"] {
  try {
    if (readAddress(record, [PROBE], sources).kind === "incomplete") return null;
  } catch (error) {
    // A wrong address of a provider that nobody has keys for is no reason not to start.
    if (error instanceof ConfigError && !isServed) return null;
    throw error;
  }
  return (own): ByokKeyReading => {
    const { id, label, secret } = own;
    if (!isSendable(secret, record)) return refuseKey("it has characters that no key has");
    const reading = readAddress(record, [secret], sources);
    if (reading.kind === "incomplete")
      return refuseKey(`this gateway does not know the ${reading.missing.join(" and the ")} to call it at`);
    if (reading.kind === "refused") return refuseKey(reading.reason);
    return { kind: "key", key: { label, secret, byokId: id, address: reading.address, headers: {} } };
  };
}

function refuseKey(reason: string): ByokKeyReading {
  return { kind: "rejected", reason };
}

/** Keys go into a header, but for the files of Google's service accounts. */
function isSendable(secret: string, { address }: ProviderRecord): boolean {
  return /^[\x21-\x7e]+$/.test(secret) || (address === "vertex" && secret.trimStart().startsWith("{"));
}

function readAddress(
  record: ProviderRecord,
  secrets: readonly (string | null)[],
  { config: { providers }, environment, clock, transport }: ServingSources,
): AddressReading {
  const config = providers[record.slug];
  const { baseUrl, baseUrlAliases = [] } = record.env;
  const base = config?.base_url ?? readFirst(environment, [baseUrl, ...baseUrlAliases]);
  if (base !== null) checkBase(base, record);
  const plan = {
    record,
    base,
    parts: readParts(record, config, environment),
    secrets,
  };
  return createAddress(plan, {
    clock,
    transport,
    tokenUrl: new URL(config?.token_url ?? GOOGLE_TOKEN_URL),
  });
}

function readParts(
  record: ProviderRecord,
  config: ProviderConfig | undefined,
  environment: Environment,
): Record<string, string> {
  const parts: Record<string, string> = {};
  for (const [name, part] of Object.entries(record.parts ?? {})) {
    const value = readFirst(environment, part.env) ?? part.default;
    if (value !== undefined) parts[name] = value;
  }
  return { ...parts, ...config?.parts };
}

/** What keeps a provider from being called, and what to set. */
function describeProblem(
  { name, slug, parts, baseUrlTemplate = "", env }: ProviderRecord,
  reading: Exclude<AddressReading, { kind: "address" }>,
): string {
  if (reading.kind === "refused") return `${name} has a key, but cannot be called: ${reading.reason}`;
  const ways = reading.missing.map((part) => {
    const settings = [...(parts?.[part]?.env ?? []), `providers.${slug}.parts.${part}`];
    if (baseUrlTemplate.includes(`{${part}}`)) settings.push(env.baseUrl);
    return `set ${settings.join(" or ")}`;
  });
  return `${name} has a key but no ${reading.missing.join(" and no ")}: ${ways.join(", and ")}`;
}

function checkBase(base: string, record: ProviderRecord): void {
  const where = `${[record.env.baseUrl, ...(record.env.baseUrlAliases ?? [])].join(" or ")} or providers.${record.slug}.base_url`;
  if (!/^https?:\/\//i.test(base) || !URL.canParse(base))
    throw new ConfigError(`${where}: "${base}" is not an http or https address`);
  const url = new URL(base);
  if (url.username !== "" || url.password !== "")
    throw new ConfigError(`${where} must not hold a user name or password`);
  if (url.search !== "" || url.hash !== "") throw new ConfigError(`${where} must end with its path`);
}

function lowerCase(headers: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
}

function serveSandbox(transport: Transport): ServedProvider {
  const urls: Readonly<Partial<Record<UpstreamCall["action"], URL>>> = {
    chat: new URL(`${SANDBOX_BASE_URL}/chat/completions`),
    fim: new URL(`${SANDBOX_BASE_URL}/fim/completions`),
    embeddings: new URL(`${SANDBOX_BASE_URL}/embeddings`),
  };
  const address: UpstreamAddress = {
    urlFor: ({ action }) => urls[action] ?? null,
    headersFor: () => ({}),
    authorize: () => ({}),
  };
  return {
    record: SANDBOX_PROVIDER,
    formats: [SANDBOX_PROVIDER.format],
    keys: [{ label: "sandbox#0", secret: null, byokId: null, address, headers: {} }],
    transport,
    readByokKey: null,
  };
}

const HOSTED_PARAMETERS: readonly string[] = [
  "max_tokens",
  "temperature",
  "top_p",
  "tools",
  "tool_choice",
  "response_format",
];

/** The window of a hosted model of which the operator says none. Tokens. */
const ASSUMED_WINDOW = 32_768;

/** Models of hosts of the operator's own; also further ones at a provider of the catalog. */
function hostedModels(config: Config, known: ReadonlyMap<string, ProviderRecord>): ModelRecord[] {
  return Object.entries(config.providers).flatMap(([slug, provider]) =>
    (provider.models ?? []).map(
      (model): ModelRecord => ({
        id: model.id.toLowerCase(),
        name: model.id,
        description: known.has(slug) ? null : `Served by ${provider.name ?? slug}.`,
        released: model.released ?? null,
        inputModalities: model.input ?? ["text"],
        outputModalities: [model.output],
        tokenizer: null,
        supportedParameters: model.output === "text" ? HOSTED_PARAMETERS : [],
        isUndescribed: true,
        ...(model.input === undefined ? { hasUnknownInputs: true as const } : {}),
        expires: null,
        endpoints: [
          {
            provider: slug,
            name: model.name ?? upstreamNameOf(model.id),
            contextLength: model.context_length ?? ASSUMED_WINDOW,
            ...(model.context_length === undefined ? { isWindowAssumed: true as const } : {}),
            maxOutputTokens: model.max_output_tokens ?? null,
            prices: model.prices,
          },
        ],
      }),
    ),
  );
}

/** What a host calls a model whose `name` is not configured: the id without its author. `:free` is this gateway's word. */
function upstreamNameOf(id: string): string {
  return id.slice(id.indexOf("/") + 1).replace(/:free$/i, "");
}

/** One record a model: who deployments it first gives its facts, the others add their endpoints. */
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
