import type { ModelTarget } from "../../canonical/format.ts";
import type { ReasoningParameters } from "../../canonical/request.ts";
import { asFields, type Fields } from "../../json/fields.ts";
import type { Report } from "./encode-block.ts";
import { isOwn, keptFields } from "./extras.ts";

/** How a wish for reasoning is put to this API. */
export interface EncodedThinking {
  /** `thinking`. */
  readonly thinking: Fields | null;
  /** `output_config.effort`. */
  readonly effort: string | null;
}

/** What of the rest of the request decides it. */
export interface ThinkingContext {
  readonly target: ModelTarget;
  readonly maxTokens: number;
  /** Some tool must be called, which this API refuses while it thinks. */
  readonly isToolForced: boolean;
  readonly report: Report;
}

const NOTHING: EncodedThinking = { thinking: null, effort: null };

/** A wish in the way the target is steered; one that came in this format goes as it came. */
export function encodeThinking(wish: ReasoningParameters | null, context: ThinkingContext): EncodedThinking {
  if (wish === null) return NOTHING;
  if (isOwn(wish)) return { thinking: asFields(keptFields(wish)["thinking"]), effort: wish.effort };
  const { reasoning } = context.target;
  if (isUnwanted(wish)) return switchOff(context);
  if (wish.enabled === null && wish.effort === null && wish.budgetTokens === null && !wish.adaptive)
    return NOTHING;
  if (reasoning === null) {
    context.report({
      field: "reasoning",
      message: "This model does not reason, or not on demand; the wish was left out.",
    });
    return NOTHING;
  }
  const effort = pickEffort(wish, reasoning.efforts ?? []);
  if (context.isToolForced) return { thinking: giveWay(context), effort };
  if (reasoning.budgetTokens !== undefined)
    return { thinking: encodeBudget(wish, reasoning.budgetTokens, context), effort };
  return { thinking: { type: "adaptive", display: wish.hidden ? "omitted" : "summarized" }, effort };
}

/** Claude does not think unless it is told to; others behind this API may, whatever they are told. */
function switchOff({ target: { reasons, reasoning }, report }: ThinkingContext): EncodedThinking {
  if (reasoning?.canDisable) return { thinking: { type: "disabled" }, effort: null };
  if (reasons === true && !reasoning?.onlyWhenTold) report({ field: "reasoning", message: ALWAYS_REASONS });
  return NOTHING;
}

const ALWAYS_REASONS = "The model is not known to answer without reasoning; it was not switched off.";

function isUnwanted(wish: ReasoningParameters): boolean {
  return wish.enabled === false || wish.effort === "none";
}

/** A tool that must be called is asked for more firmly than thinking. */
function giveWay({ target, report }: ThinkingContext): Fields | null {
  report({
    field: "reasoning",
    message: "This model cannot be made to call a tool while it thinks; thinking was left out.",
  });
  return target.reasoning?.canDisable ? { type: "disabled" } : null;
}

const EFFORTS = ["minimal", "low", "medium", "high", "xhigh", "max"];

/** The wished effort, or the one nearest to it that the target knows. */
function pickEffort(wish: ReasoningParameters, known: readonly string[]): string | null {
  if (wish.effort === null || known.length === 0) return null;
  if (known.includes(wish.effort)) return wish.effort;
  const wished = EFFORTS.indexOf(wish.effort);
  const ranked = known.filter((effort) => EFFORTS.includes(effort));
  if (wished < 0 || ranked.length === 0) return null;
  const distance = (effort: string) => Math.abs(EFFORTS.indexOf(effort) - wished);
  return ranked.reduce((best, effort) => (distance(effort) < distance(best) ? effort : best));
}

/** The least budget this API takes. Tokens. */
const MIN_BUDGET = 1_024;

/** How much of the answer's bound each effort may think. */
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
  wish: ReasoningParameters,
  bounds: { readonly min?: number; readonly max?: number },
  { maxTokens, report }: ThinkingContext,
): Fields | null {
  const least = Math.max(MIN_BUDGET, bounds.min ?? 0);
  if (maxTokens <= least) {
    report({
      field: "reasoning",
      message: `Thinking needs a max_tokens of more than ${least}; with ${maxTokens} it was left out.`,
    });
    return null;
  }
  const wished = wish.budgetTokens ?? Math.floor(maxTokens * (SHARES[wish.effort ?? ""] ?? DEFAULT_SHARE));
  const budget = Math.max(least, Math.min(wished, bounds.max ?? wished, maxTokens - 1));
  return { type: "enabled", budget_tokens: budget, ...(wish.hidden ? { display: "omitted" } : {}) };
}
