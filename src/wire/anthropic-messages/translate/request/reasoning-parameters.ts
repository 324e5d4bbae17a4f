import { asFields, type Fields } from "../../../../base/json/fields.ts";
import type { Warn } from "../../../canonical/fit/warn.ts";
import { effortOfBudget, nearestEffort, withoutNone } from "../../../canonical/model/efforts.ts";
import type { ModelTarget } from "../../../canonical/model/format.ts";
import type { ReasoningParameters } from "../../../canonical/model/request.ts";
import { isOwn, keptFields, makeExtras } from "../parts/extras.ts";
import type { FieldTaker } from "../parts/take-fields.ts";

/** Takes `thinking`, and `effort` of `output_config`. Null if the client sends neither. */
export function takeReasoningParameters(
  take: FieldTaker,
  outputConfig: FieldTaker,
): ReasoningParameters | null {
  const thinking = take.fields("thinking");
  const effort = outputConfig.text("effort");
  if (thinking === null && effort === null) return null;
  const { type, display, budget_tokens: budget } = asFields(thinking) ?? {};
  return {
    enabled: type === "disabled" ? false : type === "enabled" || type === "adaptive" ? true : null,
    effort,
    budgetTokens: typeof budget === "number" ? budget : null,
    adaptive: type === "adaptive",
    summary: display === "summarized" ? "auto" : null,
    hidden: display === "omitted",
    ...makeExtras(thinking === null ? {} : { thinking }),
  };
}

/** The reasoning fields of a request. */
export interface EncodedThinking {
  /** `thinking`. */
  readonly thinking: Fields | null;
  /** `output_config.effort`. */
  readonly effort: string | null;
}

/** The other facts on which the reasoning fields depend. */
interface ThinkingContext {
  readonly target: ModelTarget;
  readonly maxTokens: number;
  /** Whether a tool must be called, which this API rejects while the model thinks. */
  readonly isToolForced: boolean;
  readonly warn: Warn;
}

const NOTHING: EncodedThinking = { thinking: null, effort: null };

/** The parameters about thinking in a request of this format. */
export interface AskedThinking {
  /** The type of `thinking`: `enabled` with a budget, `adaptive`, `disabled`; null if it has none. */
  readonly type: string | null;
  /** `output_config.effort`. */
  readonly effort: string | null;
}

/** Returns whether a model accepts a request's parameters about thinking, as far as the model is known. */
export function takesThinking({ type, effort }: AskedThinking, { reasoning }: ModelTarget): boolean {
  if (reasoning === null) return true;
  const { efforts, budgetTokens, canDisable, onlyWhenTold } = reasoning;
  if (type === "enabled" && efforts !== undefined && budgetTokens === undefined) return false;
  if (type === "adaptive" && efforts === undefined && budgetTokens !== undefined) return false;
  if (type === "disabled" && !canDisable && !onlyWhenTold) return false;
  return effort === null || efforts === undefined || efforts.includes(effort);
}

function askedThinking({ enabled, effort, adaptive, budgetTokens }: ReasoningParameters): AskedThinking {
  if (enabled === false) return { type: "disabled", effort };
  if (adaptive) return { type: "adaptive", effort };
  return { type: budgetTokens === null ? null : "enabled", effort };
}

/** Encodes the reasoning parameters as the target takes them. Parameters that came in this format and that it takes are sent as they came. */
export function encodeReasoningParameters(
  parameters: ReasoningParameters | null,
  context: ThinkingContext,
): EncodedThinking {
  if (parameters === null) return NOTHING;
  if (isOwn(parameters) && takesThinking(askedThinking(parameters), context.target))
    return { thinking: asFields(keptFields(parameters)["thinking"]), effort: parameters.effort };
  const { reasoning } = context.target;
  if (isDisabled(parameters)) return switchOff(context);
  if (
    parameters.enabled === null &&
    parameters.effort === null &&
    parameters.budgetTokens === null &&
    !parameters.adaptive
  )
    return NOTHING;
  if (reasoning === null) {
    context.warn(
      "reasoning",
      "This model does not reason, or not on demand; the reasoning parameters were left out.",
    );
    return NOTHING;
  }
  const effort = pickEffort(parameters, reasoning, context.warn);
  if (context.isToolForced) return { thinking: omitForTool(context), effort };
  if (reasoning.budgetTokens !== undefined)
    return { thinking: encodeBudget(parameters, reasoning.budgetTokens, context), effort };
  return { thinking: { type: "adaptive", ...displayOf(parameters, context.target) }, effort };
}

/** Claude shows its thinking only on request. Fireworks' types of the same API do not have the field (fireworks-ai 1.2.30, 2026-11-28). */
function displayOf({ hidden }: ReasoningParameters, { name }: ModelTarget): Fields {
  return name.includes("claude") ? { display: hidden ? "omitted" : "summarized" } : {};
}

/** Claude does not think unless asked to. Other models with this API may think in any case. */
function switchOff({ target: { reasons, reasoning }, warn }: ThinkingContext): EncodedThinking {
  if (reasoning?.canDisable) return { thinking: { type: "disabled" }, effort: null };
  if (reasons === true && !reasoning?.onlyWhenTold) warn("reasoning", ALWAYS_REASONS);
  return NOTHING;
}

const ALWAYS_REASONS = "The model is not known to answer without reasoning; it was not switched off.";

function isDisabled(parameters: ReasoningParameters): boolean {
  return parameters.enabled === false || parameters.effort === "none";
}

/** A forced tool call takes precedence over thinking. */
function omitForTool({ target, warn }: ThinkingContext): Fields | null {
  warn("reasoning", "This model cannot be forced to call a tool while it thinks; thinking was left out.");
  return target.reasoning?.canDisable ? { type: "disabled" } : null;
}

/** Returns the requested effort, or the nearest one that the target knows. A budget becomes an effort for a target without budgets. */
function pickEffort(
  { effort, budgetTokens }: ReasoningParameters,
  { efforts: known = [], budgetTokens: budgets }: NonNullable<ModelTarget["reasoning"]>,
  warn: Warn,
): string | null {
  const wanted =
    effort ?? (budgets === undefined && budgetTokens !== null ? effortOfBudget(budgetTokens) : null);
  if (wanted === null || known.length === 0) return null;
  const nearest = known.includes(wanted) ? wanted : nearestEffort(wanted, withoutNone(known));
  if (effort === null && nearest !== null)
    warn("reasoning", `This model takes efforts instead of a budget of tokens; "${nearest}" was sent.`);
  return nearest;
}

/** The smallest thinking budget that this API accepts. Tokens. */
const MIN_BUDGET = 1_024;

/** The share of the answer's token limit that each effort may use for thinking. */
const SHARES: Readonly<Record<string, number>> = {
  minimal: 0.1,
  low: 0.2,
  medium: 0.5,
  high: 0.8,
  xhigh: 0.95,
  max: 0.95,
};
const DEFAULT_SHARE = 0.5;

function encodeBudget(
  parameters: ReasoningParameters,
  bounds: { readonly min?: number; readonly max?: number },
  { maxTokens, warn }: ThinkingContext,
): Fields | null {
  const least = Math.max(MIN_BUDGET, bounds.min ?? 0);
  if (maxTokens <= least) {
    warn(
      "reasoning",
      `Thinking requires a max_tokens of more than ${least}; with ${maxTokens}, it was left out.`,
    );
    return null;
  }
  const requested =
    parameters.budgetTokens ?? Math.floor(maxTokens * (SHARES[parameters.effort ?? ""] ?? DEFAULT_SHARE));
  const budget = Math.max(least, Math.min(requested, bounds.max ?? requested, maxTokens - 1));
  return { type: "enabled", budget_tokens: budget, ...(parameters.hidden ? { display: "omitted" } : {}) };
}
