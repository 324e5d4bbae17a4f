import type { ModelEndpoint, ModelRecord, ProviderRecord } from "./records.ts";

/**
 * Formats all catalog files, so that the next import gives a minimal diff: keys in a fixed order, models sorted by id, one
 * line for each endpoint. Null members that mean "unknown" are omitted; `prices: null` has a meaning and stays.
 */

const MODEL_LINES: readonly (readonly (keyof ModelRecord)[])[] = [
  ["id", "name", "released", "tokenizer", "expires"],
  ["description"],
  ["inputModalities", "outputModalities"],
  ["supportedParameters"],
  ["reasoning"],
  ["takes"],
];

const ENDPOINT_KEYS: readonly (keyof ModelEndpoint)[] = [
  "provider",
  "name",
  "format",
  "formats",
  "noToolsWhileReasoning",
  "contextLength",
  "maxPromptTokens",
  "maxOutputTokens",
  "prices",
  "priceTiers",
  "priceChanges",
  "lacks",
  "takesHere",
  "fromPriceMap",
  "missingSince",
  "expires",
];

const PROVIDER_LINES: readonly (readonly (keyof ProviderRecord)[])[] = [
  ["slug", "name", "format", "address", "auth", "toolCallIds"],
  ["baseUrl", "baseUrlTemplate"],
  ["paths"],
  ["isForCode"],
  ["parts"],
  ["body"],
  ["env"],
  ["keysUrl"],
  ["affinityHeader", "promptCacheSeconds", "cacheKeepsZeroRetention"],
  ["parameters"],
  ["quirks"],
  ["formats"],
  ["reportsCost"],
  ["charges"],
  ["factors"],
  ["trainsOnData", "retainsData"],
  ["privacyPolicyUrl"],
  ["termsOfServiceUrl"],
  ["statusPageUrl"],
  ["headquarters", "datacenters"],
];

/** Returns the text of a file of `catalog/models/`. */
export function formatModels(models: readonly ModelRecord[]): string {
  const sorted = [...models].sort((a, b) => compareText(a.id, b.id));
  return sorted.length === 0 ? "[]\n" : `[\n${sorted.map(formatModel).join(",\n")}\n]\n`;
}

/** Returns the text of `catalog/providers.json`. */
export function formatProviders(providers: readonly ProviderRecord[]): string {
  const sorted = [...providers].sort((a, b) => compareText(a.slug, b.slug));
  return `[\n${sorted.map((provider) => `  {\n${formatLines(provider, PROVIDER_LINES)}\n  }`).join(",\n")}\n]\n`;
}

/** Returns the text of an imported catalog: one file in the data directory. */
export function formatImportedCatalog(source: string, models: readonly ModelRecord[]): string {
  return `{\n"source": ${JSON.stringify(source)},\n"models": ${formatModels(models).trimEnd()}\n}\n`;
}

/** Groups models by author, like the files `<author>.json`. */
export function groupByAuthor(models: readonly ModelRecord[]): Map<string, ModelRecord[]> {
  const groups = new Map<string, ModelRecord[]>();
  for (const model of models) {
    const author = authorOf(model.id);
    const group = groups.get(author);
    if (group === undefined) groups.set(author, [model]);
    else group.push(model);
  }
  return groups;
}

/** Returns the author in a model id: the text before the slash. */
export function authorOf(id: string): string {
  return id.slice(0, id.indexOf("/"));
}

/** Compares text by code units, independent of locale. */
export function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

function formatModel(model: ModelRecord): string {
  const endpoints = model.endpoints.map((endpoint) => `      ${formatMembers(endpoint, ENDPOINT_KEYS)}`);
  return `  {\n${formatLines(model, MODEL_LINES)},\n    "endpoints": [\n${endpoints.join(",\n")}\n    ]\n  }`;
}

function formatLines<T extends object>(record: T, lines: readonly (readonly (keyof T)[])[]): string {
  const written: string[] = [];
  for (const keys of lines) {
    const members = listMembers(record, keys);
    if (members !== "") written.push(`    ${members}`);
  }
  return written.join(",\n");
}

function formatMembers<T extends object>(record: T, keys: readonly (keyof T)[]): string {
  return `{ ${listMembers(record, keys)} }`;
}

function listMembers<T extends object>(record: T, keys: readonly (keyof T)[]): string {
  return keys
    .filter((key) => record[key] !== undefined && (record[key] !== null || key === "prices"))
    .map((key) => `${JSON.stringify(key)}: ${formatValue(record[key])}`)
    .join(", ");
}

function formatValue(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(formatValue).join(", ")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  if (members.length === 0) return "{}";
  return `{ ${members.map(([key, member]) => `${JSON.stringify(key)}: ${formatValue(member)}`).join(", ")} }`;
}
