import { rejectField } from "../../base/failures/errors.ts";
import { asFields, type Fields } from "../../base/json/fields.ts";
import { type CountLimit, requireAtMost } from "../../base/json/reject-excess.ts";
import { type JsonNode, parseMember } from "../../base/json/scan.ts";
import { BOUNDS } from "../../base/numbers/bounds.ts";
import { parsePrice } from "../../base/numbers/money.ts";

/** The routing preferences in a request's `provider`. */
export interface ProviderPreferences {
  /** Slugs to try first. */
  readonly order: readonly string[];
  /** Null: any. */
  readonly only: readonly string[] | null;
  readonly ignore: readonly string[];
  /** Only BYOK keys of the account, never platform keys. */
  readonly ownKeysOnly: boolean;
  /** Whether providers that `order` does not list may answer. */
  readonly allowFallbacks: boolean;
  /** `data_collection: "deny"`: only providers known not to train on what they are sent. */
  readonly denyDataCollection: boolean;
  /** `zdr`: only providers known to keep nothing. */
  readonly zeroRetention: boolean;
  /** `store`: vendors of the Responses format keep the response as well. */
  readonly storesAtVendor: boolean;
  /** Only deployments that support every parameter of the request. */
  readonly requireParameters: boolean;
  /** Null: no price limit. */
  readonly maxPrice: MaxPrice | null;
  /** How providers that `order` does not list are sorted; null: the gateway's default. */
  readonly sort: ProviderSort | null;
  /** Whether the gateway marks prompts for vendors' caches where that pays. */
  readonly promptCaching: PromptCaching;
}

/** Whether the gateway marks prompts for vendors' caches: where it pays, or never. */
export const PROMPT_CACHING = ["auto", "off"] as const;
export type PromptCaching = (typeof PROMPT_CACHING)[number];

/** Price limits in attodollars; null: no limit. */
export interface MaxPrice {
  /** Per million tokens. */
  readonly prompt: bigint | null;
  readonly completion: bigint | null;
  /** Each. */
  readonly request: bigint | null;
  readonly image: bigint | null;
}

const SORTS = ["price", "throughput", "latency"] as const;
export type ProviderSort = (typeof SORTS)[number];

/** The routing fields of a request. */
export interface RoutingParameters {
  /** Models to fall back to, in the client's order. */
  readonly fallbackModels: readonly string[];
  readonly preferences: ProviderPreferences;
  /** The name of a preset; null if the request names none. */
  readonly preset: string | null;
}

/** The routing fields as they are in a request; undefined: absent. */
interface RoutingFields {
  readonly models: unknown;
  readonly provider: unknown;
  readonly preset?: unknown;
}

/** No preferences. */
export const NO_PREFERENCES: ProviderPreferences = {
  order: [],
  only: null,
  ignore: [],
  ownKeysOnly: false,
  allowFallbacks: true,
  denyDataCollection: false,
  zeroRetention: false,
  storesAtVendor: false,
  requireParameters: false,
  maxPrice: null,
  sort: null,
  promptCaching: "auto",
};

const NO_MODELS: readonly string[] = [];

/** The routing parameters of a request that has none of the fields. */
export const NO_ROUTING: RoutingParameters = {
  fallbackModels: NO_MODELS,
  preferences: NO_PREFERENCES,
  preset: null,
};

/**
 * Parses `models`, `provider` and `preset`.
 * @throws GatewayError `invalid_request` if they are malformed, or for an unknown guarantee.
 */
export function readRoutingParameters({ models, provider, preset }: RoutingFields): RoutingParameters {
  return {
    fallbackModels: readModels(models),
    preferences: readPreferences(provider),
    preset: readPreset(preset),
  };
}

/**
 * Parses `models`, `provider` and `preset` of a scanned request. `text` is its body, bytes as Latin-1.
 * @throws GatewayError as `readRoutingParameters`; JsonSyntaxError for a value that is not JSON.
 */
export function readRoutingMembers(text: string, root: JsonNode): RoutingParameters {
  return readRoutingParameters({
    models: parseMember(text, root, "models"),
    provider: parseMember(text, root, "provider"),
    preset: parseMember(text, root, "preset"),
  });
}

function readPreset(value: unknown): string | null {
  if (value === undefined || value === null) return null;
  return typeof value === "string" ? value : rejectField("preset", "must be the name of a preset");
}

const FALLBACK_MODELS: CountLimit = { what: "models", bound: BOUNDS.fallbackModels, remedy: "Send fewer." };
const PROVIDERS: CountLimit = { what: "providers", bound: BOUNDS.patterns, remedy: "Send fewer." };

function readModels(value: unknown): readonly string[] {
  if (value === undefined || value === null) return NO_MODELS;
  const isList = Array.isArray(value) && value.every((model) => typeof model === "string");
  if (!isList) rejectField("models", "must be an array of model ids");
  requireAtMost("models", value.length, FALLBACK_MODELS);
  return value;
}

function readPreferences(raw: unknown): ProviderPreferences {
  if (raw === undefined || raw === null) return NO_PREFERENCES;
  const value = asFields(raw);
  if (value === null) rejectField("provider", "must be an object");
  return {
    order: readSlugs(value, "order") ?? [],
    only: readSlugs(value, "only"),
    ignore: readSlugs(value, "ignore") ?? [],
    ownKeysOnly: readOwnKeysOnly(value["own_keys_only"]),
    allowFallbacks: value["allow_fallbacks"] !== false,
    denyDataCollection: readDenial(value["data_collection"]),
    zeroRetention: readGuarantee(value, "zdr"),
    storesAtVendor: readGuarantee(value, "store"),
    requireParameters: readGuarantee(value, "require_parameters"),
    maxPrice: readMaxPrice(value["max_price"]),
    sort: readSort(value["sort"]),
    promptCaching: readPromptCaching(value["prompt_caching"]),
  };
}

/** Guarantees are parsed strictly: a misspelt field must not be ignored. */
function readDenial(value: unknown): boolean {
  if (value === undefined || value === null || value === "allow") return false;
  return value === "deny" || rejectField("provider.data_collection", 'must be "allow" or "deny"');
}

function readGuarantee(preferences: Fields, field: string): boolean {
  const value = preferences[field] ?? false;
  return typeof value === "boolean" ? value : rejectField(`provider.${field}`, "must be true or false");
}

const PRICED = ["prompt", "completion", "request", "image"] as const;

function readMaxPrice(raw: unknown): MaxPrice | null {
  if (raw === undefined || raw === null) return null;
  const value = asFields(raw);
  if (value === null) rejectField("provider.max_price", 'must be an object such as {"prompt": 1}');
  const unknown = Object.keys(value).find((key) => !(PRICED as readonly string[]).includes(key));
  if (unknown !== undefined) {
    rejectField(`provider.max_price.${unknown}`, `cannot be held; use ${PRICED.join(", ")}`);
  }
  const [prompt, completion, request, image] = PRICED.map((kind) => readDollars(value, kind));
  return {
    prompt: prompt ?? null,
    completion: completion ?? null,
    request: request ?? null,
    image: image ?? null,
  };
}

/** Parses a number; some clients send decimal strings. */
function readDollars(value: Fields, kind: string): bigint | null {
  const amount = value[kind] ?? null;
  if (amount === null) return null;
  const decimal = typeof amount === "number" ? spellOut(amount) : amount;
  const price = typeof decimal === "string" ? parsePrice(decimal) : null;
  return price ?? rejectField(`provider.max_price.${kind}`, "must be a number of US dollars, 0 or more");
}

/** Formats a number without an exponent. */
function spellOut(dollars: number): string {
  const text = String(dollars);
  return text.includes("e-") ? dollars.toFixed(18) : text;
}

/** Parses a sort key, or an object with one. Sorting the providers of several models together is not supported. */
function readSort(raw: unknown): ProviderSort | null {
  if (raw === undefined || raw === null) return null;
  const by = asFields(raw)?.["by"] ?? raw;
  const sort = SORTS.find((word) => word === by);
  return sort ?? rejectField("provider.sort", 'must be "price", "throughput" or "latency"');
}

function readPromptCaching(value: unknown): PromptCaching {
  if (value === undefined || value === null) return "auto";
  const word = PROMPT_CACHING.find((one) => one === value);
  return word ?? rejectField("provider.prompt_caching", 'must be "auto" or "off"');
}

/** Parses a guarantee. Anything but a boolean is rejected, because it would be ignored silently. */
function readOwnKeysOnly(value: unknown): boolean {
  if (value === undefined || value === null || typeof value === "boolean") return value === true;
  return rejectField("provider.own_keys_only", "must be true or false");
}

function readSlugs(value: Fields, list: string): string[] | null {
  const slugs = value[list];
  if (slugs === undefined || slugs === null) return null;
  const isList = Array.isArray(slugs) && slugs.every((slug) => typeof slug === "string");
  if (!isList) rejectField(`provider.${list}`, "must be an array of provider slugs");
  requireAtMost(`provider.${list}`, slugs.length, PROVIDERS);
  return slugs.map((slug: string) => slug.toLowerCase());
}
