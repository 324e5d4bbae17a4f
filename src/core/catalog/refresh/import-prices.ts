import { asFields, type Fields } from "../../../base/json/fields.ts";
import { isZero, multiplyDecimals, perToken } from "../prices/decimal-price.ts";
import { PRICE_NAMES, type PriceName } from "../records/model-schema.ts";
import type { ModelEndpoint, PriceChange, Prices, PriceTier } from "../records/records.ts";
import type { ImportRules } from "./import-rules.ts";

/** The prices of one source entry. `problem` explains why there are none although the source has some. */
export interface ImportedPrices {
  readonly prices: Prices | null;
  readonly priceTiers?: readonly PriceTier[];
  readonly problem?: string;
}

/** The members of `Prices` by the source's names, including its misspellings. */
const NAMES: Readonly<Record<string, PriceName>> = {
  input: "prompt",
  output: "completion",
  cache_read: "cacheRead",
  cached_input: "cacheRead",
  cache_input: "cacheRead",
  cache_write: "cacheWrite",
  cached_write: "cacheWrite",
  cache_write_1h: "cacheWrite1h",
  input_audio: "audioIn",
  output_audio: "audioOut",
  reasoning: "reasoning",
  output_image: "imageOut",
};

/** Members of `cost` that are not prices. */
const STRUCTURE = new Set(["tiers", "context_over_200k"]);

const NO_PRICES: ImportedPrices = { prices: null };

/**
 * Converts the source's `cost`. If the cost names an unknown charge, or only one of prompt and completion, the result has no prices, and
 * the endpoint is not served. Zero for both means a preview or a subscription, unless `free`: the model's name says that it is free.
 */
export function importPrices(
  cost: Readonly<Record<string, unknown>> | undefined,
  free: boolean,
): ImportedPrices {
  if (cost === undefined) return NO_PRICES;
  const problem = findUnknownCharge(cost);
  if (problem !== null) return { prices: null, problem };
  const base = readPrices(cost);
  if (base === null) return { prices: null, problem: "has a price that cannot be read" };
  const zeros = [base.prompt, base.completion].filter(isZero).length;
  if (free)
    return zeros === 2
      ? { prices: { prompt: "0", completion: "0" } }
      : { prices: null, problem: "is free by its id, but has a price" };
  if (zeros === 2) return NO_PRICES;
  if (zeros === 1) return { prices: null, problem: "has only one of the prices of prompt and completion" };
  const tiers = readTiers(cost, base);
  if (tiers === null) return { prices: null, problem: "has price tiers that cannot be read" };
  return { prices: base, ...(tiers.length > 0 ? { priceTiers: tiers } : {}) };
}

/** Converts the `cost` of an embedding model, whose answer has no tokens: only the prompt has a price. */
export function importEmbeddingPrices(
  cost: Readonly<Record<string, unknown>> | undefined,
  free: boolean,
): ImportedPrices {
  if (cost === undefined) return NO_PRICES;
  const problem = findUnknownCharge(cost);
  if (problem !== null) return { prices: null, problem };
  const prompt = typeof cost["input"] === "string" ? perToken(cost["input"]) : null;
  if (prompt === null) return { prices: null, problem: "has a price that cannot be read" };
  return isZero(prompt) === free ? { prices: { prompt, completion: "0" } } : NO_PRICES;
}

/** Adds the price of writing to the cache for an hour, which the source lacks, if the price for five minutes is the one of the rule. */
export function addCacheHour(
  { prices, priceTiers }: Pick<ImportedPrices, "prices" | "priceTiers">,
  rule: ImportRules["cacheWrite1h"][string] | undefined,
): Pick<ImportedPrices, "prices" | "priceTiers"> {
  if (prices === null || rule === undefined) return { prices, ...(priceTiers ? { priceTiers } : {}) };
  const withHour = <P extends Prices>(row: P): P => {
    if (row.cacheWrite1h !== undefined) return row;
    if (row.cacheWrite !== multiplyDecimals(row.prompt, rule.fiveMinutes)) return row;
    return insertHour(row, multiplyDecimals(row.prompt, rule.hour));
  };
  return { prices: withHour(prices), ...(priceTiers ? { priceTiers: priceTiers.map(withHour) } : {}) };
}

/** Adds charges that are not per token, which the source lacks, to an endpoint's prices, price tiers and price changes. */
export function addCharges<Endpoint extends Pick<ModelEndpoint, "prices" | "priceTiers" | "priceChanges">>(
  endpoint: Endpoint,
  charges: Partial<Prices>,
): Endpoint {
  const { prices, priceTiers, priceChanges } = endpoint;
  if (prices === null) return endpoint;
  const charged = <P extends Prices>(row: P): P => sortPrices({ ...row, ...charges });
  const change = (row: PriceChange): PriceChange => ({
    ...row,
    prices: charged(row.prices),
    ...(row.priceTiers ? { priceTiers: row.priceTiers.map(charged) } : {}),
  });
  return {
    ...endpoint,
    prices: charged(prices),
    ...(priceTiers ? { priceTiers: priceTiers.map(charged) } : {}),
    ...(priceChanges ? { priceChanges: priceChanges.map(change) } : {}),
  };
}

/** Sorts members into the order of `PRICE_NAMES`, after those that are not prices. */
function sortPrices<P extends Prices>(row: P): P {
  const rank = (name: string): number => PRICE_NAMES.indexOf(name as PriceName);
  return Object.fromEntries(Object.entries(row).sort(([a], [b]) => rank(a) - rank(b))) as P;
}

/** Inserts the price after `cacheWrite`, which keeps the order of `PRICE_NAMES`. */
function insertHour<P extends Prices>(row: P, cacheWrite1h: string): P {
  const members = Object.entries(row).flatMap((member) =>
    member[0] === "cacheWrite" ? [member, ["cacheWrite1h", cacheWrite1h] as const] : [member],
  );
  return Object.fromEntries(members) as P;
}

function findUnknownCharge(cost: Readonly<Record<string, unknown>>): string | null {
  const unknown = Object.keys(cost).filter((key) => NAMES[key] === undefined && !STRUCTURE.has(key));
  return unknown.length > 0 ? `has unknown charges: ${unknown.join(", ")}` : null;
}

function readPrices(
  cost: Readonly<Record<string, unknown>>,
  base: Omit<Partial<Prices>, "imageVariants"> = {},
): Prices | null {
  const found: Partial<Record<PriceName, string>> = { ...base };
  for (const [key, value] of Object.entries(cost)) {
    const name = NAMES[key];
    if (name === undefined) continue;
    const price = typeof value === "string" ? perToken(value) : null;
    if (price === null) return null;
    found[name] = price;
  }
  return tidyPrices(found);
}

/**
 * Sorts prices in the order of `PRICE_NAMES`. Drops zeros except for prompt and completion, and a reasoning price that equals the
 * completion price.
 */
function tidyPrices(found: Partial<Record<PriceName, string>>): Prices | null {
  const { prompt, completion } = found;
  if (prompt === undefined || completion === undefined) return null;
  const kept = PRICE_NAMES.filter((name) => {
    const price = found[name];
    if (price === undefined) return false;
    if (name === "prompt" || name === "completion") return true;
    return !isZero(price) && !(name === "reasoning" && price === completion);
  });
  return Object.fromEntries(kept.map((name) => [name, found[name]])) as unknown as Prices;
}

function readTiers(cost: Readonly<Record<string, unknown>>, base: Prices): PriceTier[] | null {
  const tiers: PriceTier[] = [];
  for (const tier of listTiers(cost)) {
    const prices = readPrices(tier.cost, base);
    if (prices === null || !Number.isSafeInteger(tier.above) || tier.above <= 0) return null;
    if (JSON.stringify(prices) === JSON.stringify(base)) continue;
    tiers.push({ minPromptTokens: tier.above + 1, ...prices });
  }
  return tiers.sort((a, b) => a.minPromptTokens - b.minPromptTokens);
}

/** Lists the source's tiers. They apply to prompts longer than `above` tokens. */
function listTiers(cost: Readonly<Record<string, unknown>>): { above: number; cost: Fields }[] {
  const { tiers, context_over_200k: over } = cost;
  if (Array.isArray(tiers)) {
    return tiers.map((entry: unknown) => {
      const tier = asFields(entry) ?? {};
      return { above: Number(asFields(tier["tier"])?.["size"]), cost: tier };
    });
  }
  const costAbove = asFields(over);
  return costAbove === null ? [] : [{ above: 200_000, cost: costAbove }];
}
