import { z } from "zod";
import { CANDIDATE_RESULTS } from "../../core/usage/generations/candidate-results.ts";
import { EXCLUSIONS, POSITIONS } from "../../core/usage/records/plan-reasons.ts";

function reasonsOf<Reason extends string>(meanings: Readonly<Record<Reason, string>>) {
  const entries = Object.entries(meanings) as [Reason, string][];
  return z
    .enum(entries.map(([reason]) => reason) as [Reason, ...Reason[]])
    .describe(`${entries.map(([reason, meaning]) => `\`${reason}\`: ${meaning}`).join("; ")}.`);
}

/** Why a candidate has its position in a plan. */
export const CandidateReasons = reasonsOf(POSITIONS).meta({ id: "CandidateReason" });
/** Why a deployment was left out of a plan. */
export const ExclusionReasons = reasonsOf(EXCLUSIONS).meta({ id: "ExclusionReason" });

/** An entry of `plan` in `GET generation`. */
export const PlanLine = z.object({
  provider_name: z.string().describe("Slug of the provider."),
  model: z.string(),
  key: z
    .string()
    .nullable()
    .describe(
      "Key of the candidate if the provider has several: the id of a BYOK key, or for the operator the name of a platform key. Otherwise `null`.",
    ),
  key_number: z
    .int()
    .nullable()
    .describe(
      "Number of this key among the provider's keys in the request, from 1 on. `null` if there is only one.",
    ),
  is_candidate: z.boolean().describe("Whether it was a candidate. `false` means it was left out."),
  result: z
    .enum(CANDIDATE_RESULTS)
    .describe(
      "What became of it. `answered`; `empty`: its answer had no content; `failed`; `cancelled`: the client left while it was called; `running`: it is called now, or was when the gateway stopped; `not_called`: it was not needed, or no time or attempt was left; `left_out`: it was no candidate.",
    ),
  reason: z
    .union([CandidateReasons, ExclusionReasons])
    .describe("Why a candidate has its position, or why a deployment was left out."),
  until: z.iso.datetime().optional().describe("Time at which the operator's drain ends (RFC 3339)."),
  upstream_format: z
    .string()
    .optional()
    .describe("Wire format of the request, if the endpoint supports several."),
});
