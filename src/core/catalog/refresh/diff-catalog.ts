import { compareText } from "../records/format-catalog.ts";
import { PRICE_NAMES } from "../records/model-schema.ts";
import type { ModelEndpoint, ModelRecord, Prices } from "../records/records.ts";

/** The differences between two catalogs: model ids, sorted. */
interface CatalogDiff {
  readonly added: readonly string[];
  readonly removed: readonly string[];
  readonly changed: readonly ModelChange[];
}

/** The changes of one model, one line each. */
interface ModelChange {
  readonly id: string;
  readonly changes: readonly string[];
}

const ALARMING_FACTOR = 5;

/** Compares two lists of models. */
export function diffCatalogs(before: readonly ModelRecord[], after: readonly ModelRecord[]): CatalogDiff {
  const old = new Map(before.map((model) => [model.id, model]));
  const fresh = new Map(after.map((model) => [model.id, model]));
  const changed: ModelChange[] = [];
  for (const model of after) {
    const previous = old.get(model.id);
    const changes = previous === undefined ? [] : [...diffModel(previous, model)];
    if (changes.length > 0) changed.push({ id: model.id, changes });
  }
  return {
    added: after
      .filter((model) => !old.has(model.id))
      .map((model) => model.id)
      .sort(compareText),
    removed: before
      .filter((model) => !fresh.has(model.id))
      .map((model) => model.id)
      .sort(compareText),
    changed: changed.sort((a, b) => compareText(a.id, b.id)),
  };
}

/** Whether two catalogs did not differ. */
export function isEmptyDiff(diff: CatalogDiff): boolean {
  return diff.added.length + diff.removed.length + diff.changed.length === 0;
}

/** Formats the differences as lines for people. A price that changes by a factor of five or more is marked with `!`. */
export function presentDiff(diff: CatalogDiff): string[] {
  if (isEmptyDiff(diff)) return ["no difference"];
  return [
    `${diff.added.length} added, ${diff.removed.length} removed, ${diff.changed.length} changed`,
    ...diff.added.map((id) => `+ ${id}`),
    ...diff.removed.map((id) => `- ${id}`),
    ...diff.changed.flatMap(({ id, changes }) => changes.map((change) => `~ ${id}: ${change}`)),
  ];
}

function* diffModel(before: ModelRecord, after: ModelRecord): Generator<string> {
  for (const key of ["name", "description", "released", "tokenizer", "expires"] as const) {
    if (before[key] !== after[key]) yield `${key} ${before[key] ?? "unknown"} -> ${after[key] ?? "unknown"}`;
  }
  const facts = ["inputModalities", "outputModalities", "supportedParameters", "reasoning", "takes"] as const;
  for (const key of facts) {
    if (!isSame(before[key], after[key])) yield `${key} ${show(before[key])} -> ${show(after[key])}`;
  }
  yield* diffEndpoints(before.endpoints, after.endpoints);
}

function* diffEndpoints(
  before: readonly ModelEndpoint[],
  after: readonly ModelEndpoint[],
): Generator<string> {
  const old = new Map(before.map((endpoint) => [nameEndpoint(endpoint), endpoint]));
  const fresh = new Map(after.map((endpoint) => [nameEndpoint(endpoint), endpoint]));
  for (const [name, endpoint] of fresh) {
    const previous = old.get(name);
    if (previous === undefined) yield `now at ${name}`;
    else for (const change of diffEndpoint(previous, endpoint)) yield `${name}: ${change}`;
  }
  for (const name of old.keys()) if (!fresh.has(name)) yield `no longer at ${name}`;
}

function nameEndpoint(endpoint: ModelEndpoint): string {
  return `${endpoint.provider} (${endpoint.name})`;
}

function* diffEndpoint(before: ModelEndpoint, after: ModelEndpoint): Generator<string> {
  for (const key of ["formats", "noToolsWhileReasoning"] as const) {
    if (!isSame(before[key], after[key])) yield `${key} ${show(before[key])} -> ${show(after[key])}`;
  }
  for (const key of ["format", "contextLength", "maxPromptTokens", "maxOutputTokens"] as const) {
    if (before[key] !== after[key]) yield `${key} ${before[key] ?? "none"} -> ${after[key] ?? "none"}`;
  }
  yield* diffPrices(before.prices, after.prices);
  for (const key of ["priceTiers", "priceChanges"] as const) {
    if (!isSame(before[key], after[key])) yield `${key} ${show(before[key])} -> ${show(after[key])}`;
  }
  if (before.missingSince !== after.missingSince)
    yield after.missingSince === undefined ? "listed again" : `not listed since ${after.missingSince}`;
  for (const key of ["lacks", "takesHere"] as const) {
    if (!isSame(before[key], after[key])) yield `${key} ${show(before[key])} -> ${show(after[key])}`;
  }
  if (before.fromPriceMap !== after.fromPriceMap)
    yield after.fromPriceMap ? "listed by the price map alone" : "no longer listed by the price map alone";
}

function* diffPrices(before: Prices | null, after: Prices | null): Generator<string> {
  if (before === null || after === null) {
    if (before !== after) yield after === null ? "no longer has a price" : `now has a price: ${show(after)}`;
    return;
  }
  for (const name of PRICE_NAMES) {
    const [old, fresh] = [before[name], after[name]];
    if (old !== fresh) yield `${name} ${old ?? "none"} -> ${fresh ?? "none"}${describeFactor(old, fresh)}`;
  }
  const [old, fresh] = [before.imageVariants, after.imageVariants];
  if (!isSame(old, fresh)) yield `imageVariants ${show(old)} -> ${show(fresh)}`;
}

/** Formats the factor of a price change for display. Amounts are never computed from it. */
function describeFactor(before: string | undefined, after: string | undefined): string {
  const factor = Number(after) / Number(before);
  if (!Number.isFinite(factor) || factor === 0) return "";
  const alarming = factor >= ALARMING_FACTOR || factor <= 1 / ALARMING_FACTOR;
  return ` (x${Number(factor.toPrecision(3))})${alarming ? " !" : ""}`;
}

function isSame(before: unknown, after: unknown): boolean {
  return JSON.stringify(before) === JSON.stringify(after);
}

function show(value: unknown): string {
  return value === undefined ? "none" : JSON.stringify(value);
}
