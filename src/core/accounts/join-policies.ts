import { matchPattern } from "./match-pattern.ts";
import type { Caller, Policy } from "./records.ts";

/** Whose policy it is: the operator's, the account's that pays, the key's. */
export type PolicyLevel = "gateway" | "account" | "key";

/** A list of one policy that forbids something. */
export interface PolicyRule {
  readonly level: PolicyLevel;
  readonly list: "allowed_models" | "denied_models" | "allowed_providers" | "denied_providers";
  readonly patterns: readonly string[];
}

/** Policies of several levels, joined: what any of them forbids is forbidden. */
export interface JoinedPolicy {
  readonly rules: readonly PolicyRule[];
  /** The first level that wants no provider which trains on what it is sent; null: none does. */
  readonly denyDataCollection: PolicyLevel | null;
  /** The first level that wants only providers which keep nothing; null: none does. */
  readonly zeroRetention: PolicyLevel | null;
}

/** A policy and whose it is. */
export interface LevelPolicy {
  readonly level: PolicyLevel;
  readonly policy: Policy;
}

/** Joins policies. Rules are only ever added, so a further level can tighten and never loosen. */
export function joinPolicies(levels: readonly LevelPolicy[]): JoinedPolicy {
  return {
    rules: levels.flatMap(listRules),
    denyDataCollection: levels.find(({ policy }) => policy.denyDataCollection)?.level ?? null,
    zeroRetention: levels.find(({ policy }) => policy.zeroRetention)?.level ?? null,
  };
}

/** The policies that a caller is under: the operator's own, and with a key the account's and the key's models. */
export function policyOf(operator: Policy, caller: Caller): JoinedPolicy {
  const levels: LevelPolicy[] = [{ level: "gateway", policy: operator }];
  if (caller.kind === "anonymous") return joinPolicies(levels);
  const { account, key } = caller;
  levels.push({ level: "account", policy: account.policy });
  const joined = joinPolicies(levels);
  if (key.models === null) return joined;
  return {
    ...joined,
    rules: [...joined.rules, { level: "key", list: "allowed_models", patterns: key.models }],
  };
}

/** Whether a rule lets a model of a provider through. */
export function ruleAllows({ list, patterns }: PolicyRule, modelId: string, provider: string): boolean {
  switch (list) {
    case "allowed_models":
      return matchesAny(patterns, modelId);
    case "denied_models":
      return !matchesAny(patterns, modelId);
    case "allowed_providers":
      return matchesAny(patterns, provider);
    case "denied_providers":
      return !matchesAny(patterns, provider);
  }
}

function matchesAny(patterns: readonly string[], id: string): boolean {
  return patterns.some((pattern) => matchPattern(pattern, id));
}

function listRules({ level, policy }: LevelPolicy): PolicyRule[] {
  const rules: PolicyRule[] = [];
  if (policy.allowedModels !== null)
    rules.push({ level, list: "allowed_models", patterns: policy.allowedModels });
  if (policy.deniedModels.length > 0)
    rules.push({ level, list: "denied_models", patterns: policy.deniedModels });
  if (policy.allowedProviders !== null)
    rules.push({ level, list: "allowed_providers", patterns: policy.allowedProviders });
  if (policy.deniedProviders.length > 0)
    rules.push({ level, list: "denied_providers", patterns: policy.deniedProviders });
  return rules;
}
