import { readFileSync } from "node:fs";
import { join } from "node:path";
import { isFreeId } from "../../core/catalog/records/is-free-id.ts";
import type { Catalog } from "../../core/catalog/served/catalog.ts";
import { parseTiers } from "../../core/catalog/served/validate-catalog.ts";
import type { TierData, TierPick, TierRecord, TierRule } from "../../core/catalog/tiers/tier-records.ts";
import { createTiers, listNamedModels, type Tiers } from "../../core/catalog/tiers/tiers.ts";
import type { Config } from "../config/config-schema.ts";
import { SHIPPED_CATALOG_DIRECTORY } from "./shipped-files.ts";

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
interface LoadedTiers {
  readonly tiers: Tiers;
  readonly notices: readonly string[];
}

/** The sources of tiers besides the shipped ones. */
interface TierSources {
  readonly config: Config;
  readonly catalog: Catalog;
  /** If the sandbox is on, its models are the last choice of each tier, so that all of them answer. */
  readonly hasSandbox: boolean;
}

/** Loads the shipped tiers and the configured ones. If several have the same id, the last one is in force. */
export function loadTiers({ config, catalog, hasSandbox }: TierSources): LoadedTiers {
  const shipped = readTiers(SHIPPED_CATALOG_DIRECTORY);
  const configured: readonly TierRecord[] = config.tiers ?? [];
  const tiers = [...shipped.tiers, ...configured];
  return {
    tiers: createTiers({ ...shipped, tiers: hasSandbox ? tiers.map(appendSandbox) : tiers }),
    notices: configured.flatMap((tier) => {
      // No error, because a later catalog may have them.
      const unknown = listNamedModels(tier.rule).filter((id) => catalog.find(id) === undefined);
      return unknown.length === 0
        ? []
        : `tiers: ${tier.id} names models that the catalog does not have; they are skipped: ${unknown.join(", ")}`;
    }),
  };
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
      return { ...rule, last: [...rule.last, FREE_ECHO, FREE_AGENT] };
  }
}

const ECHO = "sandbox/echo";
const FREE_ECHO = "sandbox/echo:free";
const FREE_AGENT = "sandbox/agent:free";

/** Appends a free model to a pick of free models. */
function appendToPick(pick: TierPick): TierPick {
  const echo = pick.models.every(isFreeId) ? FREE_ECHO : ECHO;
  return { ...pick, models: [...pick.models, echo] };
}
