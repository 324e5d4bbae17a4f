import { z } from "zod";
import { BOUNDS } from "../../base/bounds.ts";

/*
 * What the gateway reads of requests, for the document alone: the readers of src/wire check each request, and pass on what
 * stands here nowhere. Every object may have further fields.
 */

/** A model's id, with an example that works as it stands where the sandbox is on. */
export function describeModelId(example: string) {
  return z
    .string()
    .max(BOUNDS.modelIdChars)
    .meta({ description: "A model's id, as `GET models` lists them: `author/model`", examples: [example] });
}

const slugs = z.array(z.string()).max(BOUNDS.patterns);
const dollars = z.union([z.number().min(0), z.string()]);

/** `provider`: who may answer. */
const ProviderPreferences = z
  .looseObject({
    order: slugs.nullish().describe("Slugs of providers to try first, in this order. Unknown ones are a 400"),
    only: slugs.nullish().describe("No other providers than these; likewise"),
    ignore: slugs.nullish().describe("Not these providers; likewise"),
    allow_fallbacks: z
      .boolean()
      .nullish()
      .describe(
        "false: only those of `order`, also while none of them can be asked; where `order` names none that serves the model, the first. Default: true",
      ),
    own_keys_only: z
      .boolean()
      .nullish()
      .describe("Only the account's own keys at providers, never the gateway's. Default: false"),
    data_collection: z
      .enum(["allow", "deny"])
      .nullish()
      .describe("deny: only providers known not to train on what they are sent. Default: allow"),
    zdr: z.boolean().nullish().describe("Only providers known to keep nothing. Default: false"),
    require_parameters: z
      .boolean()
      .nullish()
      .describe("Only deployments known to take every parameter of the request. Default: false"),
    max_price: z
      .strictObject({
        prompt: dollars.optional().describe("US dollars per million tokens"),
        completion: dollars.optional().describe("US dollars per million tokens"),
        request: dollars.optional().describe("US dollars each"),
        image: dollars.optional().describe("US dollars each"),
      })
      .nullish()
      .describe("Only deployments that cost no more"),
    sort: z
      .union([z.enum(["price", "throughput", "latency"]), z.looseObject({ by: z.string() })])
      .nullish()
      .describe(
        "What providers beyond `order` are ordered by: the list price, or the time to the first token (`latency`) or the tokens a second (`throughput`) as measured lately; who was not measured comes last",
      ),
  })
  .meta({ id: "ProviderPreferences", description: "Who may answer" });

/** Fields that speak to the gateway and go no further. */
export const GATEWAY_FIELDS = {
  models: z
    .array(z.string())
    .max(BOUNDS.fallbackModels)
    .nullish()
    .describe("Models to fall back to before the first token, in this order"),
  provider: ProviderPreferences.nullish(),
  session_id: z.string().nullish().describe("Your name for the conversation; goes no further"),
};

/** `stream`. */
export const STREAM = {
  stream: z.boolean().nullish().describe("Answer with server-sent events. Default: false"),
};

const tokens = z.int().min(0);

/** What the gateway says of an answer beside the answer. */
export const GatewayMetadata = z
  .looseObject({
    warnings: z
      .array(z.looseObject({ field: z.string(), message: z.string() }))
      .optional()
      .describe("What the provider's format cannot say and was left out"),
    repairs: z.looseObject({}).optional().describe("What was repaired in the history of tool calls"),
  })
  .meta({ id: "GatewayMetadata", description: "What the gateway did to the request" });

/** Usage and cost of a chat completion. */
export const Usage = z
  .looseObject({
    prompt_tokens: tokens,
    completion_tokens: tokens.optional().describe("Tokens of the answer, reasoning among them"),
    total_tokens: tokens,
    server_tool_use: z
      .looseObject({ web_search_requests: z.int().optional() })
      .optional()
      .describe("`web_search_requests`: searches by the vendor"),
    cost: z.number().optional().describe("US dollars that the account pays"),
    cost_details: z
      .looseObject({ upstream_inference_cost: z.number().nullable().optional() })
      .optional()
      .describe("`upstream_inference_cost`: the provider's list price, US dollars"),
    is_byok: z.boolean().optional().describe("The account's own key at the provider was used"),
    estimated: z
      .boolean()
      .optional()
      .describe("true: the provider gave no numbers; they were counted by the gateway"),
  })
  .meta({ id: "Usage", description: "What an answer used and what it cost" });
