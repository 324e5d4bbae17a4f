import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { Catalog } from "../core/catalog/catalog.ts";
import { isFreeId } from "../core/catalog/is-free-id.ts";
import type { TierData, TierPick, TierRecord, TierRule } from "../core/catalog/tier-records.ts";
import { createTiers, listCases, type Tiers } from "../core/catalog/tiers.ts";
import { parseTiers } from "../core/catalog/validate-catalog.ts";
import type { Config } from "./config-schema.ts";
import { SHIPPED_CATALOG_DIRECTORY } from "./load-catalog.ts";

const FILE = "tiers.json";

/**
 * Reads the tiers of a catalog directory.
 * @throws Error if they are damaged.
 */
export function readTiers(directory: string): TierData {
  const file = join(directory, FILE);
  const { value, problems } = parseTiers(file, readFileSync(file, "utf8"));
  if (value === null) throw new Error(problems.join("\n"));
  return value;
}

/** The tiers of this gateway, and messages to the operator about the configured ones. */
export interface LoadedTiers {
  readonly tiers: Tiers;
  readonly notices: readonly string[];
}

/**
 * Loads the catalog's tiers and the configured ones, which take precedence. If the sandbox is on, its models are the last choice
 * of each tier, so that all of them answer.
 */
export function loadTiers(config: Config, catalog: Catalog, hasSandbox: boolean): LoadedTiers {
  const shipped = readTiers(SHIPPED_CATALOG_DIRECTORY);
  const configured: readonly TierRecord[] = config.tiers ?? [];
  const tiers = [...shipped.tiers, ...configured];
  return {
    tiers: createTiers({ ...shipped, tiers: hasSandbox ? tiers.map(appendSandbox) : tiers }),
    notices: configured.flatMap((tier) => describeUnknown(tier, catalog)),
  };
}

/** Unknown models are no error, because a later catalog may have them. */
function describeUnknown({ id, rule }: TierRecord, catalog: Catalog): string[] {
  const named = rule.by === "free" ? rule.last : listCases(rule).flatMap(({ pick }) => pick.models);
  const unknown = [...new Set(named)].filter((model) => catalog.find(model) === undefined);
  if (unknown.length === 0) return [];
  return [
    `tiers: ${id} names models that the catalog does not have; they are skipped: ${unknown.join(", ")}`,
  ];
}

function appendSandbox(tier: TierRecord): TierRecord {
  return { ...tier, rule: appendToRule(tier.rule) };
}

function appendToRule(rule: TierRule): TierRule {
  switch (rule.by) {
    case "header": {
      const cases = rule.cases.map(({ values, pick }) => ({ values, pick: appendToPick(pick) }));
      return { ...rule, cases, else: appendToPick(rule.else) };
    }
    case "api": {
      const cases = Object.entries(rule.cases).map(([api, pick]) => [api, appendToPick(pick)]);
      return { ...rule, cases: Object.fromEntries(cases), else: appendToPick(rule.else) };
    }
    case "balance":
      return { ...rule, paid: appendToPick(rule.paid), else: appendToPick(rule.else) };
    case "free":
      return { ...rule, last: [...rule.last, FREE_ECHO] };
  }
}

const ECHO = "sandbox/echo";
const FREE_ECHO = "sandbox/echo:free";

/** Appends a free model to a pick of free models. */
function appendToPick(pick: TierPick): TierPick {
  const echo = pick.models.every(isFreeId) ? FREE_ECHO : ECHO;
  return { ...pick, models: [...pick.models, echo] };
}
