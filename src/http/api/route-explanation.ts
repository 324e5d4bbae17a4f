import { z } from "zod";
import { TakesView } from "../../core/catalog/present/present-takes.ts";
import { ErrorType } from "./error-type.ts";
import { NamedRouteSteps } from "./named-route-steps.ts";
import { CandidateReasons, ExclusionReasons } from "./plan-view.ts";

const deployment = { provider: z.string().describe("Slug of the provider."), model: z.string() };

/** How a request would be routed, in a response (`explainRoute`). */
export const RouteExplanation = z
  .object({
    requested_model: z.string(),
    named_routes: NamedRouteSteps,
    tier: z
      .object({
        id: z.string(),
        when: z.string().describe("The case that applies, as in `resolves_to` of the tier."),
        models: z
          .array(z.string())
          .describe("Models of the case in order of preference, whether or not they are served."),
      })
      .nullable()
      .describe(
        "How the tier that is requested, or that named routes led to, chooses for this request. `null` for a model.",
      ),
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
              "Wire format of the request to the provider. `null` if the request was not encoded for this candidate: beyond the first 24 candidates, or for long requests beyond `limits.attempts`.",
            ),
          changes: z
            .array(z.object({ field: z.string(), message: z.string() }))
            .nullable()
            .describe(
              "What would be left out, limited or changed for this candidate, in the words of the answer's `gateway_metadata.warnings`. `null` if `upstream_format` is `null`.",
            ),
          error: z
            .object({ type: ErrorType, message: z.string() })
            .nullable()
            .describe("Why the request cannot be sent to this candidate. `null` means no reason is known."),
          takes: z
            .array(TakesView)
            .describe(
              "The parameters for which the endpoint does not accept every value, with the source of each rule.",
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
          until: z.iso.datetime().optional().describe("Time at which its drain ends (RFC 3339)."),
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
      .describe("The error with which the request would be rejected. `null` means it would be accepted."),
  })
  .meta({
    id: "RouteExplanation",
    description:
      "How a request would be routed now: the candidates and the deployments left out, with reasons.",
  });
