import { greatestDecimal } from "../prices/decimal-price.ts";
import { endpointAt } from "../prices/price-row.ts";
import { parametersOf } from "../profile/endpoint-profile.ts";
import { authorOf, compareText } from "../records/format-catalog.ts";
import { isFreeId } from "../records/is-free-id.ts";
import type { PriceName } from "../records/model-schema.ts";
import { listImagePrices, type ModelEndpoint, type ModelRecord, type Prices } from "../records/records.ts";
import { createdAt } from "../records/release-day.ts";
import { describeModel } from "./describe-model.ts";
import type { PublicModel, PublicPrices } from "./model-view.ts";

type OtherPrices = Omit<PublicPrices, "prompt" | "completion">;
type PricedEndpoint = ModelEndpoint & { readonly prices: Prices };

const UNKNOWN_TOKENIZER = "Other";

/**
 * Presents a model to clients. `endpoints` are the configured and allowed ones. Any of them may answer, so the result has the smallest
 * context window and the highest of each price. A parameter is supported if one endpoint accepts it, because routing selects that endpoint.
 * Prices are those at `at`, milliseconds since the epoch. Returns null if no endpoint has prices: such a model is not served.
 */
export function presentModel(
  model: ModelRecord,
  endpoints: readonly ModelEndpoint[],
  at: number,
): PublicModel | null {
  const priced = endpoints
    .map((endpoint) => endpointAt(endpoint, at))
    .filter((endpoint): endpoint is PricedEndpoint => endpoint.prices !== null);
  const [first] = priced;
  if (first === undefined) return null;
  const widest = priced.reduce(
    (best, endpoint) => (endpoint.contextLength > best.contextLength ? endpoint : best),
    first,
  );
  const contextLength = Math.min(...priced.map((endpoint) => endpoint.contextLength));
  const inputModalities = acceptedBy(priced, model.inputModalities);
  return {
    id: model.id,
    object: "model",
    created: createdAt(model.released),
    owned_by: authorOf(model.id),
    name: model.name,
    context_length: contextLength,
    pricing: presentPricing(priced),
    description: model.description ?? describeModel(model, contextLength),
    canonical_slug: model.id,
    architecture: {
      input_modalities: inputModalities,
      output_modalities: model.outputModalities,
      tokenizer: model.tokenizer ?? UNKNOWN_TOKENIZER,
      modality: describeModality(inputModalities, model.outputModalities),
    },
    top_provider: {
      context_length: widest.contextLength,
      max_completion_tokens: widest.maxOutputTokens,
      is_moderated: false,
    },
    supported_parameters: listParameters(model, priced),
    isFree: isFreeId(model.id),
    ...(priced.some(({ isPriceUnknown }) => isPriceUnknown === true)
      ? { is_price_unknown: true as const }
      : {}),
    expiration_date: model.expires,
    links: linksOf(model.id),
    default_parameters: null,
    per_request_limits: null,
    supported_voices: null,
  };
}

/** Returns both kinds of modalities of a model as one text, such as `text+image->text`. */
export function describeModality(input: readonly string[], output: readonly string[]): string {
  return `${input.join("+")}->${output.join("+")}`;
}

/** Returns where the API describes a model, a tier or a named route. A name without an author has no list of endpoints. */
export function linksOf(id: string): PublicModel["links"] {
  const at = id.indexOf("/");
  const path =
    at < 0
      ? encodeSegment(id)
      : `${encodeSegment(id.slice(0, at))}/${encodeSegment(id.slice(at + 1))}/endpoints`;
  return { details: `/api/gateway/models/${path}` };
}

function encodeSegment(text: string): string {
  return encodeURIComponent(text).replaceAll("%3A", ":");
}

function acceptedBy(endpoints: readonly ModelEndpoint[], features: readonly string[]): string[] {
  return features.filter((feature) => endpoints.some((endpoint) => !endpoint.lacks?.includes(feature)));
}

/** Lists the parameters that at least one of the endpoints takes. */
function listParameters(model: ModelRecord, endpoints: readonly ModelEndpoint[]): string[] {
  const taken = endpoints.flatMap((endpoint) => parametersOf(model, endpoint));
  return [...new Set(taken)].sort(compareText);
}

function presentPricing(endpoints: readonly PricedEndpoint[]): PublicModel["pricing"] {
  const overrides = listThresholds(endpoints).map((min_prompt_tokens) => ({
    min_prompt_tokens,
    ...presentPrices(endpoints.map((endpoint) => pricesAt(endpoint, min_prompt_tokens))),
  }));
  const base = presentPrices(endpoints.map((endpoint) => endpoint.prices));
  return overrides.length > 0 ? { ...base, overrides } : base;
}

function listThresholds(endpoints: readonly PricedEndpoint[]): number[] {
  const thresholds = endpoints.flatMap((endpoint) =>
    (endpoint.priceTiers ?? []).map((tier) => tier.minPromptTokens),
  );
  return [...new Set(thresholds)].sort((a, b) => a - b);
}

function pricesAt(endpoint: PricedEndpoint, promptTokens: number): Prices {
  return endpoint.priceTiers?.findLast((tier) => tier.minPromptTokens <= promptTokens) ?? endpoint.prices;
}

/** Presents the highest of each price. Where an endpoint has no such price, its price for prompt or completion tokens applies. */
function presentPrices(all: readonly Prices[]): PublicPrices {
  const others: Readonly<Record<keyof OtherPrices, string | null>> = {
    input_cache_read: findHighest(all, "cacheRead", "prompt"),
    input_cache_write: findHighest(all, "cacheWrite", "prompt"),
    request: greatestOf(all, ["request", "requestMedium", "requestHigh"]),
    image: findHighest(all, "image", null),
    image_output: findHighest(all, "imageOut", "completion"),
    web_search: greatestOf(all, ["search", "searchedRequest"]),
    audio: findHighest(all, "audioIn", "prompt"),
    audio_output: findHighest(all, "audioOut", "completion"),
    internal_reasoning: findHighest(all, "reasoning", "completion"),
    character: findHighest(all, "character", null),
    audio_second: findHighest(all, "audioSecond", null),
    generated_image: greatestDecimal(all.flatMap(listImagePrices)),
  };
  return {
    prompt: greatestDecimal(all.map((prices) => prices.prompt)) as string,
    completion: greatestDecimal(all.map((prices) => prices.completion)) as string,
    ...(Object.fromEntries(Object.entries(others).filter(([, price]) => price !== null)) as OtherPrices),
  };
}

/** Returns the greatest of the named prices that are present; null if none is. */
function greatestOf(all: readonly Prices[], parts: readonly PriceName[]): string | null {
  return greatestDecimal(all.flatMap((prices) => parts.flatMap((part) => prices[part] ?? [])));
}

function findHighest(
  all: readonly Prices[],
  part: PriceName,
  else_: "prompt" | "completion" | null,
): string | null {
  if (all.every((prices) => prices[part] === undefined)) return null;
  return greatestDecimal(all.map((prices) => prices[part] ?? (else_ === null ? "0" : prices[else_])));
}
