import { z } from "zod";
import type { CandidateReason, FilterName, SkipReason } from "../../core/usage/plan-entry.ts";
import type { ClientApi } from "../../wire/client-apis/inference-request.ts";
import { ErrorType } from "./errors.ts";
import {
  ChatRequest,
  EmbeddingsRequest,
  EXAMPLE_MODEL,
  FimRequest,
  HELLO,
  MessagesRequest,
  ResponsesRequest,
} from "./inference-schemas.ts";

/** What each reason to stand where one stands means: a new reason needs its words. */
const PLACES: Readonly<Record<CandidateReason, string>> = {
  only: "there is nobody else",
  order: "`provider.order` names it",
  probe: "its circuit is half open, this request tries it",
  last_resort: "its circuit is open, as too many others are",
  warm_cache: "the conversation's prompt is in its cache",
  degraded: "it fails often, which counts against it",
  price: "ordered by price",
  latency: "ordered by time to the first token, as asked",
  throughput: "ordered by tokens a second, as asked",
};

/** The same for reasons to be left out. */
const EXCLUSIONS: Readonly<Record<SkipReason | FilterName, string>> = {
  policy: "a policy does not allow it",
  data_collection: "it is not known not to train on what it is sent",
  zero_retention: "it is not known to keep nothing",
  provider_rules: "`provider.only`, `ignore` or `own_keys_only` rules it out",
  lacks_feature: "it does not take what the request cannot do without",
  lacks_parameter: "it is not known to take a parameter, and `require_parameters` is set",
  max_price: "it costs more than `max_price`",
  window: "the prompt is longer than it takes",
  own_key_unusable: "an own key of the account cannot be used, and the gateway's keys do not stand in for it",
  circuit_open: "it has failed too often lately",
  key_refused: "it has refused the key",
  out_of_credit: "the key is out of credit there",
  rate_limited: "it is limiting requests",
  overloaded: "it is overloaded",
  free_limit: "the account has used its requests an hour to free models",
  no_fallbacks: "`provider.allow_fallbacks` is false",
};

function reasonsOf<Reason extends string>(meanings: Readonly<Record<Reason, string>>) {
  const entries = Object.entries(meanings) as [Reason, string][];
  return z
    .enum(entries.map(([reason]) => reason) as [Reason, ...Reason[]])
    .describe(entries.map(([reason, meaning]) => `\`${reason}\`: ${meaning}`).join("; "));
}

const CandidateReasons = reasonsOf(PLACES).meta({ id: "CandidateReason" });
const ExclusionReasons = reasonsOf(EXCLUSIONS).meta({ id: "ExclusionReason" });

/** A line of `plan` in `GET generation`. */
export const PlanLine = z.object({
  provider_name: z.string().describe("Its slug"),
  model: z.string(),
  is_candidate: z.boolean().describe("It was to be asked, in its turn"),
  reason: z
    .union([CandidateReasons, ExclusionReasons])
    .describe("Of a candidate why it stands there, of others why they were left out"),
  upstream_format: z
    .string()
    .optional()
    .describe("The format that a candidate was asked in, where its endpoint has several"),
});

const APIS: Readonly<Record<ClientApi, z.ZodType>> = {
  "chat.completions": ChatRequest,
  responses: ResponsesRequest,
  messages: MessagesRequest,
  fim: FimRequest,
  embeddings: EmbeddingsRequest,
};

/** The query of `POST route/explain`. */
export const ExplainQuery = z.object({
  api: z
    .enum(Object.keys(APIS) as [ClientApi, ...ClientApi[]])
    .default("chat.completions")
    .describe("The client API whose request the body is"),
});

/** Its body: any request. */
export const ExplainBody = z
  .union(Object.values(APIS) as [z.ZodType, z.ZodType, ...z.ZodType[]])
  .meta({ description: "A request of that API", examples: [{ model: EXAMPLE_MODEL, messages: HELLO }] });

const deployment = { provider: z.string().describe("Its slug"), model: z.string() };

/** Its answer (`explainRoute`). */
export const RouteExplanation = z
  .object({
    requested_model: z.string(),
    prompt_tokens: z.int().min(0).describe("Estimated from the prompt's length"),
    candidates: z
      .array(
        z.object({
          would_be_asked: z.boolean().describe("false: `limits.attempts` are used up before its turn"),
          ...deployment,
          upstream_model: z.string().describe("What the model is called there"),
          upstream_format: z
            .string()
            .nullable()
            .describe("The format that it would be asked in; null where it would not be asked"),
          is_byok: z.boolean().describe("With the account's own key"),
          reason: CandidateReasons,
          estimated_cost: z.number().describe("US dollars for an answer of usual length"),
          health: z.object({
            circuit: z.enum(["closed", "open", "half_open"]),
            success: z.number().describe("Share of attempts that went well lately"),
            latency_ms: z.number().nullable().describe("Median time to the first token"),
            tokens_per_second: z.number().nullable().describe("Median of the tokens behind it"),
          }),
        }),
      )
      .describe("Who would be asked, in turn"),
    left_out: z
      .array(
        z.object({
          ...deployment,
          is_byok: z.boolean().optional(),
          reason: ExclusionReasons,
          about: z.string().optional().describe("Which rule, feature or parameter it is about"),
          retry_after: z.int().optional().describe("Seconds until it is back"),
        }),
      )
      .describe("Who would not be asked"),
    warm_until: z.iso
      .datetime()
      .nullable()
      .describe("How long the conversation's prompt is in a provider's cache; null: in none that is known"),
    warnings: z.array(z.object({ field: z.string(), message: z.string() })),
    error: z
      .object({ type: ErrorType, message: z.string() })
      .nullable()
      .describe("What the request would be refused with; null: it would not be"),
  })
  .meta({
    id: "RouteExplanation",
    description: "Who would answer a request now, and who would not, and why",
  });
