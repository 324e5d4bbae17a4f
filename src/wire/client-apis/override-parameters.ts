import type { ModelTarget } from "../canonical/format.ts";
import type { ConversationRequest, ReasoningParameters } from "../canonical/request.ts";
import type { Warning } from "../conversation/warning.ts";
import type { ParameterOverrides, UpstreamTarget } from "./inference-request.ts";

type Steered = Pick<UpstreamTarget, "overrides" | "model">;

/** Returns the request with the overrides for reasoning, length and sampling applied. */
export function overrideParameters(
  request: ConversationRequest,
  { overrides, model }: Steered,
): ConversationRequest {
  if (overrides === null) return request;
  const { reasoning, verbosity, leaveOut = [] } = overrides;
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

/** Returns the warnings of an encoded request, including those about overrides that could not be expressed. */
export function warnOfOverrides(
  warnings: readonly Warning[],
  { overrides }: Pick<Steered, "overrides">,
): readonly Warning[] {
  if (overrides === null) return warnings;
  const leftOut = (overrides.leaveOut ?? []).map((field): Warning => ({ field, message: NOT_TAKEN }));
  return [...leftOut, ...listUnsaid(overrides), ...warnings];
}

const NOT_TAKEN = "The model that the tier came to does not take it; it was left out.";

function listUnsaid({ verbosity }: ParameterOverrides): readonly Warning[] {
  if (verbosity === undefined || isSaid(verbosity)) return [];
  const message = `The tier's verbosity "${verbosity.unsaid}" could not be said: this model's provider takes none.`;
  return [{ field: "verbosity", message }];
}

function isSaid(verbosity: Exclude<ParameterOverrides["verbosity"], undefined>): verbosity is string {
  return typeof verbosity === "string";
}

/** Whether the model may be told how much to reason: any model that is not known not to reason. */
function mayReason({ reasons, reasoning }: ModelTarget): boolean {
  return reasoning !== null || reasons === true;
}

/** Whether reasoning is shown stays the client's choice. The client's spelling is dropped, because it does not fit the override. */
function replaceWish(wish: ReasoningParameters | null, effort: string | null): ReasoningParameters {
  return {
    enabled: effort !== "none",
    effort,
    budgetTokens: null,
    adaptive: false,
    summary: wish?.summary ?? null,
    hidden: wish?.hidden ?? false,
  };
}
