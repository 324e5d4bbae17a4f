import { formatPrice, parsePrice } from "../../../base/numbers/money.ts";
import type { ChargeRule } from "../records/provider-schema.ts";
import type { ProviderRecord } from "../records/records.ts";

/**
 * Returns the maximum cost of services in addition to the prices of a model, in attodollars: fields, entries of fields (`plugins.web`) and
 * tools (`tools.web_search`) of a request. Only providers that report their cost have such services.
 */
export function boundServices(record: ProviderRecord, services: readonly string[] | undefined): bigint {
  if (services === undefined || !record.reportsCost) return 0n;
  return services.reduce((sum, name) => sum + boundService(record, name), 0n);
}

/** Returns the maximum cost of services, as a decimal string of US dollars; undefined if there is none. */
export function printServiceBound(
  record: ProviderRecord,
  services: readonly string[] | undefined,
): string | undefined {
  const bound = boundServices(record, services);
  return bound === 0n ? undefined : formatPrice(bound);
}

function boundService({ charges }: ProviderRecord, name: string): bigint {
  const dot = name.indexOf(".");
  if (dot < 0) return upToOf(charges?.fields?.[name]);
  const [field, type] = [name.slice(0, dot), name.slice(dot + 1)];
  if (field === "tools") return upToOf(findTool(charges?.tools ?? {}, type));
  const rule = charges?.fields?.[field];
  return typeof rule === "object" ? upToOf(rule.items?.rules[type]) : 0n;
}

function findTool(rules: Readonly<Record<string, ChargeRule>>, type: string): ChargeRule | undefined {
  const name = Object.keys(rules).find(
    (one) => one === type || (one.endsWith("*") && type.startsWith(one.slice(0, -1))),
  );
  return name === undefined ? undefined : rules[name];
}

function upToOf(rule: ChargeRule | undefined): bigint {
  // The catalog was validated, so every price can be parsed.
  return typeof rule === "object" && rule.upTo !== undefined ? (parsePrice(rule.upTo) ?? 0n) : 0n;
}
