import { asFields, asText, type Fields } from "../../../../base/json/fields.ts";
import type { Warn } from "../../../canonical/fit/warn.ts";
import { effortOfBudget, nearestEffort } from "../../../canonical/model/efforts.ts";
import type { ModelTarget, ReasoningFields } from "../../../canonical/model/format.ts";
import type { ConversationRequest, ReasoningParameters } from "../../../canonical/model/request.ts";

/** Decodes `reasoning` and `reasoning_effort`. If both name an effort, the object wins. */
export function decodeReasoningParameters(raw: Fields): Pick<ConversationRequest, "reasoning"> {
  const given = asFields(raw["reasoning"]);
  const effort = asText(given?.["effort"]) ?? asText(raw["reasoning_effort"]);
  if (given === null && effort === null) return { reasoning: null };
  const enabled = given?.["enabled"];
  const budget = given?.["max_tokens"];
  return {
    reasoning: {
      enabled: typeof enabled === "boolean" ? enabled : null,
      effort,
      budgetTokens: typeof budget === "number" ? budget : null,
      adaptive: false,
      summary: asText(given?.["summary"]),
      hidden: given?.["exclude"] === true,
    },
  };
}

/** The reasoning fields that OpenAI and most other vendors accept. */
const USUAL_FIELDS: ReasoningFields = { effort: "reasoning_effort" };

/**
 * Returns whether the client's reasoning fields have to be replaced for a target. If nothing is known about a model, its host gets the
 * client's fields.
 */
export function needsRespelling(raw: Fields, target: ModelTarget): boolean {
  if (target.reasons === undefined || target.takesReasoningObject === true) return false;
  if (asFields(raw["reasoning"]) !== null) return true;
  const effort = asText(raw["reasoning_effort"]);
  if (effort === null) return false;
  const fields = target.reasoningFields ?? USUAL_FIELDS;
  if (!target.reasons || fields.effort !== "reasoning_effort") return true;
  const isKnown = (target.reasoning?.efforts ?? target.hostEfforts)?.includes(effort) !== false;
  return !isKnown || (effort === "none" && fields.off !== undefined);
}

/** The requested reasoning: off, or on with an effort or a budget. */
type Wanted =
  | { readonly kind: "off" }
  | { readonly kind: "on"; readonly effort: string | null; readonly budget: number | null };

/** Returns the requested reasoning; null if the parameters leave it to the vendor. */
function readWanted({ enabled, effort, budgetTokens, adaptive }: ReasoningParameters): Wanted | null {
  if (enabled === false || effort === "none" || (effort === null && budgetTokens === 0))
    return { kind: "off" };
  if (enabled === null && effort === null && budgetTokens === null && !adaptive) return null;
  return { kind: "on", effort, budget: budgetTokens };
}

/**
 * Encodes reasoning parameters in the spelling of the target's vendor, with the nearest value that its model accepts. What cannot
 * be expressed is reported with `warn`. Nothing is sent to switch off the reasoning of a model that does not reason.
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
  const context = { control: target.reasoning, fields, warn };
  return wanted.kind === "off" ? encodeOff(context) : encodeOn(wanted, context);
}

const NO_SUMMARIES = "The chat format of this model's provider shows no summaries; it was left out.";
const NOT_KNOWN_TO_REASON = "The model is not known to reason; the reasoning parameters were left out.";
const ALWAYS_REASONS = "The model is not known to answer without reasoning; it was not switched off.";
const NO_SWITCH =
  "The model's provider is not known to switch reasoning on and off; the parameter was left out.";
const NO_EFFORTS = "The model's reasoning is not known to have efforts; the effort was left out.";

/** Encodes the `reasoning` object that clients of this gateway send, for vendors that accept it too. */
function toObject({ enabled, effort, budgetTokens, adaptive, summary, hidden }: ReasoningParameters): Fields {
  return {
    ...(enabled !== null || adaptive ? { enabled: enabled ?? true } : {}),
    ...(effort === null ? {} : { effort }),
    ...(budgetTokens === null || effort !== null ? {} : { max_tokens: budgetTokens }),
    ...(summary === null ? {} : { summary }),
    ...(hidden ? { exclude: true } : {}),
  };
}

/** How a target's reasoning is controlled, and in which fields. */
interface ControlContext {
  readonly control: ModelTarget["reasoning"];
  readonly fields: ReasoningFields;
  readonly warn: Warn;
}

function encodeOff({ control, fields, warn }: ControlContext): Fields {
  const efforts = control?.efforts ?? [];
  if (control?.canDisable && fields.off !== undefined) return fields.off;
  if (control?.onlyWhenTold) return {};
  const hasNone = efforts.includes("none") || (control?.canDisable === true && efforts.length > 0);
  if (hasNone && fields.effort !== undefined) return { [fields.effort]: "none" };
  if (control?.canDisable) {
    warn("reasoning", NO_SWITCH);
    return {};
  }
  const least = nearestEffort("none", efforts);
  if (least === null || fields.effort === undefined) {
    warn("reasoning", ALWAYS_REASONS);
    return {};
  }
  warn("reasoning", `The model has no effort "none"; "${least}" was sent.`);
  return { [fields.effort]: least };
}

function encodeOn(
  { effort, budget }: Extract<Wanted, { kind: "on" }>,
  { control, fields, warn }: ControlContext,
): Fields {
  const on = control?.canDisable === true ? (fields.on ?? {}) : {};
  const efforts = control?.efforts ?? COMMON_EFFORTS;
  const takesEfforts = control !== null && fields.effort !== undefined && !isToggle(control);
  const budgets = fields.budget === undefined ? undefined : control?.budgetTokens;
  if (budget !== null && budgets !== undefined)
    return { ...on, [fields.budget as string]: clamp(budget, budgets) };
  const wanted = effort ?? (budget === null ? null : effortOfBudget(budget));
  if (wanted === null) {
    if (Object.keys(on).length > 0) return on;
    if (takesEfforts) return { [fields.effort as string]: fitEffort(USUAL_EFFORT, efforts) };
    if (control?.canDisable) warn("reasoning", NO_SWITCH);
    return {};
  }
  if (takesEfforts) {
    const nearest = fitEffort(wanted, efforts);
    if (nearest !== wanted) warn("reasoning", `The model has no effort "${wanted}"; "${nearest}" was sent.`);
    return { ...on, [fields.effort as string]: nearest };
  }
  const typical = BUDGETS[wanted];
  if (budgets !== undefined && typical !== undefined)
    return { ...on, [fields.budget as string]: clamp(typical, budgets) };
  warn("reasoning", NO_EFFORTS);
  return on;
}

/** The efforts assumed for a model whose efforts are not listed. */
const COMMON_EFFORTS = ["low", "medium", "high"];
/** The effort for reasoning that is switched on without an amount, for models that only have efforts. */
const USUAL_EFFORT = "medium";

/** Returns whether a model's reasoning can only be switched on and off. */
function isToggle(control: ModelTarget["reasoning"]): boolean {
  return control?.canDisable === true && control.efforts === undefined;
}

/** The approximate budget of each effort, in tokens. */
const BUDGETS: Readonly<Record<string, number>> = {
  minimal: 1_024,
  low: 4_096,
  medium: 16_384,
  high: 32_768,
  xhigh: 65_536,
  max: 131_072,
};

function clamp(
  budget: number,
  { min = 1, max = budget }: { readonly min?: number; readonly max?: number },
): number {
  return Math.max(min, Math.min(budget, max));
}

/** Returns the nearest of the known efforts; an unknown word is returned unchanged. */
function fitEffort(wanted: string, known: readonly string[]): string {
  return known.includes(wanted) ? wanted : (nearestEffort(wanted, known) ?? wanted);
}
