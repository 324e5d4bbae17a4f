import { z } from "zod";
import { PROVIDER_FORMATS } from "../../../wire/conversation/traits/format-name.ts";
import { SAMPLING_PARAMETERS } from "../../../wire/conversation/traits/sampling-parameters.ts";
import { isZero } from "../prices/decimal-price.ts";
import type { PriceRow } from "../prices/price-row.ts";
import { listProviderFormats } from "../profile/list-formats.ts";
import { familiesSchema, takenParametersSchema } from "../profile/profile-schema.ts";
import { actionOf } from "../records/action-of.ts";
import { authorOf } from "../records/format-catalog.ts";
import { isFreeId } from "../records/is-free-id.ts";
import {
  completeModel,
  IMAGE_SIZE,
  isSoundModel,
  MODEL_ID,
  MODEL_ID_CHARS,
  PRICE,
  SLUG,
  SOLE_OUTPUTS,
} from "../records/is-sound-model.ts";
import {
  ADDRESS_SCHEMES,
  AUTH_KINDS,
  type ChargeRule,
  type FamilyProfile,
  listImagePrices,
  type ModelEndpoint,
  type ModelRecord,
  PRICE_NAMES,
  type PriceName,
  type Prices,
  type PriceTier,
  type ProviderRecord,
  REASONING_HABITS,
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

const ENV_NAME = /^[A-Z][A-Z0-9_]*$/;
const PART = /^[a-z][a-z_]*$/;
const BRACES = /\{([^}]*)\}/g;
const NAMED_PROBLEMS = 20;

const formatSchema = z.enum(PROVIDER_FORMATS);
const formats = z.array(formatSchema).min(1);
const price = z.string().regex(PRICE, "not a decimal string in lowest form");
const day = z.iso.date();
const tokens = z.int().positive();
const httpsUrl = z.url({ protocol: /^https$/ });

/** The members of the schema of `ImageVariant`. */
const variantShape = {
  quality: z.string().min(1).optional(),
  size: z.string().regex(IMAGE_SIZE, "not of the form 1024x1024").optional(),
  price,
};

// The `…Shape` constants are the members of the schemas of `Prices`, `PriceTier`, `PriceChange`, `ModelEndpoint` and `ModelRecord`.
export const pricesShape = {
  prompt: price,
  completion: price,
  cacheRead: price.optional(),
  cacheWrite: price.optional(),
  cacheWrite1h: price.optional(),
  audioIn: price.optional(),
  audioOut: price.optional(),
  reasoning: price.optional(),
  imageOut: price.optional(),
  request: price.optional(),
  requestMedium: price.optional(),
  requestHigh: price.optional(),
  image: price.optional(),
  search: price.optional(),
  searchedRequest: price.optional(),
  character: price.optional(),
  audioSecond: price.optional(),
  generatedImage: price.optional(),
  imageVariants: z.array(z.strictObject(variantShape)).min(1).optional(),
};

const prices = z.strictObject(pricesShape);
export const tierShape = { minPromptTokens: tokens, ...pricesShape };
const tiers = z.array(z.strictObject(tierShape)).min(1);
export const priceChangeShape = { from: day, prices, priceTiers: tiers.optional() };

const termsShape = {
  prices: prices.nullable(),
  priceTiers: tiers.optional(),
  priceChanges: z.array(z.strictObject(priceChangeShape)).min(1).optional(),
};

/** The schema of an endpoint's price fields in files. */
export const priceTermsSchema = z.strictObject(termsShape);

export const takesShape = {
  sampling: z.boolean().optional(),
  prefill: z.boolean().optional(),
  forcedTools: z.boolean().optional(),
  reasoning: z.enum(REASONING_HABITS).optional(),
  adaptive: z.boolean().optional(),
  budgets: z.boolean().optional(),
  defaultEffort: z.string().min(1).optional(),
  midConversationSystem: z.boolean().optional(),
  cacheMinTokens: tokens.optional(),
  cacheBreakpoints: z.boolean().optional(),
  structuredOutput: z.boolean().optional(),
};

/** The schema of `ModelTakes`. */
export const takesSchema = z.strictObject(takesShape);

export const endpointShape = {
  provider: z.string().regex(SLUG),
  name: z.string().min(1),
  format: formatSchema.optional(),
  formats: formats.optional(),
  noToolsWhileReasoning: formats.optional(),
  contextLength: tokens,
  maxPromptTokens: tokens.optional(),
  maxOutputTokens: tokens.nullable().default(null),
  ...termsShape,
  lacks: z.array(z.string().min(1)).optional(),
  takesHere: takesSchema.optional(),
  fromPriceMap: z.literal(true).optional(),
  missingSince: day.optional(),
  expires: day.optional(),
};
const endpointSchema = z.strictObject(endpointShape);

export const reasoningShape = {
  efforts: z.array(z.string().min(1)).min(1).optional(),
  budgetTokens: z.strictObject({ min: z.int().min(0).optional(), max: tokens.optional() }).optional(),
  canDisable: z.literal(true).optional(),
  onlyWhenTold: z.literal(true).optional(),
};

export const modelShape = {
  id: z.string().max(MODEL_ID_CHARS).regex(MODEL_ID, "not of the form author/name"),
  name: z.string().min(1),
  description: z.string().nullable().default(null),
  released: day.nullable().default(null),
  inputModalities: z.array(z.enum(["text", "image", "file", "audio", "video"])).min(1),
  outputModalities: z.union([
    z.array(z.enum(["text", "image", "audio", "video"])).min(1),
    z.tuple([z.enum(SOLE_OUTPUTS)]),
  ]),
  tokenizer: z.string().nullable().default(null),
  supportedParameters: z.array(z.string().min(1)),
  reasoning: z.strictObject(reasoningShape).optional(),
  takes: takesSchema.optional(),
  expires: day.nullable().default(null),
  endpoints: z.array(endpointSchema).min(1),
};
const modelSchema = z.strictObject(modelShape);

const variable = z.string().regex(ENV_NAME);
const path = z.string().startsWith("/");

const bodyFields = z.record(z.string().min(1), z.json());

const quirks = z.strictObject({
  noStreamOptions: z.literal(true).optional(),
  maxCompletionTokens: z.literal(true).optional(),
  noMaxCompletionTokens: z.literal(true).optional(),
  randomSeed: z.literal(true).optional(),
  outputDimension: z.literal(true).optional(),
  knownFields: z.array(z.string().min(1)).min(1).optional(),
  knownMessageFields: z.array(z.string().min(1)).min(1).optional(),
  thinkingParts: z.literal(true).optional(),
  customTools: z.literal(true).optional(),
  toolNamespaces: z.literal(true).optional(),
  resultsAnywhere: z.literal(true).optional(),
  takes: takenParametersSchema.optional(),
  refusedFields: z.array(z.string().min(1)).min(1).optional(),
  storesChats: z.literal(true).optional(),
  noSchemas: z.literal(true).optional(),
  reasoningField: z.enum(["reasoning", "reasoning_content"]).optional(),
  developerRole: z.literal(true).optional(),
  refusedMessageFields: z.array(z.string().min(1)).min(1).optional(),
  namedRoles: z.array(z.string().min(1)).min(1).optional(),
  efforts: z.array(z.string().min(1)).min(1).optional(),
  noCacheMarks: z.literal(true).optional(),
  marksPrefill: z.literal(true).optional(),
  reasoning: z
    .strictObject({
      on: bodyFields.optional(),
      off: bodyFields.optional(),
      effort: z.string().min(1).optional(),
      budget: z.string().min(1).optional(),
    })
    .optional(),
  takesReasoningObject: z.literal(true).optional(),
  readsFiles: z.literal(true).optional(),
  takesVerbosity: z.literal(true).optional(),
  takesReasoningDetails: z.literal(true).optional(),
  noEncryptedReasoning: z.literal(true).optional(),
});

const chargeRule: z.ZodType<ChargeRule> = z.lazy(() =>
  z.union([
    z.literal("free"),
    z.literal("costs"),
    z
      .strictObject({
        price: z.enum(PRICE_NAMES as [PriceName, ...PriceName[]]).optional(),
        upTo: price.optional(),
        numbers: z.literal(true).optional(),
        values: z
          .array(z.union([z.string(), z.number(), z.boolean()]))
          .min(1)
          .optional(),
        members: chargeRules.optional(),
        needs: z.array(z.string().min(1)).min(1).optional(),
        items: z.strictObject({ key: z.string().min(1), rules: chargeRules }).optional(),
      })
      .refine((rule) => Object.keys(rule).length > 0, "says nothing"),
  ]),
) as z.ZodType<ChargeRule>;
const chargeRules = z.record(z.string().min(1), chargeRule);

/** Decimal strings with at most six places, above zero. */
const factor = z
  .string()
  .regex(/^(?!0+(?:\.0+)?$)\d{1,3}(?:\.\d{1,6})?$/, "not a decimal string with at most six places");

const formatSettings = z.strictObject({
  paths: z
    .strictObject({ chat: path.optional(), completions: path.optional(), "count-tokens": path.optional() })
    .optional(),
  quirks: quirks.optional(),
});

/** The values of fields that a provider's row may omit. */
const OMITTED_FACTS = {
  baseUrl: null,
  privacyPolicyUrl: null,
  termsOfServiceUrl: null,
  statusPageUrl: null,
  headquarters: null,
  datacenters: null,
} as const;

const providerSchema = z.strictObject({
  slug: z.string().regex(SLUG),
  name: z.string().min(1),
  format: formatSchema,
  formats: z.partialRecord(formatSchema, formatSettings).optional(),
  address: z.enum(ADDRESS_SCHEMES).optional(),
  auth: z.enum(AUTH_KINDS).optional(),
  baseUrl: httpsUrl.regex(/[^/]$/, "ends in a slash").nullable().default(OMITTED_FACTS.baseUrl),
  baseUrlTemplate: z.string().startsWith("https://").optional(),
  paths: z
    .strictObject({
      chat: path.optional(),
      completions: path.optional(),
      fim: path.optional(),
      embeddings: path.optional(),
      moderations: path.optional(),
      rerank: path.optional(),
      images: path.optional(),
      speech: path.optional(),
      transcriptions: path.optional(),
      "count-tokens": path.optional(),
    })
    .optional(),
  parts: z
    .record(
      z.string().regex(PART),
      z.strictObject({ env: z.array(variable).min(1), default: z.string().min(1).optional() }),
    )
    .optional(),
  body: z.record(z.string().min(1), z.string().nullable()).optional(),
  env: z.strictObject({
    apiKey: z.array(variable),
    keyFile: variable.optional(),
    keyPair: z.strictObject({ id: variable, secret: variable, session: variable }).optional(),
    baseUrl: variable.endsWith("_BASE_URL"),
    baseUrlAliases: z.array(variable).min(1).optional(),
  }),
  isForCode: z.literal(true).optional(),
  promptCacheSeconds: z.int().positive().optional(),
  cacheKeepsZeroRetention: z.literal(true).optional(),
  toolCallIds: z.enum(["mistral", "anthropic", "openai"]),
  affinityHeader: z
    .string()
    .regex(/^x-[a-z-]+$/)
    .optional(),
  parameters: z.array(z.enum(SAMPLING_PARAMETERS)).optional(),
  quirks,
  charges: z
    .strictObject({
      fields: chargeRules.optional(),
      tools: chargeRules.optional(),
      forFiles: z
        .strictObject({ field: z.string().min(1), key: z.string().min(1), entry: bodyFields })
        .optional(),
    })
    .optional(),
  reportsCost: z.literal(true).optional(),
  factors: z
    .record(z.string().min(1), z.record(z.string().min(1), z.record(z.string().min(1), factor)))
    .optional(),
  trainsOnData: z.boolean().optional(),
  retainsData: z.boolean().nullable().optional(),
  privacyPolicyUrl: httpsUrl.nullable().default(OMITTED_FACTS.privacyPolicyUrl),
  termsOfServiceUrl: httpsUrl.nullable().default(OMITTED_FACTS.termsOfServiceUrl),
  statusPageUrl: httpsUrl.nullable().default(OMITTED_FACTS.statusPageUrl),
  headquarters: z
    .string()
    .regex(/^[A-Z]{2}$/)
    .nullable()
    .default(OMITTED_FACTS.headquarters),
  datacenters: z
    .array(z.string().regex(/^[A-Z]{2}$/))
    .nullable()
    .default(OMITTED_FACTS.datacenters),
});

const modelsSchema = z.array(modelSchema);
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

/** Whether the schema accepts a model as a file contains it. Tests compare `isSoundModel` with it. */
export function isModelBySchema(value: unknown): boolean {
  return modelSchema.safeParse(value).success;
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
