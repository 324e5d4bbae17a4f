import { parsePrice } from "../../base/numbers/money.ts";
import type { ProviderRecord } from "../../core/catalog/records/records.ts";
import type { ConfigPath, ConfigProblem } from "./config-error.ts";
import type { Config } from "./config-schema.ts";
import { problemAt } from "./load-config.ts";
import type { Environment } from "./read-provider-keys.ts";

/** Prices that are per token, by their names in the configuration. */
const PER_TOKEN: ReadonlySet<string> = new Set([
  "prompt",
  "completion",
  "cache_read",
  "cache_write",
  "cache_write_1h",
  "audio_in",
  "audio_out",
  "reasoning",
  "image_out",
]);
/** The smallest value that is too high for the price of a token: $1,000 per million. The highest price of any vendor is $600. Attodollars. */
const MIN_ODD = 1_000_000_000_000_000n;
/** Values below this are too low for the price of a token: a hundredth of a cent per million. Attodollars. */
const MIN_USUAL = 100_000_000n;
/** Keys of what has prices. */
const PRICES: ReadonlySet<string> = new Set(["prices", "price_tiers", "price_changes"]);

/**
 * Finds prices per token that can only be prices per million tokens, and prices that were divided by a million twice, wherever the
 * configuration has prices.
 */
export function findOddPrices(config: Config): ConfigProblem[] {
  const found: ConfigProblem[] = [];
  const { providers, catalog, pricing } = config;
  for (const [path, part] of Object.entries({ providers, catalog, pricing }))
    findIn(config, part, { path: [path], isPrices: false, found });
  return found;
}

interface Search {
  readonly path: ConfigPath;
  /** Whether the value is, or is in, what has prices. */
  readonly isPrices: boolean;
  readonly found: ConfigProblem[];
}

function findIn(config: Config, value: unknown, { path, isPrices, found }: Search): void {
  if (typeof value !== "object" || value === null) return;
  const entries = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
  for (const [name, member] of entries) {
    const at = [...path, name];
    const isPrice = isPrices && typeof name === "string" && PER_TOKEN.has(name) && typeof member === "string";
    const text = isPrice ? describeOdd(member) : null;
    if (text !== null) found.push(problemAt(config, at, text));
    findIn(config, member, { path: at, isPrices: isPrices || PRICES.has(String(name)), found });
  }
}

/** Returns what is odd about a price per token; null if it is plausible. */
function describeOdd(price: string): string | null {
  const value = parsePrice(price);
  if (value === null || value === 0n) return null;
  if (value >= MIN_ODD)
    return `is $${price} for each token, but prices are per token, not per million. $${price} per million tokens is "${shift(price, -6)}"`;
  if (value < MIN_USUAL)
    return `is $${shift(price, 6)} per million tokens: prices are per token. If you mean ${shift(price, 6)} per token, write that`;
  return null;
}

/** Shifts the point of a decimal string by places to the right, or to the left if they are negative. */
function shift(price: string, places: number): string {
  const [whole = "0", fraction = ""] = price.split(".");
  const zeros = "0".repeat(Math.abs(places));
  const digits = places < 0 ? zeros + whole + fraction : whole + fraction + zeros;
  const point = (places < 0 ? zeros.length : 0) + whole.length + places;
  const left = digits.slice(0, point).replace(/^0+(?=\d)/, "") || "0";
  const right = digits.slice(point).replace(/0+$/, "");
  return right === "" ? left : `${left}.${right}`;
}

/** The ends of paths of endpoints, which the gateway adds to a base URL itself. */
const ENDPOINTS =
  /\/(?:chat\/completions|completions|responses|messages|messages\/count_tokens|embeddings|moderations|rerank|images\/generations|audio\/(?:speech|transcriptions)|fim\/completions|converse(?:-stream)?|models\/[^/]+:(?:generateContent|streamGenerateContent))$/i;

/** Finds base URLs of the configuration, and in variables of providers, that end in the path of an endpoint. */
export function findEndpointUrls(
  config: Config,
  providers: readonly ProviderRecord[],
  environment: Environment,
): ConfigProblem[] {
  const written = Object.entries(config.providers).flatMap(([slug, { base_url: url }]) => {
    const text = describeEndpoint(url);
    return text === null ? [] : problemAt(config, ["providers", slug, "base_url"], text);
  });
  const variables = providers.flatMap(({ slug, env }) =>
    [env.baseUrl, ...(env.baseUrlAliases ?? [])].flatMap((variable): ConfigProblem[] => {
      const text = describeEndpoint(environment[variable]);
      return text === null ? [] : [{ place: null, path: ["providers", slug, "base_url"], variable, text }];
    }),
  );
  return [...written, ...variables];
}

/** Returns the problem of a base URL that ends in the path of an endpoint; null for other URLs. */
function describeEndpoint(url: string | undefined): string | null {
  if (url === undefined || !URL.canParse(url)) return null;
  const { origin, pathname } = new URL(url);
  const path = pathname.replace(/\/+$/, "");
  const end = ENDPOINTS.exec(path)?.[0];
  if (end === undefined) return null;
  return `ends in ${end}, the path of an endpoint, which is added to it: write ${origin}${path.slice(0, -end.length)}`;
}
