import { matchPattern } from "../../base/match-pattern.ts";
import type { InferencePrincipal } from "./principal.ts";
import type { KeyRecord, Policy } from "./records.ts";

/** Whose policy it is: the operator's, the account's that pays, the key's. */
export type PolicyLevel = "gateway" | "account" | "key";

/** A list of one policy that forbids something. */
export interface PolicyRule {
  readonly level: PolicyLevel;
  readonly list: "allowed_models" | "denied_models" | "allowed_providers" | "denied_providers";
  readonly patterns: readonly string[];
}

/** Policies of several levels, joined: what any of them forbids is forbidden. */
export interface EffectivePolicy {
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
export function mergePolicies(levels: readonly LevelPolicy[]): EffectivePolicy {
  return {
    rules: levels.flatMap(listRules),
    denyDataCollection: levels.find(({ policy }) => policy.denyDataCollection)?.level ?? null,
    zeroRetention: levels.find(({ policy }) => policy.zeroRetention)?.level ?? null,
  };
}

/** A key's policies joined, as long as its record and its account's stay the same. Gone with the key. */
interface KnownJoin {
  readonly operator: Policy;
  readonly policy: Policy;
  readonly joined: EffectivePolicy;
}

const known = new WeakMap<KeyRecord, KnownJoin>();

/** The policies that a caller is under: the operator's own, and with a key the account's and the key's models. */
export function policyOf(operator: Policy, principal: InferencePrincipal): EffectivePolicy {
  if (principal.kind === "anonymous") return mergePolicies([{ level: "gateway", policy: operator }]);
  const { account, key } = principal;
  const before = known.get(key);
  if (before?.operator === operator && before.policy === account.policy) return before.joined;
  const joined = joinKeyPolicies(operator, account.policy, key);
  known.set(key, { operator, policy: account.policy, joined });
  return joined;
}

function joinKeyPolicies(operator: Policy, account: Policy, key: KeyRecord): EffectivePolicy {
  const joined = mergePolicies([
    { level: "gateway", policy: operator },
    { level: "account", policy: account },
  ]);
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
