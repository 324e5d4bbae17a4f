import { z } from "zod";
import { PlanLine } from "./route-schemas.ts";

const price = z.string().describe("US dollars per token, a decimal string");
const otherPrices = {
  input_cache_read: price.optional(),
  input_cache_write: price.optional(),
  request: z.string().optional().describe("US dollars a request"),
  image: z.string().optional().describe("US dollars an image of the prompt"),
  image_output: price.optional().describe("US dollars per token of images in the answer"),
  web_search: z.string().optional().describe("US dollars a search by the vendor"),
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
      .describe("Prices from a length of the prompt on"),
  })
  .meta({ id: "Pricing", description: "The highest price of all providers that may answer" });

/** A record of `GET models` (`PublicModel`). */
export const Model = z
  .object({
    id: z.string(),
    object: z.literal("model"),
    created: z.int().describe("Unix seconds"),
    owned_by: z.string().describe("The author; of an auto tier `gateway`"),
    name: z.string(),
    description: z.string(),
    canonical_slug: z.string(),
    context_length: z.int().describe("Tokens of prompt and answer together that every provider takes"),
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
    expiration_date: z.string().nullable().describe("The day on which it ends"),
    resolves_to: z
      .array(
        z.object({
          when: z.string().describe("The case, in words"),
          models: z.array(z.string()).describe("In order; the first leads"),
        }),
      )
      .optional()
      .describe("Of an auto tier: the models that it comes to now, case by case"),
  })
  .meta({ id: "Model", description: "A model or an auto tier" });

const percentiles = z.looseObject({ p50: z.number(), p90: z.number(), p99: z.number() }).nullable();

/** How an endpoint fared lately (`PublicHealth`). */
const HEALTH = {
  status: z
    .enum(["ok", "degraded", "down", "unknown"])
    .describe("down: it is not asked but for probes; unknown: nobody has asked it lately"),
  uptime: z.number().nullable().describe("Share of the last minute's attempts that went well"),
  latency_ms: percentiles.describe("Milliseconds until the first token of a stream"),
  throughput: percentiles.describe("Tokens a second behind the first"),
  requests: z.int().describe("Attempts of the last minute"),
};

/** Who serves a model. */
export const ModelEndpoints = z.object({
  data: z.object({
    id: z.string(),
    name: z.string(),
    endpoints: z.array(
      z.object({
        provider_name: z.string(),
        tag: z.string().describe("The provider's slug"),
        model_id: z.string().describe("Of an auto tier: which of its models"),
        model_name: z.string().describe("What the model is called there"),
        context_length: z.int(),
        max_completion_tokens: z.int().nullable(),
        pricing: Pricing,
        supported_parameters: z.array(z.string()),
        configured: z.boolean().describe("The gateway has a key for it"),
        ...HEALTH,
        expiration_date: z.string().nullable().describe("The day on which it ends"),
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
    byokEnabled: z.boolean().describe("It takes keys that accounts bring"),
    models: z.int().describe("How many models it serves here"),
  })
  .meta({ id: "Provider" });

/** A list that comes whole. */
export function listOf(item: z.ZodType) {
  return z.looseObject({ object: z.literal("list"), data: z.array(item) });
}

/** The query of both lists. */
export const LIST_QUERY = z.object({
  all: z
    .enum(["true", "false"])
    .optional()
    .describe("true: the whole catalog. Default: what can be served here"),
});

const tokens = z.int().min(0);
const milliseconds = z.number().nullable();

/** What `GET generation` shows (`presentGeneration`). */
export const Generation = z
  .object({
    id: z.string(),
    request_id: z.string(),
    api: z.string().describe("The client API, such as `chat.completions`"),
    requested_model: z.string(),
    model: z.string().nullable().describe("The model that answered"),
    provider_name: z.string().nullable(),
    streamed: z.boolean(),
    outcome: z.enum(["open", "completed", "failed", "cancelled", "interrupted"]),
    cancelled: z.boolean(),
    status: z.int().nullable().describe("The HTTP status that the client saw"),
    error_type: z.string().nullable(),
    finish_reason: z.string().nullable(),
    native_finish_reason: z.string().nullable(),
    created_at: z.iso.datetime(),
    latency: milliseconds.describe("Milliseconds to the first token"),
    generation_time: milliseconds.describe("Milliseconds from the first token to the end"),
    tokens_prompt: tokens,
    tokens_completion: tokens,
    tokens_cached: tokens,
    tokens_cache_write: tokens,
    tokens_cache_write_1h: tokens,
    tokens_reasoning: tokens,
    tokens_audio_prompt: tokens,
    tokens_audio_completion: tokens,
    tokens_image_completion: tokens,
    images_prompt: tokens.describe("Images in the prompt"),
    web_searches: tokens.describe("Searches by the vendor"),
    search_context: z
      .string()
      .nullable()
      .describe("How much they read, where that was said: `low`, `medium` or `high`"),
    estimated: z.boolean().describe("The provider gave no numbers; they were counted by the gateway"),
    total_cost: z.number().describe("US dollars that the account paid"),
    total_cost_nanodollars: z.int(),
    upstream_inference_cost: z.number().describe("The provider's list price, US dollars"),
    is_byok: z.boolean(),
    prices: z
      .looseObject({})
      .nullable()
      .describe("The row of prices that was used, US dollars per token as decimal strings"),
    pricing: z
      .array(
        z.object({
          model: z.string().optional().describe("Of a model that was consulted: which"),
          kind: z.string(),
          tokens: z.int().optional(),
          count: z.int().optional().describe("In place of tokens: of requests, images or searches"),
          price: z.string(),
          cost_nanodollars: z.string(),
        }),
      )
      .describe("The products whose sum, rounded once, is `upstream_inference_cost`"),
    advisors: z
      .array(
        z.object({
          model: z.string(),
          tokens_prompt: tokens,
          tokens_completion: tokens,
          tokens_cached: tokens,
          tokens_cache_write: tokens,
          upstream_inference_cost: z.number().describe("US dollars at that model's list price"),
        }),
      )
      .describe("Models that the one that answered has consulted; their tokens are counted here alone"),
    plan: z.array(PlanLine).describe("Who was to be asked, in turn, then who was not"),
    attempts: z.array(
      z.object({
        provider_name: z.string(),
        upstream_model: z.string(),
        upstream_format: z.string().nullable().describe("The format that it was asked in"),
        is_byok: z.boolean(),
        started_at: z.iso.datetime(),
        duration_ms: milliseconds,
        upstream_status: z.int().nullable(),
        error_type: z.string().nullable(),
      }),
    ),
  })
  .meta({ id: "Generation" });
