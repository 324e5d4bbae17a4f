import { z } from "zod";
import { Pricing, unknownFact } from "../../core/catalog/present/model-view.ts";

const percentiles = z.looseObject({ p50: z.number(), p90: z.number(), p99: z.number() }).nullable();

/** Fields about a time that this gateway does not measure, for clients of OpenRouter. */
const notMeasured = z.null().describe("Always `null`: not measured over this time.");

/** The recent health of an endpoint (`PublicHealth`). */
const HEALTH = {
  health: z
    .enum(["ok", "degraded", "down", "unknown"])
    .describe("Recent health: `down` receives only probes, `unknown` had no recent requests."),
  uptime: z.number().nullable().describe("Share of successful attempts in the last minute, 0 to 1."),
  latency_ms: percentiles.describe("Time to first token of streams, in milliseconds."),
  throughput: percentiles.describe("Tokens per second after the first token."),
  requests: z.int().describe("Number of attempts in the last minute."),
};

/** The endpoints of a model. */
export const ModelEndpoints = z.object({
  data: z.object({
    id: z.string(),
    name: z.string(),
    created: z.int().describe("Creation time in Unix seconds."),
    description: z.string(),
    architecture: z.object({
      input_modalities: z.array(z.string()),
      output_modalities: z.array(z.string()),
      tokenizer: z.string(),
      modality: z.string(),
      instruct_type: unknownFact,
    }),
    endpoints: z.array(
      z.object({
        provider_name: z.string(),
        tag: z.string().describe("Slug of the provider."),
        name: z.string().describe("Provider and model, to be shown."),
        model_id: z.string().describe("Id of the model; for an auto tier, one of its models."),
        model_name: z.string().describe("Name of the model at the provider."),
        context_length: z.int(),
        max_completion_tokens: z.int().nullable(),
        max_prompt_tokens: z.null().describe("Always `null`: prompts may have `context_length` tokens."),
        quantization: z.null().describe("Always `null`: not known."),
        pricing: Pricing,
        supported_parameters: z.array(z.string()),
        supports_tool_choice: z
          .object({ auto: z.boolean(), none: z.boolean(), required: z.boolean(), function: z.boolean() })
          .describe("Values of `tool_choice` that the model takes here."),
        supports_implicit_caching: z
          .boolean()
          .describe("Whether prompts are cached without marks, as far as the catalog knows."),
        configured: z.boolean().describe("Whether the gateway can call the endpoint."),
        ...HEALTH,
        uptime_last_5m: notMeasured,
        uptime_last_30m: notMeasured,
        uptime_last_1d: notMeasured,
        latency_last_30m: notMeasured,
        throughput_last_30m: notMeasured,
        expiration_date: z
          .string()
          .nullable()
          .describe("Date on which the endpoint is retired. `null` means none is announced."),
      }),
    ),
  }),
});

/** Returns the schema of a list without pages. */
export function listOf(item: z.ZodType) {
  return z.looseObject({
    object: z.literal("list"),
    data: z.array(item),
    links: z.object({ next: z.null().describe("Always `null`: the list is complete.") }),
    total_count: z.int().describe("Number of all records, regardless of `limit` and `offset`."),
  });
}

/** Which part of a list is wanted. Without either the list is whole. */
const PART_QUERY = {
  limit: z.coerce.number().int().min(0).optional().describe("Maximum number of records to return."),
  offset: z.coerce.number().int().min(0).optional().describe("Number of records to skip."),
};

/** The query of the lists of models and providers. */
export const LIST_QUERY = z.object({
  all: z
    .enum(["true", "false"])
    .optional()
    .describe("`true` lists the whole catalog. Default: only what this gateway can serve."),
});

/** The query of the lists of models. */
export const MODELS_QUERY = LIST_QUERY.extend(PART_QUERY);
