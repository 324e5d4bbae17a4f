import type { ModelTarget } from "../../canonical/model/format.ts";
import type { ConversationRequest, ReasoningParameters } from "../../canonical/model/request.ts";
import type { Warning } from "../../conversation/warning.ts";
import type { ParameterOverrides, ProviderTarget, UpstreamTarget } from "../request/inference-request.ts";

interface OverriddenTarget extends Pick<UpstreamTarget, "overrides"> {
  readonly provider: Pick<ProviderTarget, "model">;
}

/** Returns the request with the overrides for reasoning and length applied. */
export function overrideParameters(
  request: ConversationRequest,
  { overrides, provider: { model } }: OverriddenTarget,
): ConversationRequest {
  if (overrides === null) return request;
  const { reasoning, verbosity } = overrides;
  return {
    ...request,
    ...(reasoning === undefined
      ? {}
      : { reasoning: mayReason(model) ? overrideReasoning(request.reasoning, reasoning.effort) : null }),
    ...(verbosity === undefined ? {} : { verbosity: isExpressible(verbosity) ? verbosity : null }),
  };
}

/**
 * Returns the warnings of an encoded request, including those about overrides that could not be expressed. A verbosity that the client
 * did not ask for is no loss to it.
 */
export function warnOfOverrides(
  warnings: readonly Warning[],
  { verbosity }: Pick<ConversationRequest, "verbosity">,
  { overrides }: Pick<OverriddenTarget, "overrides">,
): readonly Warning[] {
  return overrides === null || verbosity === null ? warnings : [...warnOfVerbosity(overrides), ...warnings];
}

function warnOfVerbosity({ verbosity }: ParameterOverrides): readonly Warning[] {
  if (verbosity === undefined || isExpressible(verbosity)) return [];
  const message = `The tier's verbosity "${verbosity.unsupported}" was not sent: this model's provider has no such parameter.`;
  return [{ field: "verbosity", message }];
}

function isExpressible(verbosity: Exclude<ParameterOverrides["verbosity"], undefined>): verbosity is string {
  return typeof verbosity === "string";
}

/** Whether reasoning parameters may be sent: for a model that reasons, or that may. */
function mayReason({ reasons, reasoning }: ModelTarget): boolean {
  return reasoning !== null || reasons === true;
}

/** Whether reasoning is shown stays the client's choice. The client's spelling is dropped, because it does not fit the override. */
function overrideReasoning(
  requested: ReasoningParameters | null,
  effort: string | null,
): ReasoningParameters {
  return {
    enabled: effort !== "none",
    effort,
    budgetTokens: null,
    adaptive: false,
    summary: requested?.summary ?? null,
    hidden: requested?.hidden ?? false,
  };
}
