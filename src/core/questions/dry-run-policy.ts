import {
  allowsChoice,
  type EffectivePolicy,
  type PolicyLevel,
  type PolicyRule,
  ruleAllows,
  WHOSE_POLICY,
} from "../accounts/records/merge-policies.ts";
import type { ProviderRecord } from "../catalog/records/records.ts";
import type { Serving } from "../generation/call/call.ts";
import { type ByokKeys, findUsable } from "../provider-keys/byok-keys.ts";
import { MAX_ENTRIES } from "../routing/plan/plan-entries.ts";
import type { PlanEntry } from "../usage/records/plan-entry.ts";
import type { UsageRecord } from "../usage/records/records.ts";

/** A policy to try on recorded generations. */
export interface TriedPolicy {
  readonly policy: EffectivePolicy;
  /** The first level that allows BYOK keys only; null if none does. */
  readonly ownKeysOnly: PolicyLevel | null;
}

/** The policies to try on recorded generations of one account. */
interface TriedPolicies {
  /** Returns the policy for generations of the keys of a team; null: of keys without a team. Always the same object for the same team. */
  readonly policyOf: (teamId: string | null) => TriedPolicy;
  /** The account's BYOK keys; null if it has none. */
  readonly byokKeys: ByokKeys | null;
}

/** A generation that the policy would have rejected. */
interface RefusedGeneration {
  readonly record: UsageRecord;
  /** The rule that leaves no provider: `account.denied_models`. */
  readonly rule: string;
  readonly reason: string;
}

/** The effects that a policy would have had on recorded generations. */
interface PolicyDryRun {
  /** The number of generations whose plan allows an answer. Generations that were rejected before they had a plan are left out. */
  readonly checked: number;
  readonly refused: readonly RefusedGeneration[];
  /** The number of generations that another deployment would have answered. */
  readonly rerouted: number;
}

/**
 * Applies policies to the recorded plans of generations: to the deployments that could have answered then, and to those that a policy had
 * excluded. Uses the current BYOK keys, and the current facts about how providers handle data. Pure.
 */
export function dryRunPolicy(
  serving: Serving,
  records: readonly UsageRecord[],
  tried: TriedPolicies,
): PolicyDryRun {
  const refused: RefusedGeneration[] = [];
  const context: RuleContext = { serving, tried, allows: memoizeRules() };
  let [checked, rerouted] = [0, 0];
  for (const record of records) {
    const before = listChoices(serving, record);
    if (!before.some(({ wasAllowed }) => wasAllowed)) continue;
    checked += 1;
    const { left, rule } = applyRules(listRules(context, record), before);
    if (rule !== null) refused.push({ record, rule: rule.name, reason: rule.reason });
    else if (record.provider !== null && !left.some((choice) => isAnswer(choice, record))) rerouted += 1;
  }
  return { checked, refused, rerouted };
}

/** A deployment that could have answered, or that a policy had excluded. */
interface Choice extends Pick<PlanEntry, "provider" | "model"> {
  readonly wasAllowed: boolean;
}

function listChoices({ servedModels }: Serving, { plan, provider, model }: UsageRecord): readonly Choice[] {
  const planned = plan.filter(({ isCandidate, why }) => isCandidate || SKIPPED.has(why) || why === "policy");
  const choices: Choice[] = planned.map((entry) => ({ ...entry, wasAllowed: entry.why !== "policy" }));
  if (provider !== null && model !== null) choices.push({ provider, model, wasAllowed: true });
  if (plan.length < MAX_ENTRIES) return choices;
  // The record does not have the whole plan: the other deployments of its models are assumed to have been in it.
  const models = new Set(choices.map((choice) => choice.model));
  for (const id of models)
    for (const { provider: served } of servedModels.deploymentsOf(id))
      choices.push({ provider: served.record.slug, model: id, wasAllowed: true });
  return choices;
}

/** Reasons why a possible deployment was not called at that time. Another request could have been answered by it. */
const SKIPPED: ReadonlySet<string> = new Set<PlanEntry["why"]>([
  "circuit_open",
  "key_refused",
  "out_of_credit",
  "rate_limited",
  "overloaded",
  "drained",
  "free_limit",
  "model_limit",
  "no_fallbacks",
]);

function isAnswer(choice: Choice, { provider, model }: UsageRecord): boolean {
  return choice.provider === provider && choice.model === model;
}

interface Rule {
  readonly name: string;
  readonly reason: string;
  readonly allows: (choice: Choice) => boolean;
}

function applyRules(
  rules: readonly Rule[],
  choices: readonly Choice[],
): { readonly left: readonly Choice[]; readonly rule: Rule | null } {
  let left = choices;
  for (const rule of rules) {
    left = left.filter(rule.allows);
    if (left.length === 0) return { left, rule };
  }
  return { left, rule: null };
}

interface RuleContext {
  readonly serving: Serving;
  readonly tried: TriedPolicies;
  readonly allows: typeof ruleAllows;
}

/** Returns `ruleAllows` with memoized results: a list may have a thousand patterns, and the same few deployments occur in all records. */
function memoizeRules(): typeof ruleAllows {
  const known = new Map<PolicyRule, Map<string, boolean>>();
  return (rule, model, provider) => {
    const ofRule = known.get(rule) ?? new Map<string, boolean>();
    known.set(rule, ofRule);
    const name = `${model} ${provider}`;
    const result = ofRule.get(name) ?? ruleAllows(rule, model, provider);
    ofRule.set(name, result);
    return result;
  };
}

/** Lists the rules in the order in which requests pass them. */
function listRules(
  { serving, tried, allows }: RuleContext,
  { requestedModel, namedRoutes = [], userId, ...record }: UsageRecord,
): readonly Rule[] {
  const teamId = record.teamId ?? null;
  const { policy, ownKeysOnly } = tried.policyOf(teamId);
  const { catalog, tiers } = serving;
  const asked = JSON.stringify(requestedModel);
  // Lists of denied models apply to the names of tiers and named routes as well.
  const tier = tiers.find(namedRoutes.at(-1)?.to ?? requestedModel);
  const names = namedRoutes.map(({ name }) => name).concat(tier?.id ?? []);
  const choices = namedRoutes
    .flatMap(({ name, scope }) => (scope === "gateway" ? name : []))
    .concat(tier?.id ?? []);
  const dataRule = (
    level: EffectivePolicy["zeroRetention"],
    name: string,
    isFit: (provider: ProviderRecord | undefined) => boolean,
  ): readonly Rule[] =>
    level === null
      ? []
      : [
          {
            name: `${level}.${name}`,
            reason: `${WHOSE_POLICY[level]} policy (${name}) allows no provider of ${asked}.`,
            allows: ({ provider }) => isFit(catalog.provider(provider)),
          },
        ];
  return [
    ...policy.rules.map((rule): Rule => {
      const deniesName = rule.list === "denied_models" && names.some((name) => !allows(rule, name, ""));
      const allowsName = choices.some((name) => allowsChoice(rule, name));
      return {
        name: `${rule.level}.${rule.list}`,
        reason: `${WHOSE_POLICY[rule.level]} policy (${rule.list}) does not allow ${asked}.`,
        allows: ({ model, provider }) => allowsName || (!deniesName && allows(rule, model, provider)),
      };
    }),
    ...dataRule(
      policy.denyDataCollection,
      "deny_data_collection",
      (provider) => provider?.trainsOnData === false,
    ),
    ...dataRule(policy.zeroRetention, "zero_retention", (provider) => provider?.retainsData === false),
    ...(ownKeysOnly === null
      ? []
      : [
          requireByokKey(ownKeysOnly, asked, ({ model, provider }) => {
            const keys = tried.byokKeys?.get(provider) ?? [];
            return findUsable(keys, model, { userId, teamId }).length > 0;
          }),
        ]),
  ];
}

function requireByokKey(level: PolicyLevel, asked: string, allows: Rule["allows"]): Rule {
  return {
    name: `${level}.own_keys_only`,
    reason: `${WHOSE_POLICY[level]} policy (own_keys_only) needs a BYOK key for a provider of ${asked}.`,
    allows,
  };
}
