import { z } from "zod";
import { CLIENT_FAMILIES } from "../../core/usage/clients/client-family.ts";
import { ATTEMPT_RESULTS } from "../../core/usage/generations/candidate-results.ts";
import { OUTCOMES, REPLAY_FEATURES } from "../../core/usage/records/records.ts";
import { GUARDRAIL_RESULTS } from "../../wire/conversation/warning.ts";
import { LedgerEntryView } from "./ledger-entry-view.ts";
import { NamedRouteSteps } from "./named-route-steps.ts";
import { PlanLine } from "./plan-view.ts";

const tokens = z.int().min(0);
const milliseconds = z.number().nullable();

const session = z
  .string()
  .nullable()
  .describe(
    "Keyed hash of the session that the client named (`session_id`, `x-session-id` and others). `null` means the client named none.",
  );

const tags = z.array(z.string()).describe("Tags that the client set (`tags`, `x-gateway-tags`).");

const client = z
  .enum(CLIENT_FAMILIES)
  .nullable()
  .describe(
    "Family of the client, which is read from the `User-Agent`. `null` if the client sent none, and for generations of earlier versions.",
  );
const clientVersion = z.string().nullable().describe("Version that the client states in its `User-Agent`.");

const errorMessage = z
  .string()
  .nullable()
  .describe(
    "The message that the client got, shortened to 500 characters. `null` under zero data retention.",
  );

const outcome = z
  .enum(OUTCOMES)
  .describe(
    "How the generation ended. `open`: it runs. `completed`: a provider's answer is complete. `cached`: an earlier answer was returned (`replay_of`). `failed`. `cancelled`: the client left. `interrupted`: the gateway's process ended.",
  );

/** The fields of a generation (`presentGeneration`). */
const GENERATION = {
  id: z.string(),
  request_id: z.string(),
  session_id: session,
  tags,
  api: z.string().describe("Client API of the request, such as `chat.completions`."),
  client,
  client_version: clientVersion,
  requested_model: z.string(),
  fallback_models: z
    .array(z.string())
    .describe("Names that the client listed to answer if the requested model does not (`models`), in order."),
  named_routes: NamedRouteSteps,
  shadow_of: z
    .string()
    .nullable()
    .describe("Id of the generation that this one copies. `null` if it is not shadow traffic."),
  model: z.string().nullable().describe("Id of the model that answered. `null` means none did."),
  provider_name: z.string().nullable(),
  streamed: z.boolean(),
  outcome,
  cancelled: z.boolean(),
  status: z.int().nullable().describe("HTTP status of the response to the client."),
  error_type: z.string().nullable(),
  error_message: errorMessage,
  error_field: z
    .string()
    .nullable()
    .describe("Field of the request that the error is about. `null` if it is about none."),
  explanation: z
    .array(z.string())
    .describe(
      "What happened, in sentences: what guardrails did, how each call of a provider ended, and how the request ended. For people; the wording may change.",
    ),
  finish_reason: z.string().nullable(),
  native_finish_reason: z.string().nullable(),
  replay_of: z
    .string()
    .nullable()
    .describe(
      "Id of the generation whose stored answer was returned, at no cost. `null` means a provider answered.",
    ),
  replay_by: z
    .enum(REPLAY_FEATURES)
    .nullable()
    .describe(
      "What returned the stored answer: the answer cache, or the repetition of an `Idempotency-Key`.",
    ),
  replay_saved_nanodollars: z
    .int()
    .describe(
      "What the stored answer had cost the account, in nanodollars. 0 if no stored answer was returned.",
    ),
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
  units: z
    .object({
      characters: tokens.describe("Characters of the text that was spoken."),
      audio_seconds: tokens.describe("Seconds of the recording that was transcribed."),
      generated_images: tokens,
      image_size: z.string().nullable(),
      image_quality: z.string().nullable(),
    })
    .nullable()
    .describe("Units that are not tokens, of speech, transcription and images. `null` for other requests."),
  estimated: z
    .boolean()
    .describe("Whether the gateway counted the tokens, because the provider reported no usage."),
  total_cost: z.number().describe("US dollars charged to the account."),
  total_cost_nanodollars: z.int(),
  cache_discount: z
    .number()
    .describe(
      "US dollars that the vendor's prompt cache saved: the savings from reads minus the extra cost of writes. Negative if writes cost more.",
    ),
  upstream_inference_cost: z
    .number()
    .describe(
      "Cost at the provider's list price, in US dollars. If a pricing rule applies, the cost at the prices of the rule; only the operator sees the list price.",
    ),
  is_byok: z.boolean(),
  prices: z
    .looseObject({})
    .nullable()
    .describe("The prices that the account pays, in US dollars per token as decimal strings."),
  pricing: z
    .array(
      z.object({
        model: z.string().optional().describe("Id of the consulted model, for a line of `advisors`."),
        kind: z.string(),
        tokens: z.int().optional(),
        count: z
          .int()
          .optional()
          .describe(
            "Number of requests, images, searches, characters or seconds, for lines that do not count tokens.",
          ),
        price: z.string(),
        cost_nanodollars: z.string(),
      }),
    )
    .describe(
      "Lines of the cost calculation. Their sum, rounded once, is `total_cost`, unless the model is free or the account did not cover it; for BYOK keys without a fee it is `upstream_inference_cost`.",
    ),
  list_prices: z
    .looseObject({})
    .nullable()
    .describe("For the operator: the provider's prices, which pricing rules may replace. Otherwise `null`."),
  margin_nanodollars: z
    .int()
    .nullable()
    .describe(
      "For the operator: `total_cost` minus what the provider bills to the operator. Otherwise `null`.",
    ),
  repairs: z
    .object({
      duplicate_calls_removed: tokens,
      orphan_results_removed: tokens,
      placeholders_added: tokens,
      ids_mapped: tokens,
    })
    .nullable()
    .describe(
      "Repairs of the request's tool calls, as in `gateway_metadata.repairs` of the answer. `null` means none.",
    ),
  warnings: z
    .array(
      z.object({
        field: z.string(),
        message: z.string().nullable().describe("`null` under zero data retention."),
      }),
    )
    .describe(
      "What was left out or changed, as in `gateway_metadata.warnings` of the answer: at most 20, each shortened to 200 characters.",
    ),
  guardrails: z
    .array(
      z.object({
        name: z.string(),
        action: z
          .enum(GUARDRAIL_RESULTS)
          .describe(
            "What it did. `unchecked`: it could not check the text, which was let pass. `unavailable`: it could not, and the text was not let pass.",
          ),
        on: z.enum(["request", "answer"]),
      }),
    )
    .describe("The guardrails that found something, or could not check."),
  cache_marks: z
    .array(z.enum(["shared", "turns"]))
    .describe(
      "The parts of the prompt that the gateway marked for the vendor's cache: `shared` for instructions and tools, `turns` for the latest turns.",
    ),
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
      model: z
        .string()
        .nullable()
        .describe("Id of the model that was called. `null` for generations of earlier versions."),
      key: z
        .string()
        .nullable()
        .describe(
          "Key that was used: the id of a BYOK key, or for the operator the name of a platform key. Otherwise `null`.",
        ),
      key_number: z
        .int()
        .nullable()
        .describe(
          "Number of this key among the provider's keys in the request, from 1 on. `null` if there is only one.",
        ),
      result: z
        .enum(ATTEMPT_RESULTS)
        .describe(
          "How the call ended up to the first token. `empty`: the answer had no content. `cancelled`: the client left. `running`: it had not ended.",
        ),
      upstream_model: z.string(),
      upstream_format: z.string().nullable().describe("Wire format of the request to the provider."),
      is_byok: z.boolean(),
      started_at: z.iso.datetime(),
      duration_ms: milliseconds,
      upstream_status: z.int().nullable(),
      error_type: z.string().nullable(),
      upstream_code: z
        .string()
        .nullable()
        .describe("The provider's own error code, such as `tool_use_failed`. `null` if it sent none."),
      upstream_message: z
        .string()
        .nullable()
        .describe(
          "What the provider said about the failure, or what happened to the connection, without secrets and shortened to 500 characters. `null` under zero data retention. If it is about the operator's account at the provider, only the operator sees it.",
        ),
    }),
  ),
};

const nativeTokens = z
  .int()
  .min(0)
  .nullable()
  .describe("The provider's own count. `null` if the gateway counted.");
const notRecorded = z.null().describe("Always `null`: OpenRouter's clients read the field.");

/** Fields that clients of OpenRouter read of a generation (`presentOwnGeneration`). */
const COMPATIBLE = {
  api_type: z
    .enum(["completions", "embeddings", "rerank", "image", "tts", "stt"])
    .nullable()
    .describe("Kind of the client API. `null` for moderations."),
  usage: z.number().describe("Same as `total_cost`."),
  num_media_prompt: tokens.describe("Same as `images_prompt`."),
  native_tokens_prompt: nativeTokens,
  native_tokens_completion: nativeTokens,
  native_tokens_cached: nativeTokens,
  native_tokens_reasoning: nativeTokens,
  native_tokens_completion_images: nativeTokens,
  app_id: notRecorded,
  data_region: z.literal("global").describe("Always `global`: regions are not recorded."),
  external_user: notRecorded,
  http_referer: notRecorded,
  moderation_latency: notRecorded,
  num_fetches: notRecorded,
  num_input_audio_prompt: notRecorded,
  num_media_completion: notRecorded,
  num_search_results: notRecorded,
  origin: z.literal("").describe("Always empty: not recorded."),
  preset_id: notRecorded,
  provider_responses: notRecorded,
  router: notRecorded,
  service_tier: notRecorded,
  upstream_id: notRecorded,
  user_agent: notRecorded,
  web_search_engine: notRecorded,
  workspace_id: notRecorded,
};

/** The response of `GET generation`. */
export const Generation = z.object({ ...GENERATION, ...COMPATIBLE }).meta({ id: "Generation" });

const named = z.object({ id: z.string(), name: z.string().nullable() }).nullable();

/** A generation for management keys (`presentGenerationDetails`). */
export const GenerationDetails = z
  .object({
    ...GENERATION,
    account: named.describe("Account that pays. `null` for anonymous use."),
    key: named.describe("API key of the request. `null` for anonymous use."),
    user: named.describe("User of the key. `null` for a service key."),
    team: named.describe("Team of the key, also a deleted one. `null` for a key without a team."),
    first_token_at: z.iso.datetime().nullable(),
    finished_at: z.iso.datetime().nullable(),
    duration: milliseconds.describe("Time from the request to the end, in milliseconds."),
    held_nanodollars: z.int().describe("Amount that was held for the generation, in nanodollars."),
    has_bodies: z
      .boolean()
      .describe("Whether request and response bodies are stored: `GET /api/admin/generations/{id}/bodies`."),
    has_response: z
      .boolean()
      .describe("Whether the gateway keeps the response: `GET /api/admin/responses/{id}`."),
    transfers: z
      .array(LedgerEntryView)
      .describe("Ledger entries of the account for the generation: its charge, then refunds."),
  })
  .meta({ id: "GenerationDetails", description: "A generation with its caller and ledger entries." });

/** A generation in a list (`presentGenerationLine`). */
export const GenerationLine = z
  .object({
    id: z.string(),
    request_id: z.string(),
    created_at: z.iso.datetime(),
    account_id: z.string().nullable().describe("Id of the account that pays. `null` for anonymous use."),
    account_name: z.string().nullable(),
    key_id: z.string().nullable(),
    key_name: z.string().nullable(),
    user_id: z.string().nullable().describe("Id of the key's user. `null` for a service key."),
    user_name: z.string().nullable(),
    team_id: z.string().nullable().describe("Id of the key's team. `null` for a key without a team."),
    team_name: z.string().nullable().describe("Name of the team, also of a deleted one."),
    session_id: session,
    tags,
    client,
    client_version: clientVersion,
    api: z.string().describe("Client API of the request, such as `chat.completions`."),
    requested_model: z.string(),
    model: z.string().nullable().describe("Id of the model that answered. `null` means none did."),
    provider_name: z.string().nullable(),
    streamed: z.boolean(),
    outcome,
    status: z.int().nullable().describe("HTTP status of the response to the client."),
    error_type: z.string().nullable(),
    error_message: errorMessage,
    replay_of: z
      .string()
      .nullable()
      .describe("Id of the generation whose stored answer was returned. `null` means none was."),
    finish_reason: z.string().nullable(),
    latency: milliseconds.describe("Time to first token, in milliseconds."),
    duration: milliseconds.describe("Time from the request to the end, in milliseconds."),
    attempts: z.int().describe("Number of calls to providers."),
    tokens_prompt: z.int(),
    tokens_completion: z.int(),
    tokens_cached: z.int(),
    total_cost: z.number().describe("US dollars charged to the account."),
    total_cost_nanodollars: z.int(),
    is_byok: z.boolean(),
  })
  .meta({ id: "GenerationLine", description: "A generation in a list." });
