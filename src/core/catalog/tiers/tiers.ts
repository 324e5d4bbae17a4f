import { matchPattern } from "../../../base/text/match-pattern.ts";
import { actionOf } from "../records/action-of.ts";
import { isFreeId } from "../records/is-free-id.ts";
import type { ModelRecord, ProviderRecord } from "../records/records.ts";
import type { TierData, TierPick, TierRecord, TierRule } from "./tier-records.ts";

/** The tiers in force. Immutable; a reload creates another one. */
export interface Tiers {
  /** The version of `catalog/tiers.json`. */
  readonly version: string;
  readonly list: readonly TierRecord[];
  /** Returns the tier with this id, ignoring case. */
  find(id: string): TierRecord | undefined;
  /** The headers by which tiers choose, in lower case and in their order. */
  readonly headers: readonly string[];
  /** Whether a model accepts `verbosity` at a provider. Others may reject the field. */
  takesVerbosity(model: ModelRecord, provider: ProviderRecord): boolean;
}

const TIER_ID = /^gateway-auto\//i;

/** Indexes tiers. If several have the same id, the last one replaces the others. */
export function createTiers({ version, verbosity, tiers }: TierData): Tiers {
  const byId = new Map<string, TierRecord>();
  for (const tier of tiers) byId.set(tier.id, tier);
  const verbose = new Set(verbosity);
  return {
    version,
    list: [...byId.values()],
    headers: listHeaders([...byId.values()]),
    // Called for every request; most ids are models.
    find: (id) => (TIER_ID.test(id) ? byId.get(id.toLowerCase()) : undefined),
    takesVerbosity: ({ id, supportedParameters }, { quirks }) =>
      quirks.takesVerbosity === true || verbose.has(id) || supportedParameters.includes("verbosity"),
  };
}

function listHeaders(tiers: readonly TierRecord[]): readonly string[] {
  const names = tiers.flatMap(({ rule }) => (rule.by === "header" ? rule.header.toLowerCase() : []));
  return [...new Set(names)].sort();
}

/** A pick, and a readable description of when it applies. */
interface TierCase {
  readonly when: string;
  readonly pick: TierPick;
}

/** Lists all picks of a tier, the default first; none for a tier of free models. */
export function listCases(rule: TierRule): readonly TierCase[] {
  switch (rule.by) {
    case "header":
      return [
        { when: "else", pick: rule.else },
        ...rule.cases.map(({ values, pick }) => ({ when: `${rule.header}: ${values.join(", ")}`, pick })),
      ];
    case "api":
      return [
        { when: "else", pick: rule.else },
        ...Object.entries(rule.cases).map(([api, pick]) => ({ when: api, pick })),
      ];
    case "balance":
      return [
        { when: "credits", pick: rule.paid },
        { when: "else", pick: rule.else },
      ];
    case "free":
      return [];
  }
}

/** Lists the ids of the models that a rule names, each once. */
export function listNamedModels(rule: TierRule): readonly string[] {
  const named = rule.by === "free" ? rule.last : listCases(rule).flatMap(({ pick }) => pick.models);
  return [...new Set(named)];
}

/** Whether a tier of free models may choose this model: a free chat model that the tier does not exclude. */
export function isFreeChoice(rule: Extract<TierRule, { by: "free" }>, model: ModelRecord): boolean {
  return (
    isFreeId(model.id) &&
    actionOf(model) === "chat" &&
    !rule.last.includes(model.id) &&
    !rule.except.some((pattern) => matchPattern(pattern, model.id))
  );
}
