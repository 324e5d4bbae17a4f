import type { ModelTarget } from "../canonical/format.ts";
import type { ConversationRequest, ReasoningParameters } from "../canonical/request.ts";
import type { Fields } from "../json/fields.ts";
import { forcesTool } from "./encode-tools.ts";
import type { Encoding } from "./encoding.ts";
import { thinksAdaptively } from "./model-family.ts";
import { encodeReasoning } from "./reasoning-origin.ts";

/** How a model is told to reason. */
export interface ReasoningPlan {
  /** Fields for the model's own API. */
  readonly modelFields: Fields;
  /** A Claude will think, which narrows what else it takes. */
  readonly thinks: boolean;
  /** The maximum of tokens to ask for; null: what the client said, or none. */
  readonly maxTokens: number | null;
}

const NO_PLAN: ReasoningPlan = { modelFields: {}, thinks: false, maxTokens: null };

/** The least that Claude thinks, in tokens. */
const MIN_BUDGET = 1024;
/** Room for the answer where the client set no maximum. Tokens. */
const ANSWER_TOKENS = 4096;

/** Budgets for efforts, for models that know only budgets. Tokens. */
const BUDGETS: Readonly<Record<string, number>> = {
  minimal: 1024,
  low: 2048,
  medium: 8192,
  high: 16_384,
  xhigh: 24_576,
  max: 31_999,
};

/** What reasoning is asked for that is to be on, where the model knows efforts alone. */
const USUAL_EFFORT = "medium";

/** The most of the client's maximum that an effort may spend. */
const MAX_SHARE = 0.8;

/** Turns a wish for reasoning into the fields of the model behind Converse, which has none of its own. */
export function planReasoning(
  request: ConversationRequest,
  target: ModelTarget,
  encoding: Encoding,
): ReasoningPlan {
  const wish = request.reasoning;
  if (wish === null) return NO_PLAN;
  const isOff = wish.enabled === false || wish.effort === "none";
  if (encoding.family === "claude")
    return isOff ? planNoThinking(target) : planThinking(request, wish, target, encoding);
  const effort = wish.effort ?? (wish.enabled === true ? USUAL_EFFORT : null);
  if (encoding.family === "openai" && effort !== null && !isOff && target.reasoning?.efforts !== undefined) {
    return { ...NO_PLAN, modelFields: { reasoning_effort: fitEffort(effort, target.reasoning.efforts) } };
  }
  encoding.warn("reasoning", "How much this model reasons cannot be chosen at this provider.");
  return NO_PLAN;
}

/** Claude does not think unless it is told to, but for models that say they can be stopped. */
function planNoThinking({ reasoning }: ModelTarget): ReasoningPlan {
  return reasoning?.canDisable ? { ...NO_PLAN, modelFields: { thinking: { type: "disabled" } } } : NO_PLAN;
}

function planThinking(
  request: ConversationRequest,
  wish: ReasoningParameters,
  target: ModelTarget,
  encoding: Encoding,
): ReasoningPlan {
  if (wish.enabled === null && wish.effort === null && wish.budgetTokens === null && !wish.adaptive)
    return NO_PLAN;
  if (target.reasoning === null) {
    encoding.warn("reasoning", "This model does not reason; it was left out.");
    return NO_PLAN;
  }
  if (forcesTool(request)) {
    encoding.warn("reasoning", "This model does not reason when it must call a tool; it was left out.");
    return NO_PLAN;
  }
  return thinksAdaptively(target) ? planAdaptive(wish, target) : planBudget(request, wish, target, encoding);
}

function planAdaptive(wish: ReasoningParameters, { reasoning }: ModelTarget): ReasoningPlan {
  const display = wish.hidden
    ? { display: "omitted" }
    : wish.summary === null
      ? {}
      : { display: "summarized" };
  const effort = wish.effort ?? (wish.budgetTokens === null ? null : nameBudget(wish.budgetTokens));
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
  wish: ReasoningParameters,
  target: ModelTarget,
  encoding: Encoding,
): ReasoningPlan {
  if (lacksThought(request, encoding)) {
    encoding.warn("reasoning", "This turn began without reasoning, so it goes on without; it was left out.");
    return NO_PLAN;
  }
  const wanted = Math.max(MIN_BUDGET, wish.budgetTokens ?? budgetOfEffort(wish.effort, request.maxTokens));
  const maxTokens = request.maxTokens ?? target.maxOutputTokens ?? wanted + ANSWER_TOKENS;
  const budget = Math.min(wanted, maxTokens - 1);
  if (budget < MIN_BUDGET) {
    encoding.warn(
      "reasoning",
      `max_tokens leaves less than the ${MIN_BUDGET} tokens that this model reasons with; it was left out.`,
    );
    return NO_PLAN;
  }
  if (wish.budgetTokens !== null && budget !== wish.budgetTokens) {
    encoding.warn(
      "reasoning",
      `The budget was set to ${budget} tokens: at least ${MIN_BUDGET}, and below max_tokens.`,
    );
  }
  return { modelFields: { thinking: { type: "enabled", budget_tokens: budget } }, thinks: true, maxTokens };
}

/** What an effort leaves of the client's maximum is the answer's. */
function budgetOfEffort(effort: string | null, maxTokens: number | null): number {
  const budget = BUDGETS[effort ?? "medium"] ?? (BUDGETS["medium"] as number);
  return maxTokens === null ? budget : Math.min(budget, Math.floor(maxTokens * MAX_SHARE));
}

/** Claude refuses to think on a turn whose tool calls it began without thinking. */
function lacksThought({ messages }: ConversationRequest, { family }: Encoding): boolean {
  const asked = messages.findLastIndex(
    ({ role, parts }) => role === "user" && parts.some((part) => part.kind !== "tool-result"),
  );
  const turn = messages.slice(asked + 1).filter(({ role }) => role === "assistant");
  const calls = turn.findLast(({ parts }) => parts.some((part) => part.kind === "tool-call"));
  const first = calls?.parts.find((part) => part.kind !== "text" || part.text.trim() !== "");
  return first !== undefined && (first.kind !== "reasoning" || encodeReasoning(first, family) === null);
}

const EFFORTS = ["minimal", "low", "medium", "high", "xhigh", "max"];

/** The effort itself, or the nearest that the model knows, the lesser of two. */
function fitEffort(effort: string, known: readonly string[]): string {
  if (known.includes(effort)) return effort;
  const place = EFFORTS.indexOf(effort);
  const distance = (name: string) => Math.abs(EFFORTS.indexOf(name) - place);
  const ranked = known.filter((name) => EFFORTS.includes(name)).sort((a, b) => distance(a) - distance(b));
  return place < 0 ? effort : (ranked[0] ?? effort);
}

function nameBudget(tokens: number): string {
  return Object.entries(BUDGETS).find(([, budget]) => tokens <= budget)?.[0] ?? "max";
}
