import type { ModelTarget, ReasoningFields } from "../../canonical/format.ts";
import type { ConversationRequest, ReasoningParameters } from "../../canonical/request.ts";
import { asFields, asText, type Fields } from "../../json/fields.ts";
import type { Warn } from "./encode-part.ts";

/** Reads `reasoning` and `reasoning_effort`; where both name an effort, the object counts. */
export function readReasoningParameters(raw: Fields): Pick<ConversationRequest, "reasoning"> {
  const wish = asFields(raw["reasoning"]);
  const effort = asText(wish?.["effort"]) ?? asText(raw["reasoning_effort"]);
  if (wish === null && effort === null) return { reasoning: null };
  const enabled = wish?.["enabled"];
  const budget = wish?.["max_tokens"];
  return {
    reasoning: {
      enabled: typeof enabled === "boolean" ? enabled : null,
      effort,
      budgetTokens: typeof budget === "number" ? budget : null,
      adaptive: false,
      summary: asText(wish?.["summary"]),
      hidden: wish?.["exclude"] === true,
    },
  };
}

/** What OpenAI and most others take. */
const USUAL_FIELDS: ReasoningFields = { effort: "reasoning_effort" };

/**
 * Whether what a client of this format says of reasoning has to be put otherwise for a target. Of a model that nobody has
 * described nothing is known, and its host gets what the client said.
 */
export function mustRespell(raw: Fields, target: ModelTarget): boolean {
  if (target.reasons === undefined || target.takesReasoningObject === true) return false;
  if (asFields(raw["reasoning"]) !== null) return true;
  const effort = asText(raw["reasoning_effort"]);
  if (effort === null || !target.reasons) return false;
  const fields = target.reasoningFields ?? USUAL_FIELDS;
  return fields.effort !== "reasoning_effort" || (effort === "none" && fields.off !== undefined);
}

/** What a wish comes to: reasoning off, or on with so much of it. */
type Wanted =
  | { readonly kind: "off" }
  | { readonly kind: "on"; readonly effort: string | null; readonly budget: number | null };

/** Null where the wish leaves it to the vendor. */
function readWanted({ enabled, effort, budgetTokens, adaptive }: ReasoningParameters): Wanted | null {
  if (enabled === false || effort === "none" || (effort === null && budgetTokens === 0))
    return { kind: "off" };
  if (enabled === null && effort === null && budgetTokens === null && !adaptive) return null;
  return { kind: "on", effort, budget: budgetTokens };
}

/**
 * The wish as the target's vendor spells it, the nearest that its model knows. What cannot be said there is named; a model
 * that does not reason is not told to stop it.
 */
export function encodeReasoningParameters(
  { reasoning }: Pick<ConversationRequest, "reasoning">,
  target: ModelTarget,
  warn: Warn,
): Fields {
  if (reasoning === null) return {};
  if (target.takesReasoningObject === true) return { reasoning: toObject(reasoning) };
  if (target.reasons === true && reasoning.summary !== null) warn("reasoning.summary", NO_SUMMARIES, true);
  const wanted = readWanted(reasoning);
  if (wanted === null) return {};
  const fields = target.reasoningFields ?? USUAL_FIELDS;
  if (target.reasons === false || (target.reasons === undefined && target.reasoning === null)) {
    if (wanted.kind === "on") warn("reasoning", NOT_KNOWN_TO_REASON);
    return {};
  }
  return wanted.kind === "off" ? sayOff(target, fields, warn) : sayOn(wanted, target, fields, warn);
}

const NO_SUMMARIES = "The chat format of this model's provider shows no summaries; it was left out.";
const NOT_KNOWN_TO_REASON = "The model is not known to reason; the wish was left out.";
const ALWAYS_REASONS = "The model is not known to answer without reasoning; it was not switched off.";
const NO_SWITCH = "The model's provider is not known to switch reasoning on and off; the wish was left out.";
const NO_EFFORTS = "The model's reasoning is not known to have efforts; the effort was left out.";

/** The object that clients of this gateway send, for a vendor that takes it as well. */
function toObject({ enabled, effort, budgetTokens, adaptive, summary, hidden }: ReasoningParameters): Fields {
  return {
    ...(enabled !== null || adaptive ? { enabled: enabled ?? true } : {}),
    ...(effort === null ? {} : { effort }),
    ...(budgetTokens === null || effort !== null ? {} : { max_tokens: budgetTokens }),
    ...(summary === null ? {} : { summary }),
    ...(hidden ? { exclude: true } : {}),
  };
}

function sayOff({ reasoning: control }: ModelTarget, fields: ReasoningFields, warn: Warn): Fields {
  const efforts = control?.efforts ?? [];
  if (control?.canDisable && fields.off !== undefined) return fields.off;
  if (control?.onlyWhenTold) return {};
  const hasNone = efforts.includes("none") || (control?.canDisable === true && efforts.length > 0);
  if (hasNone && fields.effort !== undefined) return { [fields.effort]: "none" };
  if (control?.canDisable) {
    warn("reasoning", NO_SWITCH);
    return {};
  }
  const least = findNearest("none", efforts);
  if (least === null || fields.effort === undefined) {
    warn("reasoning", ALWAYS_REASONS);
    return {};
  }
  warn("reasoning", `The model has no effort "none"; "${least}" was sent.`);
  return { [fields.effort]: least };
}

function sayOn(
  { effort, budget }: Extract<Wanted, { kind: "on" }>,
  { reasoning: control }: ModelTarget,
  fields: ReasoningFields,
  warn: Warn,
): Fields {
  const on = control?.canDisable === true ? (fields.on ?? {}) : {};
  const efforts = control?.efforts ?? COMMON_EFFORTS;
  const takesEfforts = control !== null && fields.effort !== undefined && !isToggle(control);
  const budgets = fields.budget === undefined ? undefined : control?.budgetTokens;
  if (budget !== null && budgets !== undefined)
    return { ...on, [fields.budget as string]: fit(budget, budgets) };
  const wanted = effort ?? (budget === null ? null : effortOf(budget));
  if (wanted === null) {
    if (Object.keys(on).length > 0) return on;
    if (takesEfforts) return { [fields.effort as string]: findNearest(USUAL_EFFORT, efforts) };
    if (control?.canDisable) warn("reasoning", NO_SWITCH);
    return {};
  }
  if (takesEfforts) {
    const nearest = findNearest(wanted, efforts) as string;
    if (nearest !== wanted) warn("reasoning", `The model has no effort "${wanted}"; "${nearest}" was sent.`);
    return { ...on, [fields.effort as string]: nearest };
  }
  const spent = BUDGETS[wanted];
  if (budgets !== undefined && spent !== undefined)
    return { ...on, [fields.budget as string]: fit(spent, budgets) };
  warn("reasoning", NO_EFFORTS);
  return on;
}

/** Efforts, least first. */
const EFFORTS = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];
/** What a model is taken to know of which nothing more is said than that it is steered. */
const COMMON_EFFORTS = ["low", "medium", "high"];
/** What reasoning is asked for that is to be on, where it has efforts and nothing else. */
const USUAL_EFFORT = "medium";

/** Whether all that is known of a model's reasoning is that it can be switched on and off. */
function isToggle(control: ModelTarget["reasoning"]): boolean {
  return control?.canDisable === true && control.efforts === undefined;
}

/** About what each effort spends. Tokens. */
const BUDGETS: Readonly<Record<string, number>> = {
  minimal: 1_024,
  low: 4_096,
  medium: 16_384,
  high: 32_768,
  xhigh: 65_536,
  max: 131_072,
};

function effortOf(budget: number): string {
  if (budget <= (BUDGETS["low"] as number)) return "low";
  return budget <= (BUDGETS["medium"] as number) ? "medium" : "high";
}

function fit(
  budget: number,
  { min = 1, max = budget }: { readonly min?: number; readonly max?: number },
): number {
  return Math.max(min, Math.min(budget, max));
}

/** The nearest of the efforts that are known, of two the lesser; a word that nobody knows stays itself. */
function findNearest(wanted: string, known: readonly string[]): string | null {
  const rank = EFFORTS.indexOf(wanted);
  if (known.includes(wanted) || rank < 0) return wanted;
  const distance = (effort: string) => Math.abs(EFFORTS.indexOf(effort) - rank);
  const ranked = EFFORTS.filter((effort) => known.includes(effort)).toSorted(
    (a, b) => distance(a) - distance(b),
  );
  return ranked[0] ?? null;
}
