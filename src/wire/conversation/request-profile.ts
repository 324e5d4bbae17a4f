import type { NameSet } from "../../base/collections/name-sets.ts";
import { fail } from "../../base/failures/errors.ts";
import { asFields, asList, type Fields } from "../../base/json/fields.ts";
import { GATEWAY_FIELDS } from "./gateway-fields.ts";
import type { Warning } from "./warning.ts";

/** A value of a request field that is not an object or array. */
export type Scalar = string | number | boolean | null;

/** Which values of a field reach a provider. `passes`: any value. `costs`: none. */
export type FieldRule = "passes" | "costs" | ValueRule;

/** Rules by name. A map, because each field of each request is looked up. */
export type FieldRules = ReadonlyMap<string, FieldRule>;

/** Rules for parts of a field's value. A value that no member of the rule describes costs. */
interface ValueRule {
  /** Scalars that pass. */
  readonly values?: readonly Scalar[];
  /** Every number passes. */
  readonly numbers?: true;
  /** Rules for the members of an object. A member without a rule costs. */
  readonly members?: FieldRules;
  /** Members that the object must have, because the provider chooses a value that costs for one that is absent. */
  readonly needs?: readonly string[];
  /** Rules for the elements of an array, by a member that names their type; an element without a rule costs. */
  readonly items?: { readonly key: string; readonly rules: FieldRules };
}

/**
 * What an endpoint accepts of a request, as far as its price allows (docs/pricing.md, "What reaches a provider"). A field or tool
 * that may cost more than the endpoint has prices for is left out.
 */
export interface RequestProfile {
  readonly fields: FieldRules;
  /** Rules for tools by type; a name that ends in `*` stands for all types with that beginning. */
  readonly tools: FieldRules;
  /** The rule for fields without one. */
  readonly others: "passes" | "costs";
  /** The entry that is added to a list in requests with files, so that reading the files costs nothing. */
  readonly forFiles?: AddedEntry | undefined;
  /** The reason for the omission, which completes the warnings. */
  readonly reason: string;
}

/** An entry that is added to a list of the request, unless the list has one of the same type. */
interface AddedEntry {
  readonly field: string;
  /** The member that names the type of an entry. */
  readonly key: string;
  readonly entry: Fields;
}

/** The parts of a request's body that a review reads. Values are parsed only if a rule depends on them. */
export interface RequestView {
  readonly members: readonly { readonly key: string }[];
  /** Returns the value of the member at a position. */
  valueAt(at: number): unknown;
  readonly toolCount: number;
  /** Undefined for a function without a type, as in Messages. */
  toolTypeAt(at: number): string | undefined;
  toolAt(at: number): Fields;
  /** Whether the request may have files. */
  hasFiles(): boolean;
}

/** The parts of a request that are omitted or changed because they may cost. */
export interface ProfileReview {
  readonly removed: ReadonlySet<string>;
  /** Members that get another value, or are added. */
  readonly replaced: ReadonlyMap<string, unknown>;
  /** Positions in `tools`. Empty if all tools are left out, which `removed` then says. */
  readonly removedTools: ReadonlySet<number>;
  readonly warnings: readonly Warning[];
}

const NONE: ReadonlySet<never> = new Set();

/** The usual review: nothing is omitted. */
export const NOTHING_LEFT_OUT: ProfileReview = {
  removed: NONE,
  replaced: new Map(),
  removedTools: NONE,
  warnings: [],
};

/**
 * Decides which parts of a request are omitted for an endpoint. Pure. `skipped` are fields that do not reach the provider anyway.
 * @throws GatewayError `invalid_request` if `tool_choice` requires a tool that is left out.
 */
export function reviewRequest(profile: RequestProfile, view: RequestView, skipped: NameSet): ProfileReview {
  if (!needsReview(profile, view, skipped)) return NOTHING_LEFT_OUT;
  const review = new MutableReview(profile);
  review.reviewFields(view, skipped);
  review.reviewTools(view);
  if (profile.forFiles !== undefined && view.hasFiles()) review.addEntry(profile.forFiles, view);
  return review.isEmpty ? NOTHING_LEFT_OUT : review;
}

/** Returns whether anything may have to be omitted or added, which is rare. Allocates nothing. */
function needsReview(profile: RequestProfile, view: RequestView, skipped: NameSet): boolean {
  for (const { key } of view.members) if (ruleForField(profile, key, skipped) !== "passes") return true;
  return mayHaveCostlyTools(profile, view) || (profile.forFiles !== undefined && view.hasFiles());
}

/** Returns the rule for a field. Those that do not reach the provider pass here. */
function ruleForField(profile: RequestProfile, name: string, skipped: NameSet): FieldRule {
  const rule = profile.fields.get(name) ?? profile.others;
  return rule === "passes" || GATEWAY_FIELDS.has(name) || skipped.has(name) ? "passes" : rule;
}

/** Whether a type of tool needs a closer look; most requests have only functions. */
function mayHaveCostlyTools({ tools }: RequestProfile, view: RequestView): boolean {
  for (let at = 0; at < view.toolCount; at++) {
    const type = view.toolTypeAt(at);
    if (type !== undefined && tools.get(type) !== "passes") return true;
  }
  return false;
}

/** Returns the rule for a type of tool, or for its beginning. */
function ruleForTool(rules: FieldRules, type: string): FieldRule {
  const own = rules.get(type);
  if (own !== undefined) return own;
  for (const [name, rule] of rules) if (name.endsWith("*") && type.startsWith(name.slice(0, -1))) return rule;
  return "costs";
}

/** The rest of a value after costly parts are omitted. */
interface Kept {
  readonly isWhole: boolean;
  /** Undefined if nothing is left. */
  readonly value: unknown;
}

const WHOLE: Kept = { isWhole: true, value: undefined };
const NOTHING: Kept = { isWhole: false, value: undefined };

/** Keeps values without effect, in any field. */
function keepIfEmpty(value: unknown): Kept {
  if (value === null || value === false) return WHOLE;
  return Array.isArray(value) && value.length === 0 ? WHOLE : NOTHING;
}

function keep(rule: FieldRule, value: unknown): Kept {
  if (rule === "passes") return WHOLE;
  if (value === undefined) return WHOLE;
  if (rule === "costs" || value === null || value === false) return keepIfEmpty(value);
  if (Array.isArray(value)) return keepItems(rule, value);
  const fields = asFields(value);
  if (fields !== null) return keepMembers(rule, fields);
  const passes =
    rule.values?.includes(value as Scalar) === true || (rule.numbers === true && isNumber(value));
  return passes ? WHOLE : NOTHING;
}

const NO_NAMES: readonly string[] = [];

function isNumber(value: unknown): boolean {
  return typeof value === "number";
}

function keepMembers({ members, needs = NO_NAMES }: ValueRule, fields: Fields): Kept {
  if (members === undefined || needs.some((name) => fields[name] === undefined)) return NOTHING;
  const left: [string, unknown][] = [];
  let isWhole = true;
  for (const [name, value] of Object.entries(fields)) {
    const kept = keep(members.get(name) ?? "costs", value);
    isWhole &&= kept.isWhole;
    if (kept.isWhole) left.push([name, value]);
    else if (kept.value !== undefined) left.push([name, kept.value]);
  }
  if (isWhole) return WHOLE;
  return left.length === 0 ? NOTHING : { isWhole: false, value: Object.fromEntries(left) };
}

/**
 * Keeps the elements without costly parts. An element with a costly part is omitted as a whole, because without that part it would have
 * another meaning.
 */
function keepItems({ items }: ValueRule, elements: readonly unknown[]): Kept {
  if (items === undefined) return keepIfEmpty(elements);
  const left = elements.filter((element) => {
    const type = asFields(element)?.[items.key];
    return typeof type === "string" && keep(ruleForTool(items.rules, type), element).isWhole;
  });
  if (left.length === elements.length) return WHOLE;
  return left.length === 0 ? NOTHING : { isWhole: false, value: left };
}

/** Collects what is left out. */
class MutableReview implements ProfileReview {
  readonly removed = new Set<string>();
  readonly replaced = new Map<string, unknown>();
  readonly removedTools = new Set<number>();
  readonly warnings: Warning[] = [];
  /** Types and names of the tools that are left out. */
  private readonly lost = new Set<string>();

  constructor(private readonly profile: RequestProfile) {}

  get isEmpty(): boolean {
    return this.removed.size === 0 && this.replaced.size === 0 && this.removedTools.size === 0;
  }

  reviewFields(view: RequestView, skipped: NameSet): void {
    for (const [at, { key: name }] of view.members.entries()) {
      const rule = ruleForField(this.profile, name, skipped);
      const kept = rule === "passes" || name === "tools" ? WHOLE : keep(rule, view.valueAt(at));
      if (!kept.isWhole) this.omitField(name, kept.value);
    }
  }

  private omitField(field: string, left: unknown): void {
    if (left === undefined) this.removed.add(field);
    else this.replaced.set(field, left);
    this.warn(field, left === undefined ? "it was left out" : "a part of it was left out");
  }

  /** Adds an entry to a list, if no remaining entry has its type. */
  addEntry({ field, key, entry }: AddedEntry, view: RequestView): void {
    const list = this.removed.has(field) ? [] : asList(this.replaced.get(field) ?? memberValue(view, field));
    if (list.some((one) => asFields(one)?.[key] === entry[key])) return;
    this.removed.delete(field);
    this.replaced.set(field, [...list, entry]);
  }

  reviewTools(view: RequestView): void {
    for (let at = 0; at < view.toolCount; at++) {
      const type = view.toolTypeAt(at);
      if (type === undefined || keepTool(this.profile.tools, type, () => view.toolAt(at))) continue;
      this.removedTools.add(at);
      this.lost.add(type);
      const { name } = view.toolAt(at);
      if (typeof name === "string") this.lost.add(name);
      this.warn(`tools[${at}]`, `the tool ${type.slice(0, NAMED_CHARS)} was left out`);
    }
    if (this.removedTools.size > 0) this.adaptFields(view);
  }

  private warn(field: string, what: string): void {
    if (this.warnings.length === MAX_WARNINGS) return;
    this.warnings.push({ field: field.slice(0, NAMED_CHARS), message: `${this.profile.reason}; ${what}.` });
  }

  /** Adapts the fields that refer to tools. */
  private adaptFields(view: RequestView): void {
    const isEmpty = this.removedTools.size === view.toolCount;
    for (const [at, { key: name }] of view.members.entries()) {
      if (name === "tool_choice") this.adaptChoice(view.valueAt(at), isEmpty);
      else if (name === "parallel_tool_calls" && isEmpty) this.removed.add(name);
    }
    if (!isEmpty) return;
    this.removed.add("tools");
    this.removedTools.clear();
  }

  private adaptChoice(choice: unknown, isEmpty: boolean): void {
    const fields = asFields(choice);
    if (isEmpty && (REQUIRES_ANY.has(choice) || REQUIRES_ANY.has(fields?.["type"])))
      rejectChoice([...this.lost]);
    if (fields !== null && fields["type"] === "allowed_tools") this.adaptAllowed(fields, isEmpty);
    else if (fields !== null && this.isLost(fields)) rejectChoice([...this.lost]);
    else if (isEmpty) this.removed.add("tool_choice");
  }

  /** Whether a choice or an entry of `allowed_tools` names a tool that is left out. */
  private isLost({ type, name }: Fields): boolean {
    if (typeof type === "string" && this.lost.has(type)) return true;
    return type === "tool" && typeof name === "string" && this.lost.has(name);
  }

  private adaptAllowed(choice: Fields, isEmpty: boolean): void {
    const inner = asFields(choice["allowed_tools"]);
    const list = (inner ?? choice)["tools"];
    if (!Array.isArray(list)) return;
    const left = list.filter((entry) => !this.isLost(asFields(entry) ?? {}));
    if (left.length === 0 && (inner ?? choice)["mode"] === "required") rejectChoice([...this.lost]);
    if (isEmpty) this.removed.add("tool_choice");
    else if (left.length === 0) this.replaced.set("tool_choice", "none");
    else if (left.length < list.length)
      this.replaced.set(
        "tool_choice",
        inner === null ? { ...choice, tools: left } : { ...choice, allowed_tools: { ...inner, tools: left } },
      );
  }
}

function memberValue(view: RequestView, name: string): unknown {
  const at = view.members.findIndex(({ key }) => key === name);
  return at < 0 ? undefined : view.valueAt(at);
}

function keepTool(rules: RequestProfile["tools"], type: string, tool: () => Fields): boolean {
  const rule = ruleForTool(rules, type);
  return rule === "passes" || (rule !== "costs" && keep(rule, tool()).isWhole);
}

/** Choices that require a call of any tool: OpenAI's and Anthropic's. */
const REQUIRES_ANY: ReadonlySet<unknown> = new Set(["required", "any"]);

/** @throws GatewayError `invalid_request`: `tool_choice` requires one of the tools that are left out. */
export function rejectChoice(lost: readonly string[]): never {
  return fail(
    "invalid_request",
    `tool_choice requires a tool that the provider runs (${lost.slice(0, NAMED_TOOLS).join(", ")}), and that is not sent: it has no price here, or this provider does not have it. Let the model choose, offer a function instead, or use a BYOK key of your account for the provider.`,
    { metadata: { field: "tool_choice" } },
  );
}

const NAMED_TOOLS = 5;
const NAMED_CHARS = 64;
/** Maximum number of warnings of one review: a body may have thousands of fields. */
const MAX_WARNINGS = 50;
