import type { ModelTarget, Warning } from "../canonical/format.ts";
import type { ConversationRequest, ReasoningWish } from "../canonical/request.ts";
import type { UpstreamTarget } from "./inference-request.ts";

type Steered = Pick<UpstreamTarget, "steer" | "model">;

/** The request with what the target is to be told of reasoning and length, over what the client said of them. */
export function steerRequest(request: ConversationRequest, { steer, model }: Steered): ConversationRequest {
  if (steer === null) return request;
  const { reasoning, verbosity } = steer;
  return {
    ...request,
    ...(reasoning === undefined
      ? {}
      : { reasoning: model.reasoning && replaceWish(request.reasoning, fitEffort(reasoning.effort, model)) }),
    ...(verbosity === undefined ? {} : { verbosity }),
  };
}

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

/** Whether a warning is of a wish that the client did not have. */
export function isOfSteering({ field }: Warning, { steer }: Pick<Steered, "steer">): boolean {
  if (steer === null) return false;
  return (
    (field === "reasoning" && steer.reasoning !== undefined) ||
    (field === "verbosity" && steer.verbosity !== undefined)
  );
}
