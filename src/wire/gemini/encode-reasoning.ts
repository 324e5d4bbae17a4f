import type { Fields } from "../../base/json/fields.ts";
import { nearestEffort, withoutNone } from "../canonical/model/efforts.ts";
import type { ReasoningParameters } from "../canonical/model/request.ts";
import { type GeminiEncoding, warn } from "./encoding.ts";

/** The effort for clients that enable reasoning without choosing one. */
const DEFAULT_EFFORT = "medium";

/** The share of the largest budget that corresponds to each effort. */
const SHARES: Readonly<Record<string, number>> = {
  minimal: 0.05,
  low: 0.2,
  medium: 0.5,
  high: 0.8,
  xhigh: 0.95,
  max: 1,
};
/** The largest budget of the smallest model that takes budgets. Tokens. */
const DEFAULT_MAX_BUDGET = 24_576;

/**
 * Returns `thinkingConfig`: a level for models with efforts, a budget for models with budgets, and never both, which Gemini
 * rejects. Null if nothing is to be sent.
 */
export function encodeReasoning(
  parameters: ReasoningParameters | null,
  encoding: GeminiEncoding,
): Fields | null {
  if (parameters === null) return null;
  const { reasoning } = encoding.target;
  const isOff = parameters.enabled === false || parameters.effort === "none" || parameters.budgetTokens === 0;
  if (reasoning === null) {
    if (!isOff || encoding.target.reasons === true)
      warn(
        encoding,
        "reasoning",
        "It is not known how to control this model's reasoning; the model decides.",
      );
    return null;
  }
  if (isOff) return switchOff(encoding);
  const amount = reasoning.efforts?.length
    ? encodeLevel(parameters, reasoning.efforts)
    : encodeBudget(parameters, encoding);
  return { includeThoughts: !parameters.hidden, ...amount };
}

function switchOff(encoding: GeminiEncoding): Fields | null {
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

function encodeLevel(parameters: ReasoningParameters, efforts: readonly string[]): Fields {
  const requested =
    parameters.effort ?? (parameters.budgetTokens === null ? null : effortOf(parameters.budgetTokens));
  const level = requested ?? (parameters.enabled === true && !parameters.adaptive ? DEFAULT_EFFORT : null);
  if (level === null) return {};
  // A `medium` that the model lacks becomes `high` and not `low`.
  const nearest = nearestEffort(level, withoutNone(efforts), "higher") ?? efforts[0] ?? level;
  return { thinkingLevel: nearest.toUpperCase() };
}

function effortOf(budget: number): string {
  const share = budget / DEFAULT_MAX_BUDGET;
  return Object.entries(SHARES).find(([, most]) => share <= most)?.[0] ?? "max";
}

function encodeBudget(parameters: ReasoningParameters, encoding: GeminiEncoding): Fields {
  const { min = 0, max = DEFAULT_MAX_BUDGET } = encoding.target.reasoning?.budgetTokens ?? {};
  const share = parameters.effort === null ? undefined : SHARES[parameters.effort];
  const requested = parameters.budgetTokens ?? (share === undefined ? null : Math.round(share * max));
  // -1 lets the model decide.
  if (requested === null) return parameters.adaptive ? { thinkingBudget: -1 } : {};
  const budget = Math.min(Math.max(requested, min), max);
  if (parameters.budgetTokens !== null && budget !== requested) {
    warn(
      encoding,
      "reasoning",
      `This model accepts budgets from ${min} to ${max} tokens; ${budget} is sent.`,
    );
  }
  return { thinkingBudget: budget };
}
