import type { ReasoningParameters } from "../canonical/request.ts";
import type { Fields } from "../json/fields.ts";
import { type Encoding, warn } from "./encoding.ts";

/** What reasoning is asked for that is to be on, and of which no more is said. */
const USUAL_EFFORT = "medium";

/** From least to most. */
const EFFORTS = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];
/** The share of the largest budget that an effort is. */
const SHARES: Readonly<Record<string, number>> = {
  minimal: 0.05,
  low: 0.2,
  medium: 0.5,
  high: 0.8,
  xhigh: 0.95,
  max: 1,
};
/** The largest budget of the smallest of the models that have one. Tokens. */
const USUAL_MAX = 24_576;

/**
 * `thinkingConfig`: levels for models that have efforts, budgets for those that have budgets; never both, which
 * Gemini refuses. Null where nothing is to be said.
 */
export function encodeThinking(wish: ReasoningParameters | null, encoding: Encoding): Fields | null {
  if (wish === null) return null;
  const { reasoning } = encoding.target;
  const isOff = wish.enabled === false || wish.effort === "none" || wish.budgetTokens === 0;
  if (reasoning === null) {
    if (!isOff || encoding.target.reasons === true)
      warn(
        encoding,
        "reasoning",
        "It is not known how this model's reasoning is steered; left to the model.",
      );
    return null;
  }
  if (isOff) return switchOff(encoding);
  const amount = reasoning.efforts?.length
    ? encodeLevel(wish, reasoning.efforts)
    : encodeBudget(wish, encoding);
  return { includeThoughts: !wish.hidden, ...amount };
}

function switchOff(encoding: Encoding): Fields | null {
  const { efforts, budgetTokens, canDisable } = encoding.target.reasoning ?? {};
  if (canDisable) return { thinkingBudget: 0 };
  const [least] = efforts ?? [];
  warn(
    encoding,
    "reasoning",
    "This model cannot answer without reasoning; it is asked for as little as possible.",
  );
  if (least !== undefined) return { thinkingLevel: least.toUpperCase() };
  return budgetTokens?.min === undefined ? null : { thinkingBudget: budgetTokens.min };
}

function encodeLevel(wish: ReasoningParameters, efforts: readonly string[]): Fields {
  const wished = wish.effort ?? (wish.budgetTokens === null ? null : effortOf(wish.budgetTokens));
  const level = wished ?? (wish.enabled === true && !wish.adaptive ? USUAL_EFFORT : null);
  return level === null ? {} : { thinkingLevel: nearestEffort(level, efforts).toUpperCase() };
}

/** The effort offered that is nearest; of two as near, the greater. */
function nearestEffort(wished: string, offered: readonly string[]): string {
  const distance = (effort: string) => Math.abs(EFFORTS.indexOf(effort) - EFFORTS.indexOf(wished));
  const levels = offered.filter((effort) => effort !== "none");
  return levels.reduce((best, effort) => (distance(effort) <= distance(best) ? effort : best));
}

function effortOf(budget: number): string {
  const share = budget / USUAL_MAX;
  return Object.entries(SHARES).find(([, most]) => share <= most)?.[0] ?? "max";
}

function encodeBudget(wish: ReasoningParameters, encoding: Encoding): Fields {
  const { min = 0, max = USUAL_MAX } = encoding.target.reasoning?.budgetTokens ?? {};
  const share = wish.effort === null ? undefined : SHARES[wish.effort];
  const wished = wish.budgetTokens ?? (share === undefined ? null : Math.round(share * max));
  // -1: the model decides.
  if (wished === null) return wish.adaptive ? { thinkingBudget: -1 } : {};
  const budget = Math.min(Math.max(wished, min), max);
  if (wish.budgetTokens !== null && budget !== wished) {
    warn(encoding, "reasoning", `This model takes budgets from ${min} to ${max} tokens; ${budget} is sent.`);
  }
  return { thinkingBudget: budget };
}
