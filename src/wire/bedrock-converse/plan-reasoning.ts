import type { Fields } from "../../base/json/fields.ts";
import { nearestEffort, withoutNone } from "../canonical/model/efforts.ts";
import type { ModelTarget } from "../canonical/model/format.ts";
import type { ConversationRequest, ReasoningParameters } from "../canonical/model/request.ts";
import { encodeReasoning } from "./encode-reasoning.ts";
import { forcesTool } from "./encode-tools.ts";
import type { BedrockEncoding } from "./encoding.ts";
import { thinksAdaptively } from "./model-family.ts";

/** The fields that request reasoning from a model. */
export interface ReasoningPlan {
  /** Fields of the model's own API. */
  readonly modelFields: Fields;
  /** The model is a Claude and will think, which restricts its other parameters. */
  readonly thinks: boolean;
  /** The token limit to send; null for the client's own. */
  readonly maxTokens: number | null;
}

const NO_PLAN: ReasoningPlan = { modelFields: {}, thinks: false, maxTokens: null };

/** The smallest thinking budget that Claude accepts. Tokens. */
const MIN_BUDGET = 1024;
/** Tokens left for the answer if the client set no limit. */
const ANSWER_TOKENS = 4096;

/** Budgets by effort, for models that take only budgets. Tokens. */
const BUDGETS: Readonly<Record<string, number>> = {
  minimal: 1024,
  low: 2048,
  medium: 8192,
  high: 16_384,
  xhigh: 24_576,
  max: 31_999,
};

/** The effort for clients that enable reasoning without choosing one. */
const DEFAULT_EFFORT = "medium";

/** The largest share of the client's token limit that an effort may use. */
const MAX_SHARE = 0.8;

/** Plans the reasoning fields of the model behind Converse, which has no such fields itself. */
export function planReasoning(request: ConversationRequest, encoding: BedrockEncoding): ReasoningPlan {
  const parameters = request.reasoning;
  const { target } = encoding;
  if (parameters === null) return NO_PLAN;
  const isOff = parameters.enabled === false || parameters.effort === "none";
  if (encoding.family === "claude")
    return isOff ? planNoThinking(encoding) : planThinking(request, parameters, encoding);
  const effort = parameters.effort ?? (parameters.enabled === true ? DEFAULT_EFFORT : null);
  if (encoding.family === "openai" && effort !== null && !isOff && target.reasoning?.efforts !== undefined) {
    return { ...NO_PLAN, modelFields: { reasoning_effort: fitEffort(effort, target.reasoning.efforts) } };
  }
  encoding.warn("reasoning", "This provider does not let the request choose how much the model reasons.");
  return NO_PLAN;
}

/** Tells Claude not to think. Some models do not think unless asked to, and others always do. */
function planNoThinking({ target: { reasons, reasoning }, warn }: BedrockEncoding): ReasoningPlan {
  if (reasoning?.canDisable) return { ...NO_PLAN, modelFields: { thinking: { type: "disabled" } } };
  if (reasons === true && !reasoning?.onlyWhenTold)
    warn("reasoning", "The model is not known to answer without reasoning; it was not switched off.");
  return NO_PLAN;
}

function planThinking(
  request: ConversationRequest,
  parameters: ReasoningParameters,
  encoding: BedrockEncoding,
): ReasoningPlan {
  const { target } = encoding;
  if (
    parameters.enabled === null &&
    parameters.effort === null &&
    parameters.budgetTokens === null &&
    !parameters.adaptive
  )
    return NO_PLAN;
  if (target.reasoning === null) {
    encoding.warn("reasoning", "This model does not reason; it was left out.");
    return NO_PLAN;
  }
  if (forcesTool(request)) {
    encoding.warn("reasoning", "This model does not reason when it must call a tool; it was left out.");
    return NO_PLAN;
  }
  return thinksAdaptively(target)
    ? planAdaptive(parameters, target)
    : planBudget(request, parameters, encoding);
}

function planAdaptive(parameters: ReasoningParameters, { reasoning }: ModelTarget): ReasoningPlan {
  const display = parameters.hidden
    ? { display: "omitted" }
    : parameters.summary === null
      ? {}
      : { display: "summarized" };
  const effort =
    parameters.effort ?? (parameters.budgetTokens === null ? null : nameBudget(parameters.budgetTokens));
  return {
    modelFields: {
      thinking: { type: "adaptive", ...display },
      ...(effort === null ? {} : { output_config: { effort: fitEffort(effort, reasoning?.efforts ?? []) } }),
    },
    thinks: true,
    maxTokens: null,
  };
}

function planBudget(
  request: ConversationRequest,
  parameters: ReasoningParameters,
  encoding: BedrockEncoding,
): ReasoningPlan {
  if (lacksThinking(request, encoding)) {
    encoding.warn(
      "reasoning",
      "This turn began without reasoning and must continue without it; it was left out.",
    );
    return NO_PLAN;
  }
  const wanted = Math.max(
    MIN_BUDGET,
    parameters.budgetTokens ?? budgetOfEffort(parameters.effort, request.maxTokens),
  );
  const maxTokens = request.maxTokens ?? encoding.target.maxOutputTokens ?? wanted + ANSWER_TOKENS;
  const budget = Math.min(wanted, maxTokens - 1);
  if (budget < MIN_BUDGET) {
    encoding.warn(
      "reasoning",
      `max_tokens leaves less than the ${MIN_BUDGET} tokens that this model reasons with; it was left out.`,
    );
    return NO_PLAN;
  }
  if (parameters.budgetTokens !== null && budget !== parameters.budgetTokens) {
    encoding.warn(
      "reasoning",
      `The budget was set to ${budget} tokens: at least ${MIN_BUDGET}, and below max_tokens.`,
    );
  }
  return { modelFields: { thinking: { type: "enabled", budget_tokens: budget } }, thinks: true, maxTokens };
}

/** Leaves the rest of the client's token limit for the answer. */
function budgetOfEffort(effort: string | null, maxTokens: number | null): number {
  const budget = BUDGETS[effort ?? "medium"] ?? (BUDGETS["medium"] as number);
  return maxTokens === null ? budget : Math.min(budget, Math.floor(maxTokens * MAX_SHARE));
}

/** Returns whether the current turn began without thinking. Claude rejects thinking for such a turn once it has called tools. */
function lacksThinking({ messages }: ConversationRequest, { family }: BedrockEncoding): boolean {
  const asked = messages.findLastIndex(
    ({ role, parts }) => role === "user" && parts.some((part) => part.kind !== "tool-result"),
  );
  const turn = messages.slice(asked + 1).filter(({ role }) => role === "assistant");
  const calls = turn.findLast(({ parts }) => parts.some((part) => part.kind === "tool-call"));
  const first = calls?.parts.find((part) => part.kind !== "text" || part.text.trim() !== "");
  return first !== undefined && (first.kind !== "reasoning" || encodeReasoning(first, family) === null);
}

/** Returns the effort, or the nearest one that the model knows; the lesser of two that are equally near. */
function fitEffort(effort: string, known: readonly string[]): string {
  return known.includes(effort) ? effort : (nearestEffort(effort, withoutNone(known)) ?? effort);
}

function nameBudget(tokens: number): string {
  return Object.entries(BUDGETS).find(([, budget]) => tokens <= budget)?.[0] ?? "max";
}
