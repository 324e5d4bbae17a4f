import { matchPattern } from "../../base/match-pattern.ts";
import { actionOf } from "./action-of.ts";
import { isFreeId } from "./is-free-id.ts";
import type { ModelRecord, ProviderRecord } from "./records.ts";
import type { TierData, TierPick, TierRecord, TierRule } from "./tier-records.ts";

/** The tiers in force. Never changes; a reload makes new ones. */
export interface Tiers {
  /** Of the catalog's. */
  readonly version: string;
  readonly list: readonly TierRecord[];
  /** The tier of that id, in any letter case. */
  find(id: string): TierRecord | undefined;
  /** Whether a model takes a `verbosity` at a provider; others may refuse the field. */
  takesVerbosity(model: ModelRecord, provider: ProviderRecord): boolean;
}

const TIER_ID = /^gateway-auto\//i;

/** Indexes tiers; of several with one id the last counts, in the place of the first. */
export function createTiers({ version, verbosity, tiers }: TierData): Tiers {
  const byId = new Map<string, TierRecord>();
  for (const tier of tiers) byId.set(tier.id, tier);
  const verbose = new Set(verbosity);
  return {
    version,
    list: [...byId.values()],
    // Most ids are a model's, and this is asked of every request.
    find: (id) => (TIER_ID.test(id) ? byId.get(id.toLowerCase()) : undefined),
    takesVerbosity: ({ id, supportedParameters }, { quirks }) =>
      quirks.takesVerbosity === true || verbose.has(id) || supportedParameters.includes("verbosity"),
  };
}

/** A pick and when it is made, in words for people. */
export interface TierCase {
  readonly when: string;
  readonly pick: TierPick;
}

/** All picks of a tier, its usual one first; none for a tier that picks among the free models. */
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

/** Whether a model is one that a tier of the free models chooses among: it converses, and nobody left it out. */
export function isFreeChoice(rule: Extract<TierRule, { by: "free" }>, model: ModelRecord): boolean {
  return (
    isFreeId(model.id) &&
    actionOf(model) === "chat" &&
    !rule.last.includes(model.id) &&
    !rule.except.some((pattern) => matchPattern(pattern, model.id))
  );
}
