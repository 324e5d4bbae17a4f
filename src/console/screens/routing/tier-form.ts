/** Converts tiers to and from the fields of their form. Pure functions. */
import type { Tier } from "../../api/schema.ts";
import { text } from "../../text/text.ts";

/** The fields of a tier that are stored. */
export type TierInput = Pick<Tier, "name" | "description" | "released" | "rule">;
type Rule = Tier["rule"];
/** The models of one case of a tier, and their reasoning effort. */
export type TierPick = Extract<Rule, { by: "balance" }>["else"];

/** What is typed: the fields of the form, and the tier as JSON, which counts while `isJson`. */
export interface TierDraft extends TierInput {
  /** The id without its prefix. Only the id of a new tier can be edited. */
  readonly id: string;
  readonly json: string;
  readonly isJson: boolean;
}

export const PREFIX = "gateway-auto/";

/** What a new tier begins with. */
export const NEW_TIER: TierInput = {
  name: "",
  description: "",
  rule: { by: "balance", paid: { models: [] }, else: { models: [] } },
};

/** Returns what the form shows for a tier. */
export function toDraft(id: string, tier: TierInput): TierDraft {
  const input = toInput(tier);
  return { ...input, id: id.replace(PREFIX, ""), json: JSON.stringify(input, null, 2), isJson: false };
}

/** Leaves out the fields of a tier that are not stored. */
function toInput({ name, description, released, rule }: TierInput): TierInput {
  return { name, description, ...(released === undefined ? {} : { released }), rule };
}

/** Returns the tier that a form describes, or why its JSON cannot be read. */
export function fromDraft(draft: TierDraft): { readonly tier: TierInput } | { readonly problem: string } {
  if (!draft.isJson) return { tier: toInput(draft) };
  try {
    const value = JSON.parse(draft.json) as TierInput | null;
    const isTier = typeof value === "object" && value !== null && typeof value.rule === "object";
    return isTier ? { tier: value } : { problem: text.routing.notTier };
  } catch (error) {
    return { problem: text.routing.notJson((error as Error).message) };
  }
}

/** Switches between form and JSON. The other one shows what was typed. */
export function switchForm(draft: TierDraft): TierDraft | { readonly problem: string } {
  const read = fromDraft(draft);
  if ("problem" in read) return read;
  return { ...toDraft(draft.id, { ...NEW_TIER, ...read.tier }), isJson: !draft.isJson };
}

/** Returns what a draft lacks before the API accepts it; null if nothing is known to be missing. */
export function findMissing(draft: TierDraft): string | null {
  const { missing } = text.routing;
  const read = fromDraft(draft);
  if ("problem" in read) return read.problem;
  const { name, rule } = read.tier;
  if (!/^[a-z0-9][a-z0-9._-]*$/.test(draft.id)) return missing.id;
  if (typeof name !== "string" || name.trim() === "") return missing.name;
  try {
    return listCases(rule).map(findMissingModel).find(Boolean) ?? null;
  } catch {
    // A rule that was typed as JSON may lack any of its fields.
    return missing.rule;
  }
}

function findMissingModel({ when, pick: { models } }: Case): string | null {
  const { missing } = text.routing;
  if (models.length === 0) return missing.models(when);
  const wrong = models.find((id) => !/^[^/\s]+\/[^/\s]+$/.test(id));
  return wrong === undefined ? null : missing.model(wrong);
}

/** A case of a rule: when it applies, and the models it chooses. */
export interface Case {
  /** Identifies the case within its rule. */
  readonly id: string;
  readonly when: string;
  readonly pick: TierPick;
}

/** Returns the cases of a rule in their order; none for a tier of free models. */
export function listCases(rule: Rule): readonly Case[] {
  const { when } = text.routing;
  if (rule.by === "free") return [];
  const last: Case = { id: "else", when: when.else, pick: rule.else };
  if (rule.by === "balance") return [{ id: "paid", when: when.paid, pick: rule.paid }, last];
  if (rule.by === "api") {
    const cases = Object.entries(rule.cases ?? {}).map(
      ([id, pick]): Case => ({ id, when: text.routing.whenApi(id), pick }),
    );
    return [...cases, last];
  }
  if (rule.by !== "header") throw new Error(`unknown rule: ${JSON.stringify(rule)}`);
  const cases = (rule.cases ?? []).map(
    ({ values, pick }, i): Case => ({
      id: String(i),
      when: text.routing.whenHeader(rule.header, values.join(", ")),
      pick,
    }),
  );
  return [...cases, last];
}

/** Returns a rule with another pick in one of its cases. */
export function changeCase(rule: Rule, id: string, pick: TierPick): Rule {
  if (rule.by === "free") return rule;
  if (id === "else") return { ...rule, else: pick };
  if (rule.by === "balance") return { ...rule, paid: pick };
  if (rule.by === "api") return { ...rule, cases: { ...rule.cases, [id]: pick } };
  return { ...rule, cases: rule.cases.map((one, i) => (String(i) === id ? { ...one, pick } : one)) };
}

/** Returns the ids in a text, in which each is on a line of its own or separated by commas. */
export function readModels(text: string): string[] {
  return text
    .split(/[\n,]/)
    .map((line) => line.trim())
    .filter(Boolean);
}

/** Returns where a tier is defined: the file and its line; null unless it is defined in a file. */
export function printSource({ file, line }: Pick<Tier, "file" | "line">): string | null {
  return file === null ? null : `${file.split("/").at(-1)}${line === null ? "" : `:${line}`}`;
}
