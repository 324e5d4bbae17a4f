import { matchPattern } from "../../../base/text/match-pattern.ts";
import type { ServedModes } from "../../../wire/conversation/usage.ts";
import type { ModelEndpoint, Prices, ProviderRecord } from "../records/records.ts";
import { scaleEndpoint, scalePrices } from "./scale-prices.ts";

/** The unit of factors. */
const FACTOR_UNIT = 1_000_000n;

/** Returns the factor of a model's name, in millionths; null for none. */
export function findFactor(byName: Readonly<Record<string, string>>, name: string): bigint | null {
  for (const [pattern, factor] of Object.entries(byName))
    if (matchPattern(pattern, name)) return parseFactor(factor);
  return null;
}

function parseFactor(text: string): bigint {
  const [whole = "0", places = ""] = text.split(".");
  return BigInt(whole) * FACTOR_UNIT + BigInt(places.padEnd(6, "0"));
}

/** Returns the factor of all prices for a request that was served so, in millionths. A value without a factor does not change the price. */
function factorOf(record: ProviderRecord, name: string, modes: ServedModes): bigint {
  let factor = FACTOR_UNIT;
  for (const [field, value] of Object.entries(modes)) {
    const byName = record.factors?.[field]?.[value];
    const one = byName === undefined ? null : findFactor(byName, name);
    if (one !== null) factor = (factor * one) / FACTOR_UNIT;
  }
  return factor;
}

/** Returns the prices for a request that was served in these modes. Most requests have none, and cost nothing here. */
export function pricesForModes(
  prices: Prices | null,
  modes: ServedModes | undefined,
  { record, name }: { readonly record: ProviderRecord; readonly name: string },
): Prices | null {
  if (prices === null || modes === undefined) return prices;
  const factor = factorOf(record, name, modes);
  return factor === FACTOR_UNIT ? prices : scalePrices(prices, factor);
}

/** Returns the endpoint with the prices of its usual mode or of the requested mode, whichever is more expensive. */
export function endpointForModes(
  endpoint: ModelEndpoint,
  modes: ServedModes | undefined,
  record: ProviderRecord,
): ModelEndpoint {
  const factor = modes === undefined ? FACTOR_UNIT : factorOf(record, endpoint.name, modes);
  return factor <= FACTOR_UNIT ? endpoint : scaleEndpoint(endpoint, factor);
}
