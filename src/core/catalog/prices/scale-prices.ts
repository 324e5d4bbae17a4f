import { formatPrice, parsePrice, scaleAmount } from "../../../base/numbers/money.ts";
import { PRICE_NAMES } from "../records/model-schema.ts";
import type { ModelEndpoint, Prices, PriceTier } from "../records/records.ts";
import type { PriceRow } from "./price-row.ts";

/** Returns an endpoint with all its prices times `factor` millionths, each rounded half up to attodollars. */
export function scaleEndpoint(endpoint: ModelEndpoint, factor: bigint): ModelEndpoint {
  const { priceChanges } = endpoint;
  return {
    ...endpoint,
    ...scaleRow(endpoint, factor),
    ...(priceChanges === undefined
      ? {}
      : { priceChanges: priceChanges.map((change) => ({ ...change, ...scaleRow(change, factor) })) }),
  };
}

function scaleRow<Row extends PriceRow>({ prices, priceTiers }: Row, factor: bigint) {
  return {
    prices: (prices === null ? null : scalePrices(prices, factor)) as Row["prices"],
    ...(priceTiers === undefined ? {} : { priceTiers: priceTiers.map((tier) => scalePrices(tier, factor)) }),
  };
}

/** Returns prices times `factor` millionths, each rounded half up to attodollars. */
export function scalePrices<Scaled extends Prices | PriceTier>(prices: Scaled, factor: bigint): Scaled {
  const scaled = PRICE_NAMES.flatMap((name) => {
    const price = prices[name];
    return price === undefined ? [] : [[name, scalePrice(price, factor)]];
  });
  const { imageVariants } = prices;
  if (imageVariants === undefined) return { ...prices, ...Object.fromEntries(scaled) };
  const variants = imageVariants.map((variant) => ({ ...variant, price: scalePrice(variant.price, factor) }));
  return { ...prices, ...Object.fromEntries(scaled), imageVariants: variants };
}

function scalePrice(price: string, factor: bigint): string {
  // The catalog was validated, so every price can be parsed.
  const value = parsePrice(price) as bigint;
  return formatPrice(scaleAmount(value, factor));
}
