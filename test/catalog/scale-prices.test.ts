import { expect, test } from "bun:test";
import { formatPrice, parsePrice } from "../../src/base/numbers/money.ts";
import { scaleEndpoint } from "../../src/core/catalog/prices/scale-prices.ts";
import type { ModelEndpoint } from "../../src/core/catalog/records/records.ts";

const ENDPOINT: ModelEndpoint = {
  provider: "openai",
  name: "one",
  contextLength: 1_000,
  maxOutputTokens: null,
  prices: { prompt: "0.000000003", completion: "0.0000011", search: "0.01" },
  priceTiers: [{ minPromptTokens: 100, prompt: "0.000000006", completion: "0.0000022" }],
  priceChanges: [{ from: "2027-01-01", prices: { prompt: "0.000000001", completion: "0.1" } }],
};

test("All prices of an endpoint are scaled exactly: its tiers and announced changes, too.", () => {
  const scaled = scaleEndpoint(ENDPOINT, 1_333_333n);
  expect(scaled).toEqual({
    ...ENDPOINT,
    prices: { prompt: "0.000000003999999", completion: "0.0000014666663", search: "0.01333333" },
    priceTiers: [{ minPromptTokens: 100, prompt: "0.000000007999998", completion: "0.0000029333326" }],
    priceChanges: [{ from: "2027-01-01", prices: { prompt: "0.000000001333333", completion: "0.1333333" } }],
  });
});

test("A price beyond 18 places is rounded half up.", () => {
  const prices = { prompt: "0.000000000000000001", completion: "0.000000000000000003" };
  const halved = scaleEndpoint({ ...ENDPOINT, prices }, 500_000n).prices;
  expect(halved).toEqual({ prompt: "0.000000000000000001", completion: "0.000000000000000002" });
});

test("An endpoint without prices stays without prices, and a factor of zero makes it free.", () => {
  expect(scaleEndpoint({ ...ENDPOINT, prices: null }, 2_000_000n).prices).toBeNull();
  expect(scaleEndpoint(ENDPOINT, 0n).prices).toEqual({ prompt: "0", completion: "0", search: "0" });
});

test("Formatting a parsed price returns the price in its lowest form.", () => {
  for (const price of ["0", "1", "12.5", "0.000000000000000001", "999999999999.999999999999999999"])
    expect(formatPrice(parsePrice(price) as bigint)).toBe(price);
  expect(formatPrice(parsePrice("1.500") as bigint)).toBe("1.5");
});
