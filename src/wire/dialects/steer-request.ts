import type { ModelTarget, Warning } from "../canonical/format.ts";
import type { ConversationRequest, ReasoningWish } from "../canonical/request.ts";
import type { Steer, UpstreamTarget } from "./inference-request.ts";

type Steered = Pick<UpstreamTarget, "steer" | "model">;

/** The request with what the target is to be told of reasoning and length, over what the client said of them. */
export function steerRequest(request: ConversationRequest, { steer, model }: Steered): ConversationRequest {
  if (steer === null) return request;
  const { reasoning, verbosity, leaveOut = [] } = steer;
  return {
    ...request,
    ...(reasoning === undefined
      ? {}
      : { reasoning: model.reasoning && replaceWish(request.reasoning, fitEffort(reasoning.effort, model)) }),
    ...(verbosity === undefined ? {} : { verbosity }),
    ...(leaveOut.includes("temperature") ? { temperature: null } : {}),
    ...(leaveOut.includes("top_p") ? { topP: null } : {}),
  };
}

/** The warnings of an encoded request, and of what was left out of it; none of a wish that the client did not have. */
export function warnOfSteering(
  warnings: readonly Warning[],
  { steer }: Pick<Steered, "steer">,
): readonly Warning[] {
  if (steer === null) return warnings;
  const leftOut = (steer.leaveOut ?? []).map((field): Warning => ({ field, message: NOT_TAKEN }));
  return [...leftOut, ...warnings.filter((warning) => !isOfSteering(warning, steer))];
}

const NOT_TAKEN = "The model that the tier came to does not take it; it was left out.";

/** Models that know an effort "none" may have it by default, so being told to reason takes an effort. */
function fitEffort(effort: string | null, { reasoning }: ModelTarget): string | null {
  return effort === null && reasoning?.efforts?.includes("none") ? "medium" : effort;
}

/** What is shown of the reasoning stays the client's; how it was spelled does not bear the new wish. */
function replaceWish(wish: ReasoningWish | null, effort: string | null): ReasoningWish {
  return {
    enabled: effort !== "none",
    effort,
    budgetTokens: null,
    adaptive: false,
    summary: wish?.summary ?? null,
    hidden: wish?.hidden ?? false,
  };
}

function isOfSteering({ field }: Warning, { reasoning, verbosity }: Steer): boolean {
  return (
    (field === "reasoning" && reasoning !== undefined) || (field === "verbosity" && verbosity !== undefined)
  );
}
