import { matchPattern } from "../../../base/text/match-pattern.ts";
import { isTierName } from "../../catalog/tiers/tier-name.ts";
import type { InferencePrincipal } from "./principal.ts";
import type { Policy } from "./records.ts";

/** The level of a policy: the configuration of the gateway, the account that pays, the team of the key, or the key. */
export type PolicyLevel = "gateway" | "account" | "team" | "key";

/** Whose policy a level is, as messages begin. */
export const WHOSE_POLICY: Readonly<Record<PolicyLevel, string>> = {
  gateway: "The gateway's",
  account: "The account's",
  team: "The team's",
  key: "The key's",
};

/** A list of a policy that restricts models or providers. */
export interface PolicyRule {
  readonly level: PolicyLevel;
  readonly list: "allowed_models" | "denied_models" | "allowed_providers" | "denied_providers";
  readonly patterns: readonly string[];
}

/** The merged policies of several levels: what any of them denies is denied. */
export interface EffectivePolicy {
  readonly rules: readonly PolicyRule[];
  /** The first level that requires providers not to train on request data; null if none does. */
  readonly denyDataCollection: PolicyLevel | null;
  /** The first level that requires zero data retention; null if none does. */
  readonly zeroRetention: PolicyLevel | null;
  /** No level switches marks for prompt caches off. */
  readonly promptCaching: boolean;
}

/** A policy and its level. */
export interface LevelPolicy {
  readonly level: PolicyLevel;
  readonly policy: Policy;
}

/** Merges policies. A further level only adds rules, so it can tighten a policy but never loosen it. */
export function mergePolicies(levels: readonly LevelPolicy[]): EffectivePolicy {
  const rules: PolicyRule[] = [];
  let denyDataCollection: PolicyLevel | null = null;
  let zeroRetention: PolicyLevel | null = null;
  let promptCaching = true;
  for (const { level, policy } of levels) {
    addRules(rules, level, policy);
    if (policy.denyDataCollection) denyDataCollection ??= level;
    if (policy.zeroRetention) zeroRetention ??= level;
    if (policy.promptCaching === "off") promptCaching = false;
  }
  return { rules, denyDataCollection, zeroRetention, promptCaching };
}

/** Returns the policy for a principal: the operator's; with a key also those of the account and the team, and the models of the key. */
export function policyOf(operator: Policy, principal: InferencePrincipal): EffectivePolicy {
  if (principal.kind === "anonymous") return mergePolicies([{ level: "gateway", policy: operator }]);
  const { account, team, key } = principal;
  const merged = mergePolicies([
    { level: "gateway", policy: operator },
    { level: "account", policy: account.policy },
    ...(team === null ? [] : [{ level: "team" as const, policy: team.policy }]),
  ]);
  if (key.models === null) return merged;
  return {
    ...merged,
    rules: [...merged.rules, { level: "key", list: "allowed_models", patterns: key.models }],
  };
}

/**
 * Returns whether a rule allows a model of a provider. A denied model stays denied under the ids of its releases, in either spelling of
 * versions: `openai/gpt-4o` denies `openai/gpt-4o-2024-08-06`. An allowed model allows only its own id.
 */
export function ruleAllows({ list, patterns }: PolicyRule, modelId: string, provider: string): boolean {
  switch (list) {
    case "allowed_models":
      return matchesAny(patterns, modelId);
    case "denied_models":
      return !matchesAny(patterns, modelId) && !deniesRelease(patterns, modelId);
    case "allowed_providers":
      return matchesAny(patterns, provider);
    case "denied_providers":
      return !matchesAny(patterns, provider);
  }
}

/**
 * Returns whether a rule allows everything that a tier or a named route of the operator resolves to, because the rule names it: by its
 * whole name, or by a pattern of tiers. Other patterns are about models.
 */
export function allowsChoice({ list, patterns }: PolicyRule, name: string): boolean {
  if (list !== "allowed_models") return false;
  return patterns.some((pattern) => isNameOf(pattern, name));
}

/** Returns the policy that applies to the models of a tier or of a named route of the operator: without the rules that name it. */
export function policyWithin(policy: EffectivePolicy, name: string): EffectivePolicy {
  const rules = policy.rules.filter((rule) => !allowsChoice(rule, name));
  return rules.length === policy.rules.length ? policy : { ...policy, rules };
}

function isNameOf(pattern: string, name: string): boolean {
  // The name of a route may itself have a `*`.
  if (pattern.toLowerCase() === name.toLowerCase()) return true;
  return pattern.includes("*") && isTierName(pattern) && matchPattern(pattern, name);
}

function deniesRelease(patterns: readonly string[], modelId: string): boolean {
  const model = undatedId(modelId);
  return model !== null && matchesAny(patterns.map(hyphenate), model);
}

function matchesAny(patterns: readonly string[], id: string): boolean {
  return patterns.some((pattern) => matchPattern(pattern, id));
}

function addRules(rules: PolicyRule[], level: PolicyLevel, policy: Policy): void {
  if (policy.allowedModels !== null)
    rules.push({ level, list: "allowed_models", patterns: policy.allowedModels });
  if (policy.deniedModels.length > 0)
    rules.push({ level, list: "denied_models", patterns: policy.deniedModels });
  if (policy.allowedProviders !== null)
    rules.push({ level, list: "allowed_providers", patterns: policy.allowedProviders });
  if (policy.deniedProviders.length > 0)
    rules.push({ level, list: "denied_providers", patterns: policy.deniedProviders });
}

/**
 * The end of an id that names a release of a model and not another model: a day (`-20250929`, `-2024-08-06`), a month (`-2506`,
 * `-08-2024`), or `-latest`.
 */
const RELEASE = /-(?:20\d\d-?\d\d-?\d\d|\d\d-20\d\d|\d{4}|latest)$/;

/**
 * Removes the release from an id: `anthropic/claude-sonnet-4-5` for `anthropic/claude-sonnet-4-5-20250929`. The result is in the spelling
 * with hyphens and keeps a variant such as `:free`. Null if the id names no release.
 */
function undatedId(id: string): string | null {
  const [name = "", variant] = id.toLowerCase().split(":", 2);
  const undated = name.replace(RELEASE, "");
  if (undated === name) return null;
  return hyphenate(variant === undefined ? undated : `${undated}:${variant}`);
}

/** Returns a name or pattern in the spelling with hyphens: `claude-sonnet-4-5` of `claude-sonnet-4.5`. */
function hyphenate(name: string): string {
  return name.replaceAll(".", "-");
}
