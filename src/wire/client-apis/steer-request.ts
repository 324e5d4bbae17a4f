import type { ModelTarget } from "../canonical/format.ts";
import type { ConversationRequest, ReasoningWish } from "../canonical/request.ts";
import type { Warning } from "../conversation/warning.ts";
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
      : { reasoning: mayReason(model) ? replaceWish(request.reasoning, reasoning.effort) : null }),
    ...(verbosity === undefined ? {} : { verbosity: isSaid(verbosity) ? verbosity : null }),
    ...(leaveOut.includes("temperature") ? { temperature: null } : {}),
    ...(leaveOut.includes("top_p") ? { topP: null } : {}),
  };
}

/** The warnings of an encoded request, of what was left out of it, and of what the tier wished and could not be said. */
export function warnOfSteering(
  warnings: readonly Warning[],
  { steer }: Pick<Steered, "steer">,
): readonly Warning[] {
  if (steer === null) return warnings;
  const leftOut = (steer.leaveOut ?? []).map((field): Warning => ({ field, message: NOT_TAKEN }));
  return [...leftOut, ...listUnsaid(steer), ...warnings];
}

const NOT_TAKEN = "The model that the tier came to does not take it; it was left out.";

function listUnsaid({ verbosity }: Steer): readonly Warning[] {
  if (verbosity === undefined || isSaid(verbosity)) return [];
  const message = `The tier's verbosity "${verbosity.unsaid}" could not be said: this model's provider takes none.`;
  return [{ field: "verbosity", message }];
}

function isSaid(verbosity: Exclude<Steer["verbosity"], undefined>): verbosity is string {
  return typeof verbosity === "string";
}

/** Whether the model may be told how much to reason: all but those that are known not to. */
function mayReason({ reasons, reasoning }: ModelTarget): boolean {
  return reasoning !== null || reasons === true;
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
