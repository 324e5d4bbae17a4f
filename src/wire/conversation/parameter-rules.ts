import type { Scalar } from "./request-profile.ts";
import type { Warning } from "./warning.ts";

/** The values of one parameter that an endpoint accepts. Without a rule, it accepts every value. */
export interface ParameterRule {
  /**
   * The only accepted values; other values are omitted. An empty list means that the parameter is not accepted. In a rule with `notWith`:
   * values that are always accepted.
   */
  readonly values?: readonly Scalar[];
  /** A number below it is raised to it. */
  readonly min?: number;
  /** A number above it is lowered to it. */
  readonly max?: number;
  /** True if only a list of texts is accepted. A single text is then sent as a list. */
  readonly list?: true;
  /** The rule applies only while the model reasons. */
  readonly whileReasoning?: true;
  /** The parameter is omitted if the request also has this one (or one of these values of it). */
  readonly notWith?: { readonly parameter: string; readonly values?: readonly Scalar[] };
  /** True if the rule was learned from a refusal of the provider and is not in the catalog. */
  readonly isLearned?: true;
}

/** The rules of an endpoint for request parameters, by the names of the chat API. */
export interface ParameterRules {
  readonly rules: ReadonlyMap<string, ParameterRule>;
  /** Whether the model reasons if the request does not say. */
  readonly reasonsByDefault: boolean;
}

/** The parameters of a request's body. */
export interface ParameterView {
  readonly count: number;
  /** The name of the chat API. */
  parameterAt(at: number): string;
  /** The name that warnings use. */
  fieldAt(at: number): string;
  /** Undefined if it cannot be read. */
  valueAt(at: number): unknown;
}

/** A parameter that is left out (`value` is undefined) or gets another value. */
interface ParameterChange {
  /** Its position in the view. */
  readonly at: number;
  readonly value: ChangedValue;
}

type ChangedValue = number | readonly string[] | undefined;

/** The changes to a request for an endpoint, and warnings about them. */
export interface ParameterReview {
  readonly changes: readonly ParameterChange[];
  readonly warnings: readonly Warning[];
}

/** The usual review: the endpoint accepts all parameters. */
export const ALL_TAKEN: ParameterReview = { changes: [], warnings: [] };

/** Decides which parameters of a request are left out or limited for an endpoint, and names them. Pure. */
export function reviewParameters(rules: ParameterRules, view: ParameterView): ParameterReview {
  let review: { changes: ParameterChange[]; warnings: Warning[] } | null = null;
  for (let at = 0; at < view.count; at++) {
    const rule = rules.rules.get(view.parameterAt(at));
    if (rule === undefined) continue;
    const given = view.valueAt(at);
    if (isTaken(rule, given) || !applies(rule, rules, view)) continue;
    const value = change(rule, given);
    review ??= { changes: [], warnings: [] };
    review.changes.push({ at, value });
    // Null has no effect, and a list of one text means the same as the text.
    if (given !== null && !Array.isArray(value))
      review.warnings.push(createWarning(view.fieldAt(at), rule, value));
  }
  return review ?? ALL_TAKEN;
}

/** Returns whether a value is accepted regardless of the other parameters. */
function isTaken({ values, min, max, list, notWith }: ParameterRule, given: unknown): boolean {
  if (list === true) return typeof given !== "string";
  if (notWith !== undefined) return given === null || values?.includes(given as Scalar) === true;
  if (values !== undefined) return values.includes(given as Scalar);
  return typeof given !== "number" || limitNumber(given, min, max) === given;
}

function applies(rule: ParameterRule, rules: ParameterRules, view: ParameterView): boolean {
  if (rule.whileReasoning === true && !willReason(rules, view)) return false;
  if (rule.notWith === undefined) return true;
  const { parameter, values } = rule.notWith;
  const other = readParameter(view, parameter) ?? null;
  return other !== null && (values === undefined || values.includes(other as Scalar));
}

/** Returns whether the model reasons: because of the request or, if the request does not say, by default. */
function willReason({ reasonsByDefault }: ParameterRules, view: ParameterView): boolean {
  const object = readParameter(view, "reasoning") as
    | { effort?: unknown; enabled?: unknown }
    | null
    | undefined;
  const effort = readParameter(view, "reasoning_effort") ?? object?.effort;
  if (effort === "none" || object?.enabled === false) return false;
  return typeof effort === "string" || object?.enabled === true || reasonsByDefault;
}

function readParameter(view: ParameterView, name: string): unknown {
  for (let at = 0; at < view.count; at++) if (view.parameterAt(at) === name) return view.valueAt(at);
  return undefined;
}

function change({ values, min, max, list, notWith }: ParameterRule, given: unknown): ChangedValue {
  if (list === true && typeof given === "string") return [given];
  if (values !== undefined || notWith !== undefined || typeof given !== "number") return undefined;
  return limitNumber(given, min, max);
}

function limitNumber(given: number, min = Number.NEGATIVE_INFINITY, max = Number.POSITIVE_INFINITY): number {
  return Math.min(Math.max(given, min), max);
}

function createWarning(field: string, rule: ParameterRule, value: ChangedValue): Warning {
  return rule.isLearned === true
    ? { field, message: "It was left out because the provider refused it.", isLearned: true }
    : { field, message: describeChange(rule, value) };
}

function describeChange({ values = [], notWith }: ParameterRule, value: ChangedValue): string {
  if (value !== undefined) return `The model at this provider does not accept the value; ${value} was sent.`;
  if (notWith !== undefined)
    return `The model at this provider does not accept it together with ${notWith.parameter}; it was left out.`;
  const only = values.filter((one) => one !== null).join(", ");
  return only === ""
    ? "The model at this provider does not support it; it was left out."
    : `The model at this provider accepts only ${only}; it was left out.`;
}
