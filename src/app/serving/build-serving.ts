import { isDeepStrictEqual } from "node:util";
import { addProfiles } from "../../core/catalog/profile/endpoint-profile.ts";
import { listProviderFormats } from "../../core/catalog/profile/list-formats.ts";
import { endMissing } from "../../core/catalog/records/expiry.ts";
import type {
  CatalogWithFamilies,
  ModelEndpoint,
  ModelRecord,
  ProviderRecord,
} from "../../core/catalog/records/records.ts";
import { applyOverrides } from "../../core/catalog/served/apply-overrides.ts";
import { createCatalog } from "../../core/catalog/served/catalog.ts";
import { createServedModels } from "../../core/deployments/served-models.ts";
import type { ServedProvider } from "../../core/deployments/served-provider.ts";
import type { Transport } from "../../core/deployments/transport.ts";
import type { UpstreamAddress, UpstreamCall } from "../../core/deployments/upstream-address.ts";
import type { Serving } from "../../core/generation/call/call.ts";
import { loadTiers } from "../catalog/load-tiers.ts";
import { SANDBOX_BASE_URL, SANDBOX_MODELS, SANDBOX_PROVIDER } from "../catalog/sandbox-catalog.ts";
import { type ConfigProblem, collectProblems } from "../config/config-error.ts";
import type { Config, ProviderConfig } from "../config/config-schema.ts";
import { problemAt } from "../config/load-config.ts";
import { readOverrides, readTakenParameters, spellPath } from "../config/override-schema.ts";
import { listConfiguredFormats, listConfiguredHosts, listConfiguredModels } from "./configured-hosts.ts";
import { createCopyFinder, findCopyProblems } from "./copied-models.ts";
import { loadNamedRoutes } from "./load-named-routes.ts";
import { type ServingSources, serveProvider } from "./serve-provider.ts";

/** The served models, and messages to the operator about them. */
export interface BuiltServing extends Serving {
  readonly notices: readonly string[];
  /** Providers that cannot be called as configured. They are not served. */
  readonly providerProblems: readonly ConfigProblem[];
  /** Models of the configuration that copy one which the catalog does not have. */
  readonly copyProblems: readonly ConfigProblem[];
  /** Overrides that do not fit the catalog. They are not applied. */
  readonly overrideProblems: readonly ConfigProblem[];
}

/** Joins the catalog with keys and base URLs of environment and configuration, and with its tiers and named routes. */
export function buildServing(data: CatalogWithFamilies, sources: ServingSources): BuiltServing {
  const { config, clock } = sources;
  const notices: string[] = [];
  const rows = new Map(data.providers.map((record) => [record.slug, record]));
  const providerProblems: ConfigProblem[] = findFormatProblems(config, rows);
  const records = [...data.providers, ...listConfiguredHosts(config, rows, providerProblems)].map((record) =>
    withOperatorFacts(record, config.providers[record.slug]),
  );
  const served = records.flatMap((record): ServedProvider[] => {
    const provider = collectProblems(providerProblems, () => serveProvider(record, sources, notices));
    return provider === null ? [] : [{ ...provider, families: data.families }];
  });
  const hasKeys = served.some(({ keys }) => keys.length > 0);
  const hasSandbox = config.sandbox === "on" || (config.sandbox === "auto" && !hasKeys);
  if (hasSandbox) served.push(serveSandbox(sources.sandboxTransport));
  const { models: listed, problems } = applyOverrides(
    endMissing(data.models, config.catalog.grace_days),
    readOverrides(config.catalog.overrides),
    records,
  );
  const providers = hasSandbox ? [...records, SANDBOX_PROVIDER] : records;
  const models = addProfiles(
    mergeModels(
      listed,
      listConfiguredModels(config, rows, createCopyFinder(listed)),
      hasSandbox ? SANDBOX_MODELS : [],
    ),
    providers,
    data.families,
  );
  const catalog = createCatalog({ source: data.source, providers, models });
  const { tiers, notices: tierNotices } = loadTiers({ config, catalog, hasSandbox });
  return {
    catalog,
    servedModels: createServedModels(models, served, clock.now()),
    tiers,
    namedRoutes: loadNamedRoutes(config),
    notices: [...notices, ...tierNotices],
    providerProblems,
    copyProblems: findCopyProblems(config, listed),
    overrideProblems: problems.map(({ path, message }) => problemAt(config, spellPath(path), message)),
  };
}

/** Returns the same served models with the tiers and named routes of a configuration that `hasSameModels`. */
export function replaceNames(serving: BuiltServing, config: Config): BuiltServing {
  const { catalog, servedModels } = serving;
  const hasSandbox = servedModels.provider(SANDBOX_PROVIDER.slug) !== undefined;
  return {
    ...serving,
    tiers: loadTiers({ config, catalog, hasSandbox }).tiers,
    namedRoutes: loadNamedRoutes(config),
  };
}

/** Returns whether two configurations have the same models and providers, so that `replaceNames` suffices. */
export function hasSameModels(one: Config, other: Config): boolean {
  const partOf = ({ providers, sandbox, catalog: { overrides, grace_days } }: Config) => [
    ...[providers, sandbox, overrides, grace_days],
  ];
  return isDeepStrictEqual(partOf(one), partOf(other));
}

/** Returns the row with the operator's facts about the provider: its contract, and the parameters that it takes. */
function withOperatorFacts(record: ProviderRecord, config: ProviderConfig | undefined): ProviderRecord {
  const { trains_on_data: trains, zero_retention: retainsNothing, send, takes } = config ?? {};
  if ([trains, retainsNothing, send, takes].every((fact) => fact === undefined)) return record;
  return {
    ...record,
    ...(trains === undefined ? {} : { trainsOnData: trains }),
    ...(retainsNothing === undefined ? {} : { retainsData: !retainsNothing }),
    ...(send === undefined ? {} : { sends: { fields: send.fields ?? [], tools: send.tools ?? [] } }),
    ...(takes === undefined ? {} : { takesByOperator: readTakenParameters(takes) }),
  };
}

/** Finds formats that a provider of the catalog does not speak. */
function findFormatProblems(config: Config, rows: ReadonlyMap<string, ProviderRecord>): ConfigProblem[] {
  return Object.entries(config.providers).flatMap(([slug, { format, formats }]) => {
    const reject = (field: string, text: string) => problemAt(config, ["providers", slug, field], text);
    if (format !== undefined && formats !== undefined)
      return reject("format", "conflicts with formats; remove one of them");
    const record = rows.get(slug);
    if (record === undefined) return [];
    const spoken = listProviderFormats(record);
    const unknown = listConfiguredFormats({ format, formats }).find((name) => !spoken.includes(name));
    if (unknown === undefined) return [];
    const text = `names ${unknown}, which ${slug} does not speak, but ${spoken.join(", ")}`;
    return reject(format === undefined ? "formats" : "format", text);
  });
}

function serveSandbox(transport: Transport): ServedProvider {
  const urls: Readonly<Partial<Record<UpstreamCall["action"], URL>>> = {
    chat: new URL(`${SANDBOX_BASE_URL}/chat/completions`),
    fim: new URL(`${SANDBOX_BASE_URL}/fim/completions`),
    embeddings: new URL(`${SANDBOX_BASE_URL}/embeddings`),
    moderations: new URL(`${SANDBOX_BASE_URL}/moderations`),
    rerank: new URL(`${SANDBOX_BASE_URL}/rerank`),
    images: new URL(`${SANDBOX_BASE_URL}/images/generations`),
    speech: new URL(`${SANDBOX_BASE_URL}/audio/speech`),
    transcriptions: new URL(`${SANDBOX_BASE_URL}/audio/transcriptions`),
  };
  const address: UpstreamAddress = {
    urlFor: ({ action }) => urls[action] ?? null,
    headersFor: () => ({}),
    authorize: () => ({}),
  };
  return {
    record: SANDBOX_PROVIDER,
    families: [],
    formats: [SANDBOX_PROVIDER.format],
    keys: [{ label: "sandbox#0", secret: null, weight: 1, byokId: null, address, headers: {} }],
    transport,
    readByokKey: null,
  };
}

/** Merges lists into one record per model. The first list with a model describes it, the others add or replace endpoints. */
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

/** Later endpoints replace earlier ones of the same provider. */
function joinEndpoints(earlier: ModelRecord, later: ModelRecord): ModelEndpoint[] {
  const replaced = new Set(later.endpoints.map(({ provider }) => provider));
  return [...earlier.endpoints.filter(({ provider }) => !replaced.has(provider)), ...later.endpoints];
}
