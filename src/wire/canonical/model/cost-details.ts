import type { UsageReport } from "./format.ts";

/** The costs of a report that `cost_details` of a client API has. */
type CostReport = Pick<
  UsageReport,
  "upstreamInferenceCost" | "upstreamPromptCost" | "upstreamCompletionCost"
>;

/** Encodes the `cost_details` of a `usage` object (docs/api/chat.md, "Usage"). */
export function encodeCostDetails(report: CostReport): Readonly<Record<string, number>> {
  return {
    upstream_inference_cost: report.upstreamInferenceCost,
    upstream_inference_prompt_cost: report.upstreamPromptCost,
    upstream_inference_completions_cost: report.upstreamCompletionCost,
  };
}
