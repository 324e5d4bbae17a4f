import { z } from "zod";
import { PlanLine } from "./route-schemas.ts";

const price = z.string().describe("US dollars per token, as a decimal string.");
const otherPrices = {
  input_cache_read: price.optional(),
  input_cache_write: price.optional(),
  request: z.string().optional().describe("US dollars per request."),
  image: z.string().optional().describe("US dollars per image in the prompt."),
  image_output: price.optional().describe("US dollars per token of generated images."),
  web_search: z.string().optional().describe("US dollars per web search by the vendor."),
  audio: price.optional(),
  audio_output: price.optional(),
  internal_reasoning: price.optional(),
};
const prices = { prompt: price, completion: price, ...otherPrices };

const Pricing = z
  .object({
    ...prices,
    overrides: z
      .array(z.looseObject({ min_prompt_tokens: z.int(), ...prices }))
      .optional()
      .describe("Prices that apply from a prompt length on."),
  })
  .meta({
    id: "Pricing",
    description: "Prices of a model: for each unit the highest price among its providers.",
  });

/** A record of `GET models` (`PublicModel`). */
export const Model = z
  .object({
    id: z.string(),
    object: z.literal("model"),
    created: z.int().describe("Creation time in Unix seconds."),
    owned_by: z.string().describe("Author of the model; `gateway` for an auto tier."),
    name: z.string(),
    description: z.string(),
    canonical_slug: z.string(),
    context_length: z
      .int()
      .describe("Context length in tokens, prompt and completion together, that every provider supports."),
    pricing: Pricing,
    architecture: z.object({
      input_modalities: z.array(z.string()),
      output_modalities: z.array(z.string()),
      tokenizer: z.string(),
    }),
    top_provider: z.object({
      context_length: z.int(),
      max_completion_tokens: z.int().nullable(),
      is_moderated: z.boolean(),
    }),
    supported_parameters: z.array(z.string()),
    isFree: z.boolean(),
    expiration_date: z
      .string()
      .nullable()
      .describe("Date on which the model is retired. `null` means none is announced."),
    resolves_to: z
      .array(
        z.object({
          when: z.string().describe("Description of the case."),
          models: z.array(z.string()).describe("Ids of the models in order of preference."),
        }),
      )
      .optional()
      .describe("For an auto tier: the models it currently resolves to, by case."),
  })
  .meta({ id: "Model", description: "A model or an auto tier." });

const percentiles = z.looseObject({ p50: z.number(), p90: z.number(), p99: z.number() }).nullable();

/** The recent health of an endpoint (`PublicHealth`). */
const HEALTH = {
  status: z
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
    endpoints: z.array(
      z.object({
        provider_name: z.string(),
        tag: z.string().describe("Slug of the provider."),
        model_id: z.string().describe("Id of the model; for an auto tier, one of its models."),
        model_name: z.string().describe("Name of the model at the provider."),
        context_length: z.int(),
        max_completion_tokens: z.int().nullable(),
        pricing: Pricing,
        supported_parameters: z.array(z.string()),
        configured: z.boolean().describe("Whether the gateway can call the endpoint."),
        ...HEALTH,
        expiration_date: z
          .string()
          .nullable()
          .describe("Date on which the endpoint is retired. `null` means none is announced."),
      }),
    ),
  }),
});

/** A record of `GET providers` (`PublicProvider`). */
export const Provider = z
  .object({
    slug: z.string(),
    name: z.string(),
    displayName: z.string(),
    privacy_policy_url: z.string().nullable(),
    terms_of_service_url: z.string().nullable(),
    status_page_url: z.string().nullable(),
    headquarters: z.string().nullable(),
    datacenters: z.array(z.string()).nullable(),
    byokEnabled: z.boolean().describe("Whether the provider accepts BYOK keys."),
    models: z.int().describe("Number of models that the provider serves."),
  })
  .meta({ id: "Provider" });

/** Returns the schema of a list without pages. */
export function listOf(item: z.ZodType) {
  return z.looseObject({ object: z.literal("list"), data: z.array(item) });
}

/** The query of the lists of models and providers. */
export const LIST_QUERY = z.object({
  all: z
    .enum(["true", "false"])
    .optional()
    .describe("`true` lists the whole catalog. Default: only what this gateway can serve."),
});

const tokens = z.int().min(0);
const milliseconds = z.number().nullable();

/** What `GET generation` shows (`presentGeneration`). */
export const Generation = z
  .object({
    id: z.string(),
    request_id: z.string(),
    api: z.string().describe("Client API of the request, such as `chat.completions`."),
    requested_model: z.string(),
    model: z.string().nullable().describe("Id of the model that answered. `null` means none did."),
    provider_name: z.string().nullable(),
    streamed: z.boolean(),
    outcome: z.enum(["open", "completed", "failed", "cancelled", "interrupted"]),
    cancelled: z.boolean(),
    status: z.int().nullable().describe("HTTP status of the response to the client."),
    error_type: z.string().nullable(),
    finish_reason: z.string().nullable(),
    native_finish_reason: z.string().nullable(),
    created_at: z.iso.datetime(),
    latency: milliseconds.describe("Time to first token, in milliseconds."),
    generation_time: milliseconds.describe("Time from the first token to the end, in milliseconds."),
    tokens_prompt: tokens,
    tokens_completion: tokens,
    tokens_cached: tokens,
    tokens_cache_write: tokens,
    tokens_cache_write_1h: tokens,
    tokens_reasoning: tokens,
    tokens_audio_prompt: tokens,
    tokens_audio_completion: tokens,
    tokens_image_completion: tokens,
    images_prompt: tokens.describe("Number of images in the prompt."),
    web_searches: tokens.describe("Number of web searches by the vendor."),
    search_context: z
      .string()
      .nullable()
      .describe("Context size of the web searches, if the request set one: `low`, `medium` or `high`."),
    estimated: z
      .boolean()
      .describe("Whether the gateway counted the tokens, because the provider reported no usage."),
    total_cost: z.number().describe("US dollars charged to the account."),
    total_cost_nanodollars: z.int(),
    upstream_inference_cost: z.number().describe("Cost at the provider's list price, in US dollars."),
    is_byok: z.boolean(),
    prices: z
      .looseObject({})
      .nullable()
      .describe("The prices that applied, in US dollars per token as decimal strings."),
    pricing: z
      .array(
        z.object({
          model: z.string().optional().describe("Id of the consulted model, for a line of `advisors`."),
          kind: z.string(),
          tokens: z.int().optional(),
          count: z
            .int()
            .optional()
            .describe("Number of requests, images or searches, for lines that do not count tokens."),
          price: z.string(),
          cost_nanodollars: z.string(),
        }),
      )
      .describe("Lines of the cost calculation. Their sum, rounded once, is `upstream_inference_cost`."),
    advisors: z
      .array(
        z.object({
          model: z.string(),
          tokens_prompt: tokens,
          tokens_completion: tokens,
          tokens_cached: tokens,
          tokens_cache_write: tokens,
          upstream_inference_cost: z
            .number()
            .describe("Cost at the list price of the consulted model, in US dollars."),
        }),
      )
      .describe(
        "Models that the answering model consulted. Their tokens are not included in the totals above.",
      ),
    plan: z
      .array(PlanLine)
      .describe("The routing plan: the candidates in their order, then the deployments that were left out."),
    attempts: z.array(
      z.object({
        provider_name: z.string(),
        upstream_model: z.string(),
        upstream_format: z.string().nullable().describe("Wire format of the request to the provider."),
        is_byok: z.boolean(),
        started_at: z.iso.datetime(),
        duration_ms: milliseconds,
        upstream_status: z.int().nullable(),
        error_type: z.string().nullable(),
      }),
    ),
  })
  .meta({ id: "Generation" });
