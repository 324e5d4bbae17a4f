import { matchPattern } from "../../base/match-pattern.ts";
import type { ProviderFormat } from "../../wire/conversation/format-name.ts";
import { actionOf } from "./action-of.ts";
import {
  type ModelEndpoint,
  type ModelRecord,
  type ProviderRecord,
  SAMPLING_PARAMETERS,
  type SamplingParameter,
} from "./records.ts";

/** The sampling parameters for which each format has a field (docs/fidelity.md). */
export const EXPRESSIBLE: Readonly<Record<ProviderFormat, readonly SamplingParameter[]>> = {
  "openai-chat": SAMPLING_PARAMETERS,
  "openai-responses": ["logprobs", "top_logprobs"],
  "anthropic-messages": ["stop"],
  gemini: SAMPLING_PARAMETERS,
  "bedrock-converse": ["stop"],
  "cohere-chat": ["frequency_penalty", "logprobs", "presence_penalty", "seed", "stop"],
  "openai-completions": ["frequency_penalty", "logprobs", "n", "presence_penalty", "seed", "stop"],
};

/** The parameters that a provider accepts if its row names none. Providers differ in all others. */
const DEFAULT_PARAMETERS: readonly SamplingParameter[] = ["stop"];

/** Parameters that a model rejects if it rejects `temperature`. */
const FIXED: ReadonlySet<SamplingParameter> = new Set([
  "frequency_penalty",
  "logprobs",
  "presence_penalty",
  "top_logprobs",
]);

/** The parameter for answers by a JSON Schema. */
const SCHEMAS = "structured_outputs";

/**
 * Returns the models with `takes` of their endpoints filled in, and what the endpoints' providers have for no model in `lacks`. `providers`
 * must contain all providers of these endpoints.
 */
export function addSamplingParameters(
  models: readonly ModelRecord[],
  providers: readonly ProviderRecord[],
): ModelRecord[] {
  const listOf = createLister(providers);
  const withoutSchemas = new Set(
    providers.filter(({ quirks }) => quirks.noSchemas === true).map(({ slug }) => slug),
  );
  const withFim = new Set(providers.flatMap(({ slug, paths }) => (paths?.fim === undefined ? [] : slug)));
  const fillsIn = ({ id }: ModelRecord, { provider }: ModelEndpoint) =>
    withFim.has(provider) && matchPattern(CODE_MODELS, id);
  return models.map((model) => {
    if (actionOf(model) !== "chat") return model;
    const endpoints = model.endpoints.map((endpoint) => {
      const takes = listOf(endpoint, hasTemperature(model, endpoint));
      return {
        ...endpoint,
        ...(withoutSchemas.has(endpoint.provider) ? { lacks: [...(endpoint.lacks ?? []), SCHEMAS] } : {}),
        takes: fillsIn(model, endpoint) ? WITH_SUFFIX.concat(takes) : takes,
      };
    });
    return { ...model, endpoints };
  });
}

/** Whether a model takes a temperature at an endpoint. */
export function hasTemperature(model: ModelRecord, endpoint: ModelEndpoint): boolean {
  return (
    model.supportedParameters.includes("temperature") && endpoint.lacks?.includes("temperature") !== true
  );
}

/** The models that fill in the middle, according to their author (https://docs.mistral.ai/capabilities/code_generation, 2026-11-28). */
const CODE_MODELS = "mistralai/codestral*";
const WITH_SUFFIX: readonly (SamplingParameter | "suffix")[] = ["suffix"];

/** Returns a function that lists the parameters of an endpoint. Lists are shared, because there are thousands of endpoints. */
function createLister(providers: readonly ProviderRecord[]) {
  const bySlug = new Map(providers.map((provider) => [provider.slug, provider]));
  const known = new Map<string, readonly SamplingParameter[]>();
  return (endpoint: ModelEndpoint, withTemperature: boolean): readonly SamplingParameter[] => {
    const provider = bySlug.get(endpoint.provider);
    const format = endpoint.format ?? provider?.format;
    if (format === undefined) return [];
    const name = `${endpoint.provider} ${format} ${withTemperature}`;
    let list = known.get(name);
    if (list === undefined) {
      list = listParameters(format, provider?.parameters ?? DEFAULT_PARAMETERS, withTemperature);
      known.set(name, list);
    }
    return list;
  };
}

function listParameters(
  format: ProviderFormat,
  taken: readonly SamplingParameter[],
  withTemperature: boolean,
): readonly SamplingParameter[] {
  // OpenAI's models that reject a temperature also reject stop sequences; Anthropic's accept them.
  const isFixed = (parameter: SamplingParameter) =>
    !withTemperature && (FIXED.has(parameter) || (parameter === "stop" && format === "openai-chat"));
  return EXPRESSIBLE[format].filter((parameter) => taken.includes(parameter) && !isFixed(parameter));
}
