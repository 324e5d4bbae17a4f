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

/** The meaning of each reason for a candidate's position. */
const POSITIONS: Readonly<Record<CandidateReason, string>> = {
  only: "it is the only candidate",
  order: "listed in `provider.order`",
  probe: "its circuit breaker is half open and this request probes it",
  last_resort: "its circuit breaker is open, but too few other candidates are available",
  warm_cache: "its prompt cache holds the conversation (cache affinity)",
  degraded: "ranked lower because of recent failures",
  price: "ranked by price",
  latency: "ranked by time to first token, as `provider.sort` asks",
  throughput: "ranked by tokens per second, as `provider.sort` asks",
};

/** The meaning of each reason to leave a deployment out. */
const EXCLUSIONS: Readonly<Record<SkipReason | FilterName, string>> = {
  policy: "denied by a policy",
  data_collection: "not known to exclude request data from training",
  zero_retention: "not known to have zero data retention",
  provider_rules: "excluded by `provider.only`, `ignore` or `own_keys_only`",
  lacks_feature: "lacks a feature that the request requires",
  lacks_parameter: "not known to support a parameter, and `require_parameters` is set",
  max_price: "costs more than `max_price`",
  window: "the prompt exceeds its context window",
  own_key_unusable: "a BYOK key of the account cannot be used, and platform keys do not replace it",
  circuit_open: "its circuit breaker is open after recent failures",
  key_refused: "the provider rejected the key",
  out_of_credit: "the key has no credit left at the provider",
  rate_limited: "the provider rate limits requests",
  overloaded: "the provider is overloaded",
  free_limit: "the account has used its hourly requests to free models",
  no_fallbacks: "`provider.allow_fallbacks` is false",
};

function reasonsOf<Reason extends string>(meanings: Readonly<Record<Reason, string>>) {
  const entries = Object.entries(meanings) as [Reason, string][];
  return z
    .enum(entries.map(([reason]) => reason) as [Reason, ...Reason[]])
    .describe(`${entries.map(([reason, meaning]) => `\`${reason}\`: ${meaning}`).join("; ")}.`);
}

const CandidateReasons = reasonsOf(POSITIONS).meta({ id: "CandidateReason" });
const ExclusionReasons = reasonsOf(EXCLUSIONS).meta({ id: "ExclusionReason" });

/** An entry of `plan` in `GET generation`. */
export const PlanLine = z.object({
  provider_name: z.string().describe("Slug of the provider."),
  model: z.string(),
  is_candidate: z.boolean().describe("Whether it was a candidate. `false` means it was left out."),
  reason: z
    .union([CandidateReasons, ExclusionReasons])
    .describe("Why a candidate has its position, or why a deployment was left out."),
  upstream_format: z
    .string()
    .optional()
    .describe("Wire format of the request, if the endpoint supports several."),
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
    .describe("Client API of the request in the body."),
});

/** The body of `POST route/explain`: any inference request. */
export const ExplainBody = z.union(Object.values(APIS) as [z.ZodType, z.ZodType, ...z.ZodType[]]).meta({
  description: "A request of the client API.",
  examples: [{ model: EXAMPLE_MODEL, messages: HELLO }],
});

const deployment = { provider: z.string().describe("Slug of the provider."), model: z.string() };

/** The response of `POST route/explain` (`explainRoute`). */
export const RouteExplanation = z
  .object({
    requested_model: z.string(),
    prompt_tokens: z.int().min(0).describe("Estimated number of prompt tokens."),
    candidates: z
      .array(
        z.object({
          would_be_asked: z.boolean().describe("Whether the candidate is within `limits.attempts`."),
          ...deployment,
          upstream_model: z.string().describe("Name of the model at the provider."),
          upstream_format: z
            .string()
            .nullable()
            .describe(
              "Wire format of the request to the provider. `null` for a candidate beyond `limits.attempts`.",
            ),
          is_byok: z.boolean().describe("Whether the account's own provider key (BYOK) would be used."),
          reason: CandidateReasons,
          estimated_cost: z
            .number()
            .describe("Estimated cost in US dollars for a completion of typical length."),
          health: z.object({
            circuit: z.enum(["closed", "open", "half_open"]),
            success: z.number().describe("Share of recent attempts that succeeded, 0 to 1."),
            latency_ms: z.number().nullable().describe("Median time to first token, in milliseconds."),
            tokens_per_second: z
              .number()
              .nullable()
              .describe("Median tokens per second after the first token."),
          }),
        }),
      )
      .describe("Candidates in the order in which they would be tried."),
    left_out: z
      .array(
        z.object({
          ...deployment,
          is_byok: z.boolean().optional(),
          reason: ExclusionReasons,
          about: z.string().optional().describe("The rule, feature or parameter behind the reason."),
          retry_after: z.int().optional().describe("Seconds until it is available again."),
        }),
      )
      .describe("Deployments that were left out."),
    warm_until: z.iso
      .datetime()
      .nullable()
      .describe(
        "Time until which a provider's prompt cache is expected to hold the conversation. `null` means no cache is known to hold it.",
      ),
    warnings: z.array(z.object({ field: z.string(), message: z.string() })),
    error: z
      .object({ type: ErrorType, message: z.string() })
      .nullable()
      .describe("The error that the request would be rejected with. `null` means it would be accepted."),
  })
  .meta({
    id: "RouteExplanation",
    description:
      "How a request would be routed now: the candidates and the deployments left out, with reasons.",
  });
