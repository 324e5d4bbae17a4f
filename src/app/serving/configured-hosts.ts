import { nearestNames } from "../../base/text/nearest-names.ts";
import { isZero } from "../../core/catalog/prices/decimal-price.ts";
import { isFreeId } from "../../core/catalog/records/is-free-id.ts";
import type { ModelRecord, ProviderRecord } from "../../core/catalog/records/records.ts";
import type { SamplingParameter } from "../../wire/conversation/traits/sampling-parameters.ts";
import { CHAT_FORMAT, FORMAT_TRAITS } from "../../wire/formats/traits.ts";
import { NO_FACTS } from "../catalog/sandbox-catalog.ts";
import type { ConfigProblem } from "../config/config-error.ts";
import type { Config, ProviderConfig } from "../config/config-schema.ts";
import { problemAt } from "../config/load-config.ts";
import { readPrices, readTakenParameters } from "../config/override-schema.ts";
import { didYouMean } from "../config/suggest-key.ts";
import {
  type ConfiguredModel,
  type CopiedModel,
  type CopyFinder,
  createCopyFinder,
} from "./copied-models.ts";

/** Makes provider rows of the hosts that only the configuration has. Adds a problem for each host without base URL or models. */
export function listConfiguredHosts(
  config: Config,
  catalog: ReadonlyMap<string, ProviderRecord>,
  problems: ConfigProblem[],
): ProviderRecord[] {
  return Object.entries(config.providers)
    .filter(([slug]) => !catalog.has(slug))
    .flatMap(([slug, provider]) => {
      if (provider.base_url !== undefined && provider.models !== undefined)
        return toProviderRecord(slug, provider);
      const near = nearestNames(slug, [...catalog.keys()], 2);
      const hint = near.length === 0 ? "" : `. ${didYouMean(near)}`;
      const text = `is not in the catalog: give its base_url and models, or correct the name${hint}`;
      problems.push(problemAt(config, ["providers", slug], text));
      return [];
    });
}

function toProviderRecord(slug: string, provider: ProviderConfig): ProviderRecord {
  const [format = CHAT_FORMAT, ...further] = listConfiguredFormats(provider);
  return {
    slug,
    name: provider.name ?? slug,
    format,
    ...(further.length === 0 ? {} : { formats: Object.fromEntries(further.map((name) => [name, {}])) }),
    baseUrl: provider.base_url ?? null,
    env: { apiKey: [], baseUrl: `${slug.toUpperCase().replace(/-/g, "_")}_BASE_URL` },
    toolCallIds: FORMAT_TRAITS[format].tools.calls.ids ?? "openai",
    parameters: HOST_PARAMETERS,
    quirks: {},
    isOwnHost: true,
    ...NO_FACTS,
  };
}

/** The parameters that vLLM, SGLang, llama.cpp, Ollama and LM Studio all support. */
const HOST_PARAMETERS: readonly SamplingParameter[] = [
  "frequency_penalty",
  "presence_penalty",
  "seed",
  "stop",
];

/** Returns the formats that the configuration names, in either of the two fields. */
export function listConfiguredFormats({ format, formats }: Pick<ProviderConfig, "format" | "formats">) {
  return formats ?? (format === undefined ? [] : [format]);
}

const HOSTED_PARAMETERS: readonly string[] = [
  "max_tokens",
  "temperature",
  "top_p",
  "tools",
  "tool_choice",
  "response_format",
];

/** The context window that is assumed if none is configured. Tokens. */
const ASSUMED_WINDOW = 32_768;

/** Makes model records of the models that the configuration lists at providers, whether or not the catalog has the provider. */
export function listConfiguredModels(
  config: Config,
  catalog: ReadonlyMap<string, ProviderRecord>,
  copies: CopyFinder,
): ModelRecord[] {
  return Object.entries(config.providers).flatMap(([slug, provider]) =>
    (provider.models ?? []).map((model): ModelRecord => {
      const copied = copies.find(slug, model);
      if (copied !== null) return copyModel(slug, model, copied);
      return {
        id: model.id.toLowerCase(),
        name: model.id,
        description: catalog.has(slug) ? null : `Served by ${provider.name ?? slug}.`,
        released: model.released ?? null,
        inputModalities: model.input ?? ["text"],
        outputModalities: [model.output],
        tokenizer: null,
        supportedParameters: model.output === "text" ? HOSTED_PARAMETERS : [],
        isUndescribed: true,
        ...(model.input === undefined ? { hasUnknownInputs: true as const } : {}),
        expires: null,
        endpoints: [
          {
            provider: slug,
            name: model.name ?? upstreamNameOf(model.id),
            contextLength: model.context_length ?? ASSUMED_WINDOW,
            ...(model.context_length === undefined ? { isWindowAssumed: true as const } : {}),
            maxOutputTokens: model.max_output_tokens ?? null,
            ...(model.takes === undefined ? {} : { takesByOperator: readTakenParameters(model.takes) }),
            ...readPrices({ ...model, prices: model.prices ?? NOTHING }),
            ...(lacksPrice(model) ? { isPriceUnknown: true as const } : {}),
          },
        ],
      };
    }),
  );
}

/** Makes the record of a model that copies one of the catalog. What the configuration states of it precedes. */
function copyModel(
  slug: string,
  model: ConfiguredModel,
  { model: base, endpoint }: CopiedModel,
): ModelRecord {
  const { input, released, context_length, max_output_tokens, takes, prices } = model;
  const { priceTiers, priceChanges, isPriceUnknown, isWindowAssumed, ...facts } = endpoint;
  const inherited = {
    ...(priceTiers === undefined ? {} : { priceTiers }),
    ...(priceChanges === undefined ? {} : { priceChanges }),
    ...(isPriceUnknown === undefined ? {} : { isPriceUnknown }),
  };
  return {
    ...base,
    id: model.id.toLowerCase(),
    name: model.id,
    copyOf: base.copyOf ?? base.id,
    ...(input === undefined ? {} : { inputModalities: input }),
    ...(released === undefined ? {} : { released }),
    endpoints: [
      {
        ...facts,
        provider: slug,
        name: model.name ?? upstreamNameOf(model.id),
        contextLength: context_length ?? endpoint.contextLength,
        ...(isWindowAssumed === undefined || context_length !== undefined ? {} : { isWindowAssumed }),
        maxOutputTokens: max_output_tokens ?? endpoint.maxOutputTokens,
        ...(takes === undefined ? {} : { takesByOperator: readTakenParameters(takes) }),
        ...(prices === undefined ? inherited : readPrices({ ...model, prices })),
      },
    ],
  };
}

const NOTHING = { prompt: "0", completion: "0" };

/** The prices that the configuration must set for a model with this output. */
const NEEDED: Readonly<Partial<Record<ConfiguredModel["output"], readonly string[]>>> = {
  rerank: ["search", "request"],
  image: ["generated_image", "image_variants", "request"],
  speech: ["character", "request"],
  transcription: ["audio_second", "request"],
};

/** Whether a model has no price although neither its id nor a price of 0 says that it is free. */
export function lacksPrice({
  id,
  prices,
  output,
}: Pick<ConfiguredModel, "id" | "prices" | "output">): boolean {
  if (isFreeId(id.toLowerCase())) return false;
  if (prices === undefined) return true;
  const needed = NEEDED[output];
  const isOfTokens = [prices["prompt"], prices["completion"]].some((price) => !isZero(String(price)));
  return needed !== undefined && !isOfTokens && needed.every((name) => prices[name] === undefined);
}

/** Returns a warning for each model of the configuration that has no price. */
export function findUnpricedModels(config: Config, models: readonly ModelRecord[]): ConfigProblem[] {
  const copies = createCopyFinder(models);
  return Object.entries(config.providers).flatMap(([slug, { models = [], enabled }]) =>
    models.flatMap((model, at) => {
      if (!enabled || !lacksPrice(model) || copies.find(slug, model) !== null) return [];
      const needed =
        model.prices === undefined ? "no prices" : `no price for its output, ${NEEDED[model.output]?.[0]}`;
      const text = `(${model.id}) has ${needed}: its answers are not charged. Set prices, 0 if it is free`;
      return problemAt(config, ["providers", slug, "models", at], text);
    }),
  );
}

/** Returns the name of a model at its host if none is configured: the id without its author and without this gateway's `:free`. */
function upstreamNameOf(id: string): string {
  return id.slice(id.indexOf("/") + 1).replace(/:free$/i, "");
}
