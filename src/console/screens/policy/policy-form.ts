/** A policy as texts of a form. Pure functions. */
import type { Policy } from "../../api/schema.ts";
import { splitLines } from "../../state/split-lines.ts";
import { text } from "../../text/text.ts";

/** The lists of a policy. Those that are null without entries allow everything. */
export const LISTS = ["allowed_models", "denied_models", "allowed_providers", "denied_providers"] as const;
export type ListName = (typeof LISTS)[number];
export const FLAGS = ["deny_data_collection", "zero_retention", "own_keys_only"] as const;
type FlagName = (typeof FLAGS)[number];

/** What is typed: each list as lines, each flag, and the whole as JSON while that is edited. */
export type PolicyDraft = Readonly<Record<ListName, string>> &
  Readonly<Record<FlagName, boolean>> & {
    /** Prompts are marked for vendors' caches. */
    readonly marksCaches: boolean;
    readonly json: string;
    readonly isJson: boolean;
  };

/** Returns what a form shows for a policy. */
export function toDraft(policy: Policy): PolicyDraft {
  const lists = LISTS.map((name) => [name, (policy[name] ?? []).join("\n")]);
  const flags = FLAGS.map((name) => [name, policy[name]]);
  return {
    ...Object.fromEntries([...lists, ...flags]),
    marksCaches: policy.prompt_caching !== "off",
    json: printJson(policy),
    isJson: false,
  } as PolicyDraft;
}

/** Returns the policy that a form describes, or why its JSON cannot be read. */
export function fromDraft(draft: PolicyDraft): { readonly policy: Policy } | { readonly problem: string } {
  if (draft.isJson) return parseJson(draft.json);
  const lists = LISTS.map((name) => {
    const lines = splitLines(draft[name]);
    return [name, lines.length === 0 && name.startsWith("allowed") ? null : lines];
  });
  const flags = FLAGS.map((name) => [name, draft[name]]);
  const prompt_caching = draft.marksCaches ? "auto" : "off";
  return { policy: { ...Object.fromEntries([...lists, ...flags]), prompt_caching } as Policy };
}

/** Switches between form and JSON, taking over what was typed. JSON that cannot be read stays, with the reason. */
export function switchForm(draft: PolicyDraft): PolicyDraft | { readonly problem: string } {
  const read = fromDraft(draft);
  if ("problem" in read) return read;
  if (!draft.isJson) return { ...draft, json: printJson(read.policy), isJson: true };
  const policy = { ...EVERYTHING, ...read.policy };
  return toDraft(policy);
}

const EVERYTHING: Policy = {
  allowed_models: null,
  denied_models: [],
  allowed_providers: null,
  denied_providers: [],
  deny_data_collection: false,
  zero_retention: false,
  own_keys_only: false,
  prompt_caching: "auto",
};

function printJson(policy: Policy): string {
  return JSON.stringify(policy, null, 2);
}

function parseJson(json: string): { readonly policy: Policy } | { readonly problem: string } {
  try {
    const value: unknown = JSON.parse(json);
    const isObject = typeof value === "object" && value !== null && !Array.isArray(value);
    return isObject ? { policy: value as Policy } : { problem: text.people.notObject };
  } catch (error) {
    return { problem: text.people.notJson((error as Error).message) };
  }
}

/** Returns how many rules a policy has. */
export function countRules(policy: Policy): number {
  const lists = LISTS.filter((name) => policy[name] !== null && (policy[name]?.length ?? 0) > 0);
  return lists.length + FLAGS.filter((name) => policy[name]).length;
}

/** Returns a number of dollars or of things that was typed: null for an empty text, undefined for anything but a number. */
export function readNumber(
  text: string,
  { isWhole }: { readonly isWhole: boolean },
): number | null | undefined {
  const trimmed = text.trim().replace(/^\$/, "");
  if (trimmed === "") return null;
  const pattern = isWhole ? /^\d{1,15}$/ : /^\d{1,7}(\.\d{1,9})?$/;
  return pattern.test(trimmed) ? Number(trimmed) : undefined;
}
