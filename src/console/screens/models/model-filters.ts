import type { CatalogModel } from "../../api/schema.ts";

/** Columns that a list of models can be sorted by. */
export const SORTS = [
  "status",
  "name",
  "context",
  "input",
  "output",
  "cache",
  "providers",
  "released",
] as const;
export type Sort = (typeof SORTS)[number];

/** The models to show, and their order. */
export interface ModelFilters {
  readonly text: string;
  /** Modalities that the model must accept or return; empty for any. */
  readonly input: string;
  readonly output: string;
  readonly needsTools: boolean;
  readonly needsReasoning: boolean;
  /** The maximum price of a million prompt tokens, in dollars; null for any. */
  readonly maxPrice: number | null;
  /** The minimum context window in tokens; null for any. */
  readonly minContext: number | null;
  readonly served: "all" | "yes" | "no";
  /** Slug of a provider; empty for any. */
  readonly provider: string;
  readonly sort: Sort;
  readonly isDescending: boolean;
}

type Query = Readonly<Record<string, string>>;

/** Reads filters from the query of the page. Values that are not valid count as absent. */
export function readFilters(query: Query): ModelFilters {
  const sort = query["sort"] ?? "";
  const isDescending = sort.startsWith("-");
  const column = SORTS.find((name) => name === sort.replace("-", "")) ?? "status";
  const served = query["served"];
  return {
    text: query["q"] ?? "",
    input: query["in"] ?? "",
    output: query["out"] ?? "",
    needsTools: query["tools"] === "1",
    needsReasoning: query["reasoning"] === "1",
    maxPrice: readNumber(query["price"]),
    minContext: readNumber(query["context"]),
    served: served === "yes" || served === "no" ? served : "all",
    provider: query["provider"] ?? "",
    sort: column,
    isDescending,
  };
}

function readNumber(text: string | undefined): number | null {
  if (text === undefined || text === "") return null;
  const value = Number(text);
  return Number.isFinite(value) && value >= 0 ? value : null;
}

/** Returns the query values of filters; null for those that have their default. */
export function printFilters(filters: ModelFilters): Readonly<Record<string, string | null>> {
  const { sort, isDescending } = filters;
  const order = `${isDescending ? "-" : ""}${sort}`;
  return {
    q: filters.text || null,
    in: filters.input || null,
    out: filters.output || null,
    tools: filters.needsTools ? "1" : null,
    reasoning: filters.needsReasoning ? "1" : null,
    price: filters.maxPrice === null ? null : String(filters.maxPrice),
    context: filters.minContext === null ? null : String(filters.minContext),
    served: filters.served === "all" ? null : filters.served,
    provider: filters.provider || null,
    sort: order === "status" ? null : order,
  };
}

/** Returns the number of filters that are set, without the text and the order. */
export function countFilters(filters: ModelFilters): number {
  const { q: _q, sort: _sort, ...rest } = printFilters(filters);
  return Object.values(rest).filter((value) => value !== null).length;
}

/** Returns dollars per million tokens; null for an unknown price. */
export function perMillion(price: string | undefined): number | null {
  return price === undefined ? null : Number(price) * 1_000_000;
}

/** Whether a model accepts tools. */
export function hasTools({ supported_parameters }: CatalogModel): boolean {
  return supported_parameters.includes("tools");
}

/** Whether a model reasons. */
export function hasReasoning({ supported_parameters }: CatalogModel): boolean {
  return supported_parameters.includes("reasoning") || supported_parameters.includes("reasoning_effort");
}

const searchTexts = new WeakMap<CatalogModel, string>();

function searchTextOf(model: CatalogModel): string {
  const known = searchTexts.get(model);
  if (known !== undefined) return known;
  const made = `${model.name} ${model.id} ${model.providers.join(" ")}`.toLowerCase();
  searchTexts.set(model, made);
  return made;
}

/** Returns the models that pass all filters, in the order of the filters. Models without a value come last. */
export function filterModels(models: readonly CatalogModel[], filters: ModelFilters): CatalogModel[] {
  const words = filters.text.trim().toLowerCase().split(/\s+/).filter(Boolean);
  const found = models.filter((model) => passes(model, filters) && matches(model, words));
  const keys = new Map(found.map((model) => [model, SORT_KEYS[filters.sort](model)]));
  const sign = filters.isDescending ? -1 : 1;
  return found.sort((a, b) => compare(keys.get(a) ?? null, keys.get(b) ?? null, sign) || order(a, b));
}

function matches(model: CatalogModel, words: readonly string[]): boolean {
  return words.every((word) => searchTextOf(model).includes(word));
}

function passes(model: CatalogModel, filters: ModelFilters): boolean {
  const { input, output, provider, served, maxPrice, minContext } = filters;
  if (input !== "" && !model.input_modalities.includes(input)) return false;
  if (output !== "" && !model.output_modalities.includes(output)) return false;
  if (filters.needsTools && !hasTools(model)) return false;
  if (filters.needsReasoning && !hasReasoning(model)) return false;
  if (provider !== "" && !model.providers.includes(provider)) return false;
  if (served !== "all" && model.is_served !== (served === "yes")) return false;
  if (minContext !== null && model.context_length < minContext) return false;
  if (maxPrice === null) return true;
  const price = perMillion(model.pricing?.prompt);
  return price !== null && price <= maxPrice;
}

const SORT_KEYS: Readonly<Record<Sort, (model: CatalogModel) => string | number | null>> = {
  // What can be called comes first, the newest of it at the top.
  status: ({ released, is_served }) => `${is_served ? 0 : 1} ${invertDate(released)}`,
  name: ({ name }) => name.toLowerCase(),
  context: ({ context_length }) => context_length,
  input: ({ pricing }) => perMillion(pricing?.prompt),
  output: ({ pricing }) => perMillion(pricing?.completion),
  cache: ({ pricing }) => perMillion(pricing?.input_cache_read),
  providers: ({ providers, served_by }) => served_by.length * 1_000 + providers.length,
  released: ({ released }) => released,
};

/** Returns a text that sorts dates from the newest to the oldest, and after them models without one. */
function invertDate(date: string | null): string {
  return date === null ? "~" : date.replace(/\d/g, (digit) => String(9 - Number(digit)));
}

function compare(a: string | number | null, b: string | number | null, sign: number): number {
  if (a === b) return 0;
  if (a === null) return 1;
  if (b === null) return -1;
  return a < b ? -sign : sign;
}

const order = (a: CatalogModel, b: CatalogModel): number => (a.id < b.id ? -1 : 1);

/** The order after a press of a column's title: prices and names first ascend, all others first descend. */
export function nextSort(
  { sort, isDescending }: ModelFilters,
  column: Sort,
): Pick<ModelFilters, "sort" | "isDescending"> {
  if (sort === column) return { sort, isDescending: !isDescending };
  return { sort: column, isDescending: ["context", "providers", "released"].includes(column) };
}

/** The maximum number of models that are compared. */
export const MAX_COMPARED = 4;

/** Reads the ids of `?ids=`, each once. */
export function readIds(query: Query): string[] {
  const ids = (query["ids"] ?? "").split(",").map((id) => id.trim());
  return [...new Set(ids.filter(Boolean))].slice(0, MAX_COMPARED);
}

/** Returns the page that compares models. */
export function comparePath(ids: readonly string[]): string {
  return `/console/models/compare?ids=${ids.map(encodeURIComponent).join(",")}`;
}

/** Returns the page of a model. */
export function modelPath(id: string): string {
  return `/console/models/${id.split("/").map(encodeURIComponent).join("/")}`;
}
