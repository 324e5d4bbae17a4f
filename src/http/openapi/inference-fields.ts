import { z } from "zod";
import { BOUNDS } from "../../base/numbers/bounds.ts";
import { PROMPT_CACHING } from "../../wire/conversation/preferences.ts";
import { namedBody } from "./named-body.ts";

/*
 * Schemas of inference requests, for documentation only: the parsers in src/wire validate requests and pass on fields that are
 * not listed here. Every object may have further fields.
 */

/** Returns the schema of a model id, with an example that works unchanged if the sandbox provider is enabled. */
export function describeModelId(example: string) {
  return z
    .string()
    .max(BOUNDS.modelIdChars)
    .meta({
      description: "Id of a model or auto tier, `author/model`. `GET models` lists them.",
      examples: [example],
    });
}

const slugs = z.array(z.string()).max(BOUNDS.patterns);
const dollars = z.union([z.number().min(0), z.string()]);

/** The routing preferences of a request. */
const ProviderPreferences = namedBody(
  "ProviderPreferences",
  "Which providers may serve the request, and in which order.",
  {
    order: slugs
      .nullish()
      .describe("Slugs of providers to try first, in this order. An unknown slug is rejected with 400."),
    only: slugs
      .nullish()
      .describe("Slugs of the only providers to use. An unknown slug is rejected with 400."),
    ignore: slugs.nullish().describe("Slugs of providers not to use. An unknown slug is rejected with 400."),
    allow_fallbacks: z
      .boolean()
      .nullish()
      .describe(
        "`false` uses only the providers in `order`, even if none of them is available. If none of them serves the model, it uses only the first candidate. Default: `true`.",
      ),
    own_keys_only: z
      .boolean()
      .nullish()
      .describe(
        "Use only the account's own provider keys (BYOK), never the gateway's platform keys. Default: `false`.",
      ),
    data_collection: z
      .enum(["allow", "deny"])
      .nullish()
      .describe("`deny` uses only providers known not to train on request data. Default: `allow`."),
    zdr: z
      .boolean()
      .nullish()
      .describe(
        "Zero data retention: use only providers known not to retain request data. Default: `false`.",
      ),
    store: z
      .boolean()
      .nullish()
      .describe(
        "Lets vendors of the Responses format keep the response as well, under their own id, for a request of the Responses API that is forwarded to them. Without effect under zero data retention. Default: `false`.",
      ),
    require_parameters: z
      .boolean()
      .nullish()
      .describe("Use only deployments known to support every parameter of the request. Default: `false`."),
    max_price: z
      .strictObject({
        prompt: dollars.optional().describe("US dollars per million tokens."),
        completion: dollars.optional().describe("US dollars per million tokens."),
        request: dollars.optional().describe("US dollars each."),
        image: dollars.optional().describe("US dollars each."),
      })
      .nullish()
      .describe("Use only deployments that cost at most this."),
    sort: z
      .union([z.enum(["price", "throughput", "latency"]), z.looseObject({ by: z.string() })])
      .nullish()
      .describe(
        "Orders the providers that are not in `order`: by list price (`price`), by recent time to first token (`latency`) or by recent tokens per second (`throughput`). Providers without recent measurements come last.",
      ),
    prompt_caching: z
      .enum(PROMPT_CACHING)
      .nullish()
      .describe(
        "Whether the gateway sets cache marks in a prompt that has none, for vendors that need them: `auto` (the default) when that saves money, `off` never.",
      ),
  },
);

/** The fields of every inference request that are for the gateway and are not passed on. */
export const GATEWAY_FIELDS = {
  models: z
    .array(z.string())
    .max(BOUNDS.fallbackModels)
    .nullish()
    .describe("Fallback models, tried in this order if a model fails before its first token."),
  provider: ProviderPreferences.nullish(),
  preset: z
    .string()
    .nullish()
    .describe("Name of a preset of the account. Its settings apply where the request has none."),
  session_id: z
    .string()
    .nullish()
    .describe("Your identifier of the conversation, for cache affinity. Not sent to the provider."),
  tags: z
    .array(z.string().min(1).max(BOUNDS.tagChars))
    .max(BOUNDS.requestTags)
    .nullish()
    .describe(
      "What the request is for, such as a team or a job, for usage reports. Not sent to the provider.",
    ),
};

/** `stream`. */
export const STREAM = {
  stream: z.boolean().nullish().describe("Stream the response as server-sent events. Default: `false`."),
};

const tokens = z.int().min(0);

/** The `gateway_metadata` of a response. */
export const GatewayMetadata = namedBody(
  "GatewayMetadata",
  "How the gateway changed the request for the provider.",
  {
    warnings: z
      .array(z.looseObject({ field: z.string(), message: z.string() }))
      .optional()
      .describe("Fields of the request that the provider's format cannot express and that were left out."),
    repairs: z.looseObject({}).optional().describe("Repairs to the tool calls in the conversation."),
  },
);

/** Usage and cost of a chat completion. */
export const Usage = namedBody("Usage", "Token usage and cost of a response.", {
  prompt_tokens: tokens,
  completion_tokens: tokens.optional().describe("Tokens of the completion, including reasoning."),
  total_tokens: tokens,
  server_tool_use: z
    .looseObject({ web_search_requests: z.int().optional() })
    .optional()
    .describe("Server-side tool use. `web_search_requests` is the number of web searches by the vendor."),
  cost: z.number().optional().describe("US dollars charged to the account."),
  cost_details: z
    .looseObject({
      upstream_inference_cost: z.number().nullable().optional(),
      upstream_inference_prompt_cost: z.number().optional(),
      upstream_inference_completions_cost: z.number().optional(),
    })
    .optional()
    .describe(
      "The cost at the provider's list price in US dollars, and the parts of it for prompt tokens and for completion tokens. In Responses, these two are `upstream_inference_input_cost` and `upstream_inference_output_cost`.",
    ),
  is_byok: z.boolean().optional().describe("Whether the account's own provider key (BYOK) was used."),
  estimated: z
    .boolean()
    .optional()
    .describe("`true` if the provider reported no usage and the gateway counted the tokens."),
});
