import type { ClientApi, ParameterOverrides } from "../../../wire/client-apis/request/inference-request.ts";
import type { ReadHeader } from "../../../wire/client-apis/request/session-hints.ts";
import type { ModelRecord, ProviderRecord } from "../../catalog/records/records.ts";
import type { TierApi, TierPick, TierRule } from "../../catalog/tiers/tier-records.ts";
import { isFreeChoice, listCases, type Tiers } from "../../catalog/tiers/tiers.ts";
import { rankByAffinity } from "../affinity/rank-by-affinity.ts";

/** The facts of a request and its caller by which a tier chooses. Functions are called only if needed. */
export interface TierFacts {
  readonly api: ClientApi;
  /** The headers of the request. */
  readonly headers: ReadHeader;
  /** Whether the paying account has a positive balance. */
  readonly hasCredits: () => boolean;
  /** Returns the session key. */
  readonly session: () => string;
  /** Returns all models whose id ends in `:free`. */
  readonly freeModels: () => readonly ModelRecord[];
}

/** The result of resolving a tier for a request. */
export interface ResolvedTier {
  /** Model ids in order of preference: the first, then its fallbacks. */
  readonly models: readonly string[];
  /** Returns the parameter overrides for a model at a provider. Null if the tier has none. */
  readonly overrides: ((model: ModelRecord, provider: ProviderRecord) => ParameterOverrides) | null;
  /** The models to use if the positive balance of the account does not cover these; null if there are none. */
  readonly reserve: Omit<ResolvedTier, "reserve"> | null;
}

/** Resolves a tier for a request. Pure: does not check whether the models are served, allowed or capable. */
export function resolveTier(rule: TierRule, facts: TierFacts, tiers: Tiers): ResolvedTier {
  if (rule.by !== "free") {
    const pick = choosePick(rule, facts);
    const isPaid = rule.by === "balance" && pick === rule.paid;
    return { ...usePick(pick, tiers), reserve: isPaid ? usePick(rule.else, tiers) : null };
  }
  const ids = facts.freeModels().flatMap((model) => (isFreeChoice(rule, model) ? model.id : []));
  return { models: [...rankByAffinity(facts.session(), ids), ...rule.last], overrides: null, reserve: null };
}

/** Returns which case of a tier applies to a request, as model lists name it in `resolves_to`. */
export function nameCase(rule: TierRule, facts: TierFacts): string {
  if (rule.by === "free") return "by session";
  const pick = choosePick(rule, facts);
  return listCases(rule).find((one) => one.pick === pick)?.when ?? "else";
}

function choosePick(rule: Exclude<TierRule, { by: "free" }>, facts: TierFacts): TierPick {
  switch (rule.by) {
    case "header": {
      const value = facts.headers.get(rule.header)?.trim().toLowerCase() ?? "";
      const found = rule.cases.find(({ values }) => values.some((listed) => listed.toLowerCase() === value));
      return found?.pick ?? rule.else;
    }
    case "api":
      return rule.cases[facts.api as TierApi] ?? rule.else;
    case "balance":
      return facts.hasCredits() ? rule.paid : rule.else;
  }
}

function usePick({ models, reasoning, verbosity }: TierPick, tiers: Tiers): Omit<ResolvedTier, "reserve"> {
  if (reasoning === undefined && verbosity === undefined) return { models, overrides: null };
  const effort = reasoning === "enabled" ? null : reasoning;
  const overrides = (model: ModelRecord, provider: ProviderRecord): ParameterOverrides => ({
    ...(effort === undefined ? {} : { reasoning: { effort } }),
    ...(verbosity === undefined
      ? {}
      : { verbosity: tiers.takesVerbosity(model, provider) ? verbosity : { unsupported: verbosity } }),
  });
  return { models, overrides };
}
