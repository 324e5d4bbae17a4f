import type {
  FieldRule,
  FieldRules,
  RequestProfile,
  Scalar,
} from "../../../wire/conversation/request-profile.ts";
import type { ProviderFormat } from "../../../wire/conversation/traits/format-name.ts";
import { FORMAT_TRAITS } from "../../../wire/formats/traits.ts";
import { isFreeId } from "../records/is-free-id.ts";
import type { ChargeRule } from "../records/provider-schema.ts";
import type {
  ChargeRules,
  ModelEndpoint,
  ModelRecord,
  Prices,
  ProviderQuirks,
  ProviderRecord,
} from "../records/records.ts";
import { findFactor } from "./factors.ts";

/** A model endpoint in one format of its provider. */
interface ChargedEndpoint {
  readonly endpoint: ModelEndpoint;
  readonly model: Pick<ModelRecord, "id" | "inputModalities">;
  readonly record: ProviderRecord;
  readonly format: ProviderFormat;
  readonly quirks: ProviderQuirks;
}

/**
 * Returns the parts of a request that may be sent to an endpoint with a platform key: fields and tools that cost nothing, or for which the
 * endpoint has a price. The rules of the format come first. Those of the provider change and complete them. The prices of the endpoint
 * decide which of them apply. Null: everything, because the host is the operator's own.
 */
export function resolveProfile(charged: ChargedEndpoint): RequestProfile | null {
  const { record, model, format, quirks } = charged;
  const isFree = isFreeId(model.id);
  if (record.isOwnHost && !isFree) return null;
  const common = FORMAT_TRAITS[format].charges;
  const sent = isFree ? NOTHING_SENT : listSent(record);
  const context = { ...charged, isFree };
  const fields = { ...common.fields, ...freeFields(quirks), ...record.charges?.fields, ...sent.fields };
  const tools = { ...common.tools, ...record.charges?.tools, ...sent.tools };
  return {
    fields: mapRules(fields, (rule, name) => resolveRule(rule, context, name)),
    tools: mapRules(tools, (rule) => resolveRule(rule, context)),
    forFiles: model.inputModalities.includes("file") ? undefined : record.charges?.forFiles,
    others: record.isOwnHost || common.others === "free" ? "passes" : "costs",
    reason: isFree
      ? "With a free model nothing is sent that may cost"
      : "The provider may charge for this, and no price of it is known here",
  };
}

const NOTHING_SENT: Required<Pick<ChargeRules, "fields" | "tools">> = { fields: {}, tools: {} };

/** Rules for what the operator wants to be sent. */
function listSent({ sends = NO_NAMES }: ProviderRecord): Required<Pick<ChargeRules, "fields" | "tools">> {
  return { fields: allFree(sends.fields), tools: allFree(sends.tools) };
}

const NO_NAMES = { fields: [], tools: [] } as const;

function allFree(names: readonly string[]): Readonly<Record<string, ChargeRule>> {
  return Object.fromEntries(names.map((name): [string, ChargeRule] => [name, "free"]));
}

/** Fields that the provider's row names for other purposes: they cost nothing. */
function freeFields({ reasoning, knownFields = [] }: ProviderQuirks): Readonly<Record<string, ChargeRule>> {
  const names = [
    ...knownFields,
    ...Object.keys(reasoning?.on ?? {}),
    ...Object.keys(reasoning?.off ?? {}),
    ...[reasoning?.effort, reasoning?.budget].filter((name) => name !== undefined),
  ];
  return allFree(names);
}

interface RuleContext extends ChargedEndpoint {
  readonly isFree: boolean;
}

function mapRules(
  rules: Readonly<Record<string, ChargeRule>>,
  map: (rule: ChargeRule, name: string) => FieldRule,
): FieldRules {
  return new Map(Object.entries(rules).map(([name, rule]) => [name, map(rule, name)]));
}

/** `field`: the name of the field of a request that the rule is for; absent for parts of it. */
function resolveRule(rule: ChargeRule, context: RuleContext, field?: string): FieldRule {
  if (rule === "free") return "passes";
  if (rule === "costs") return "costs";
  const { endpoint, record, isFree } = context;
  const { price, upTo, values, numbers, members, needs, items } = rule;
  if (!isFree && price !== undefined && hasPrice(endpoint.prices, price)) return "passes";
  if (!isFree && upTo !== undefined && record.reportsCost) return "passes";
  const priced = isFree || field === undefined ? [] : listPricedValues(context, field);
  const all: readonly Scalar[] = [...(values ?? []), ...priced];
  if (all.length === 0 && !numbers && members === undefined && items === undefined) return "costs";
  return {
    ...(all.length === 0 ? {} : { values: all }),
    ...(numbers ? { numbers } : {}),
    ...(needs === undefined ? {} : { needs }),
    ...(members === undefined ? {} : { members: mapRules(members, (part) => resolveRule(part, context)) }),
    ...(items === undefined
      ? {}
      : { items: { key: items.key, rules: mapRules(items.rules, (part) => resolveRule(part, context)) } }),
  };
}

/** Whether an endpoint charges for a search at all: per search, or per request that searches. */
function hasPrice(prices: Prices | null, name: keyof Prices): boolean {
  if (!prices) return false;
  return prices[name] !== undefined || (name === "search" && prices.searchedRequest !== undefined);
}

function listPricedValues({ record, endpoint }: RuleContext, field: string): string[] {
  const values = Object.entries(record.factors?.[field] ?? {});
  return values.flatMap(([value, byName]) => (findFactor(byName, endpoint.name) === null ? [] : [value]));
}
