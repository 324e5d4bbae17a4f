import { z } from "zod";
import { isZero } from "../prices/decimal-price.ts";
import type { PriceRow } from "../prices/price-row.ts";
import { listProviderFormats } from "../profile/list-formats.ts";
import { actionOf } from "../records/action-of.ts";
import { authorOf } from "../records/format-catalog.ts";
import { isFreeId } from "../records/is-free-id.ts";
import { completeModel, isSoundModel } from "../records/is-sound-model.ts";
import { modelSchema, PRICE_NAMES } from "../records/model-schema.ts";
import { familySchema } from "../records/profile-schema.ts";
import { OMITTED_FACTS, providerSchema } from "../records/provider-schema.ts";
import {
  type FamilyProfile,
  listImagePrices,
  type ModelEndpoint,
  type ModelRecord,
  type Prices,
  type PriceTier,
  type ProviderRecord,
} from "../records/records.ts";
import type { TierData } from "../tiers/tier-records.ts";
import { tierDataSchema } from "../tiers/tier-schema.ts";

/** The parsed content of a catalog file, or its problems, each with file and path. */
export type Checked<T> =
  | { readonly value: T; readonly problems: [] }
  | { readonly value: null; readonly problems: string[] };

/** The catalog that an import stores. */
export interface ImportedCatalog {
  readonly source: string;
  readonly models: readonly ModelRecord[];
}

const BRACES = /\{([^}]*)\}/g;
const NAMED_PROBLEMS = 20;

const modelsSchema = z.array(modelSchema);
const familiesSchema = z.array(familySchema);
const providersSchema = z.array(providerSchema).min(1);
const overrideSchema = z.strictObject({ source: z.string().min(1), models: modelsSchema.min(1) });

/** Parses `catalog/providers.json`. */
export function parseProviders(file: string, text: string): Checked<ProviderRecord[]> {
  const json = parseJson(file, text);
  if (json.problem !== null) return { value: null, problems: [json.problem] };
  const read = checkSchema<ProviderRecord[]>(file, json.value, providersSchema);
  if (read.value === null) return read;
  const problems = findProviderProblems(file, read.value);
  return problems.length === 0 ? read : { value: null, problems };
}

/** Parses a file of `catalog/models/`. Checks across files are in `findModelProblems`. */
export function parseModels(file: string, text: string): Checked<ModelRecord[]> {
  const json = parseJson(file, text);
  if (json.problem !== null) return { value: null, problems: [json.problem] };
  const models = completeModels(json.value);
  return models === null
    ? checkSchema<ModelRecord[]>(file, json.value, modelsSchema)
    : { value: models, problems: [] };
}

/** Parses `catalog/profiles.json`. */
export function parseFamilies(file: string, text: string): Checked<FamilyProfile[]> {
  const json = parseJson(file, text);
  if (json.problem !== null) return { value: null, problems: [json.problem] };
  return checkSchema<FamilyProfile[]>(file, json.value, familiesSchema);
}

/** Reads the text of `catalog/providers.json` that was validated before. */
export function readProviders(text: string): ProviderRecord[] {
  return (JSON.parse(text) as readonly ProviderRecord[]).map((row) => ({ ...OMITTED_FACTS, ...row }));
}

/** Reads the text of a file of `catalog/models/` that was validated before. */
export function readModels(text: string): ModelRecord[] {
  return (JSON.parse(text) as readonly Partial<ModelRecord>[]).map(completeModel);
}

/** Parses `catalog/tiers.json`. */
export function parseTiers(file: string, text: string): Checked<TierData> {
  const json = parseJson(file, text);
  if (json.problem !== null) return { value: null, problems: [json.problem] };
  return checkSchema<TierData>(file, json.value, tierDataSchema);
}

/** Parses an imported catalog. */
export function parseImportedCatalog(file: string, text: string): Checked<ImportedCatalog> {
  const json = parseJson(file, text);
  if (json.problem !== null) return { value: null, problems: [json.problem] };
  const { source, models: list, ...rest } = (json.value ?? {}) as Record<string, unknown>;
  const models = completeModels(list);
  const sound = typeof source === "string" && source !== "" && models !== null && models.length > 0;
  if (sound && Object.keys(rest).length === 0) return { value: { source, models }, problems: [] };
  return checkSchema<ImportedCatalog>(file, json.value, overrideSchema);
}

function completeModels(list: unknown): ModelRecord[] | null {
  return Array.isArray(list) && list.every(isSoundModel) ? list.map(completeModel) : null;
}

/** Checks what the schema cannot express: unique ids, known providers, zero prices of free models, ascending tiers. */
export function findModelProblems(
  models: readonly ModelRecord[],
  providers: readonly ProviderRecord[],
): string[] {
  const bySlug = new Map(providers.map((provider) => [provider.slug, provider]));
  const seen = new Set<string>();
  const problems: string[] = [];
  for (const model of models) {
    if (seen.has(model.id)) problems.push(`${model.id}: is listed twice`);
    seen.add(model.id);
    for (const problem of findEndpointProblems(model, bySlug)) problems.push(`${model.id}: ${problem}`);
  }
  return problems;
}

/** Whether a model is in the file of its author. */
export function belongsInFile(model: ModelRecord, file: string): boolean {
  return file.endsWith(`/${authorOf(model.id)}.json`);
}

function* findEndpointProblems(
  model: ModelRecord,
  providers: ReadonlyMap<string, ProviderRecord>,
): Generator<string> {
  const free = isFreeId(model.id);
  // Vendors do not charge for some models that check texts. Such a model needs an account, so that its id does not end in `:free`.
  const isFree = !free && actionOf(model) === "moderations" ? null : free;
  const { endpoints } = model;
  for (const [index, endpoint] of endpoints.entries()) {
    const at = `${endpoint.provider} ${endpoint.name}`;
    const provider = providers.get(endpoint.provider);
    if (provider === undefined) yield `${at}: no such provider in providers.json`;
    else yield* findFormatProblems(at, provider, endpoint);
    if (endpoints.findIndex((other) => isSameEndpoint(other, endpoint)) < index)
      yield `${at}: is listed twice`;
    if (endpoint.prices === null) {
      if (endpoint.priceTiers !== undefined) yield `${at}: price tiers without prices`;
      if (endpoint.priceChanges !== undefined) yield `${at}: price changes without prices`;
      continue;
    }
    yield* findPriceProblems(at, isFree, endpoint);
    let last = "";
    for (const change of endpoint.priceChanges ?? []) {
      if (change.from <= last) yield `${at}: price changes are not in ascending order`;
      last = change.from;
      yield* findPriceProblems(`${at} from ${change.from}`, isFree, change);
    }
  }
}

/**
 * Finds formats that the provider's row does not have, and which therefore have no URL. `format` is not checked: catalogs of version 0.1
 * may have such formats in it.
 */
function* findFormatProblems(
  at: string,
  provider: ProviderRecord,
  { format, formats = [], noToolsWhileReasoning = [] }: ModelEndpoint,
): Generator<string> {
  if (format !== undefined && formats.length > 0) yield `${at}: has both format and formats; remove format`;
  const known = new Set(listProviderFormats(provider));
  for (const name of [...formats, ...noToolsWhileReasoning])
    if (!known.has(name)) yield `${at}: ${provider.slug} does not speak ${name}`;
}

/** `isFree`: whether the model must cost nothing; null: it may. */
function* findPriceProblems(
  at: string,
  isFree: boolean | null,
  { prices, priceTiers = [] }: PriceRow,
): Generator<string> {
  if (prices === null) return;
  if (isFree !== null && isFree !== isFreeOfCharge(prices))
    yield `${at}: :free and a price of zero belong together`;
  yield* findTierProblems(at, priceTiers);
}

function isSameEndpoint(a: ModelEndpoint, b: ModelEndpoint): boolean {
  return a.provider === b.provider && a.name === b.name;
}

function* findTierProblems(at: string, tiers: readonly PriceTier[]): Generator<string> {
  let last = 0;
  for (const tier of tiers) {
    if (tier.minPromptTokens <= last) yield `${at}: price tiers are not in ascending order`;
    last = tier.minPromptTokens;
  }
}

function isFreeOfCharge(prices: Prices): boolean {
  const all = [...PRICE_NAMES.flatMap((name) => prices[name] ?? []), ...listImagePrices(prices)];
  return all.every(isZero);
}

function findProviderProblems(file: string, providers: readonly ProviderRecord[]): string[] {
  const seen = new Set<string>();
  const problems: string[] = [];
  for (const provider of providers) {
    if (seen.has(provider.slug)) problems.push(`${file}: ${provider.slug} is listed twice`);
    seen.add(provider.slug);
    if ((provider.baseUrl === null) !== (provider.baseUrlTemplate !== undefined)) {
      problems.push(`${file}: ${provider.slug} needs one of baseUrl and baseUrlTemplate`);
    }
    if (provider.formats?.[provider.format] !== undefined)
      problems.push(`${file}: ${provider.slug} repeats its main format in formats`);
    for (const problem of findEnvProblems(provider)) problems.push(`${file}: ${provider.slug} ${problem}`);
  }
  return problems;
}

function* findEnvProblems({ env, parts, baseUrlTemplate }: ProviderRecord): Generator<string> {
  if (env.apiKey.length === 0 && env.keyFile === undefined && env.keyPair === undefined)
    yield "has no environment variable for its key";
  for (const [, part] of baseUrlTemplate?.matchAll(BRACES) ?? [])
    if (parts?.[part as string] === undefined) yield `has no entry for {${part}} in parts`;
}

function parseJson(
  file: string,
  text: string,
): { value: unknown; problem: null } | { value: null; problem: string } {
  try {
    return { value: JSON.parse(text), problem: null };
  } catch (error) {
    return { value: null, problem: `${file}: not JSON: ${(error as Error).message}` };
  }
}

function checkSchema<T>(file: string, json: unknown, schema: z.ZodType): Checked<T> {
  const result = schema.safeParse(json);
  if (result.success) return { value: result.data as T, problems: [] };
  const { issues } = result.error;
  const problems = issues
    .slice(0, NAMED_PROBLEMS)
    .map((issue) => `${file}: ${describePath(json, issue.path)}: ${issue.message}`);
  if (issues.length > NAMED_PROBLEMS) problems.push(`${file}: and ${issues.length - NAMED_PROBLEMS} more`);
  return { value: null, problems };
}

/** Formats a path with the names of records after their indexes: `[3] (openai/gpt-4o).endpoints[0].prices`. */
function describePath(json: unknown, path: readonly PropertyKey[]): string {
  let at: unknown = json;
  let text = "";
  for (const key of path) {
    at = typeof at === "object" && at !== null ? (at as Record<PropertyKey, unknown>)[key] : undefined;
    text += typeof key === "number" ? `[${key}]${nameOf(at)}` : `${text === "" ? "" : "."}${String(key)}`;
  }
  return text === "" ? "the file" : text;
}

function nameOf(value: unknown): string {
  if (typeof value !== "object" || value === null) return "";
  const record = value as Record<string, unknown>;
  const name = record["id"] ?? record["slug"] ?? record["provider"];
  return typeof name === "string" ? ` (${name})` : "";
}
