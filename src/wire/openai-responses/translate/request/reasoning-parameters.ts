import { asFields, asText, type Fields, omit } from "../../../../base/json/fields.ts";
import type { Warn } from "../../../canonical/fit/warn.ts";
import { effortOfBudget, nearestEffort } from "../../../canonical/model/efforts.ts";
import type { ModelTarget } from "../../../canonical/model/format.ts";
import type { ReasoningParameters } from "../../../canonical/model/request.ts";
import { markExtras, readOwnFields } from "../parts/extras.ts";

/** Decodes `reasoning`; null if it is absent. */
export function decodeReasoningParameters(raw: unknown): ReasoningParameters | null {
  const reasoning = asFields(raw);
  if (reasoning === null) return null;
  const effort = asText(reasoning["effort"]);
  const summary = asText(reasoning["summary"]);
  const known = new Set([...(effort === null ? [] : ["effort"]), ...(summary === null ? [] : ["summary"])]);
  return {
    enabled: effort === null ? null : effort !== "none",
    effort,
    budgetTokens: null,
    adaptive: false,
    summary,
    hidden: false,
    extras: markExtras(omit(reasoning, known)),
  };
}

/**
 * Encodes `reasoning`, with the effort fitted to the model. Other parameters that came in this format are sent as they came. A model that
 * does not reason would reject the field.
 */
export function encodeReasoningParameters(
  parameters: ReasoningParameters | null,
  target: ModelTarget,
  warn: Warn,
): Fields {
  if (parameters === null) return {};
  if (target.reasons === false) {
    const isOff = parameters.enabled === false || parameters.effort === "none";
    if (!isOff) warn("reasoning", NO_REASONING);
    return {};
  }
  const own = readOwnFields(parameters.extras);
  const effort = fitEffort(parameters, target, warn);
  const summary = own === null ? chooseSummary(parameters) : parameters.summary;
  const encoded = {
    ...own,
    ...(effort === null ? {} : { effort }),
    ...(summary === null ? {} : { summary }),
  };
  return own === null && Object.keys(encoded).length === 0 ? {} : { reasoning: encoded };
}

const NO_REASONING = "The model does not reason; the reasoning parameters were left out.";

/**
 * Chooses the summary. In other formats requested reasoning is shown; here it is shown only in summaries, and only on request.
 */
function chooseSummary(parameters: ReasoningParameters): string | null {
  if (parameters.hidden || parameters.enabled === false || parameters.effort === "none") return null;
  return parameters.summary ?? "auto";
}

/** Whether a model takes an effort, as far as its efforts are known. */
export function takesEffort(target: ModelTarget, effort: string): boolean {
  const offered = offeredEfforts(target);
  return !offered?.length || offered.includes(effort);
}

function offeredEfforts({ reasoning, hostEfforts }: ModelTarget): readonly string[] | undefined {
  return reasoning?.efforts ?? hostEfforts;
}

function fitEffort(parameters: ReasoningParameters, target: ModelTarget, warn: Warn): string | null {
  const wanted = chooseEffort(parameters);
  const offered = offeredEfforts(target);
  if (wanted === "none" && target.reasoning?.onlyWhenTold && !offered?.includes("none")) return null;
  if (wanted === null || offered === undefined || offered.length === 0 || offered.includes(wanted))
    return wanted;
  const nearest = nearestEffort(wanted, offered);
  if (nearest === null) return wanted;
  const isAskedFor =
    parameters.enabled === false || parameters.effort !== null || parameters.budgetTokens !== null;
  if (isAskedFor) {
    const message = `The model has no effort "${wanted}"; "${nearest}" was asked for.`;
    warn("reasoning", message);
  }
  return nearest;
}

/** Chooses the effort. Enabled reasoning without an effort is sent as medium, because some models do not reason without one. */
function chooseEffort({ enabled, effort, budgetTokens }: ReasoningParameters): string | null {
  if (enabled === false) return "none";
  return effort ?? effortOf(budgetTokens) ?? (enabled === true ? "medium" : null);
}

function effortOf(budgetTokens: number | null): string | null {
  if (budgetTokens === null) return null;
  return budgetTokens === 0 ? "none" : effortOfBudget(budgetTokens);
}
