/** Prices as they are typed into a form. Pure functions. */
import type { Pricing } from "../../api/schema.ts";
import { toPerMillion, toPerToken } from "./shift-decimal.ts";

/** The prices of tokens that a form has, by their names in the configuration. */
export const PRICE_FIELDS = ["prompt", "completion", "cache_read", "cache_write"] as const;
type PriceField = (typeof PRICE_FIELDS)[number];

/** What is typed into the fields of prices: dollars per million tokens. */
export type TypedPrices = Readonly<Record<PriceField, string>>;

export const NO_PRICES: TypedPrices = { prompt: "", completion: "", cache_read: "", cache_write: "" };

/** Prices of the configuration: dollars per token, as decimal strings. */
export type Prices = Readonly<Record<string, unknown>>;

/** Returns prices of the configuration as they are typed. */
export function typePrices(prices: Prices | null | undefined): TypedPrices {
  const entries = PRICE_FIELDS.map((name) => {
    const price = prices?.[name];
    return [name, typeof price === "string" ? (toPerMillion(price) ?? "") : ""];
  });
  return Object.fromEntries(entries) as TypedPrices;
}

/**
 * Returns typed prices as the configuration has them, together with those of `others` that have no field in the form. Undefined if nothing
 * is typed; null if a text is not a price, or if the price of the prompt or of the completion is missing.
 */
export function readPrices(typed: TypedPrices, others: Prices = {}): Prices | null | undefined {
  const entries = PRICE_FIELDS.filter((name) => typed[name].trim() !== "").map(
    (name) => [name, toPerToken(typed[name])] as const,
  );
  if (entries.length === 0) return undefined;
  const hasBoth = typed.prompt.trim() !== "" && typed.completion.trim() !== "";
  if (!hasBoth || entries.some(([, price]) => price === null)) return null;
  const rest = Object.entries(others).filter(([name]) => !(PRICE_FIELDS as readonly string[]).includes(name));
  return Object.fromEntries([...entries, ...rest]);
}

/** The prices of lists by their names in the configuration. */
const PRICE_NAMES = {
  prompt: "prompt",
  completion: "completion",
  input_cache_read: "cache_read",
  input_cache_write: "cache_write",
  internal_reasoning: "reasoning",
  audio: "audio_in",
  audio_output: "audio_out",
  image_output: "image_out",
  image: "image",
  request: "request",
  web_search: "search",
} as const;

/** Returns the prices of a list as the configuration has them. */
export function toConfigPrices(pricing: Partial<Pricing> | undefined): Prices {
  const entries = Object.entries(PRICE_NAMES).flatMap(([listed, name]) => {
    const price = pricing?.[listed as keyof typeof PRICE_NAMES];
    return typeof price === "string" ? [[name, price] as const] : [];
  });
  return Object.fromEntries(entries);
}
