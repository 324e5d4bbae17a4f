import type { ModelEndpoint, ModelRecord, ProviderRecord } from "./records.ts";
import { findModelProblems } from "./validate-catalog.ts";

/** What the operator says of an endpoint; members that are absent stay as the catalog has them. */
export interface EndpointOverride extends Partial<Omit<ModelEndpoint, "provider">> {
  /** Not served. */
  readonly hidden?: boolean;
}

/** What the operator says of a model, or a model that only they know. */
export interface ModelOverride extends Partial<Omit<ModelRecord, "id" | "endpoints">> {
  /** Not served and not listed. */
  readonly hidden?: boolean;
  /** By the provider's slug. */
  readonly endpoints?: Readonly<Record<string, EndpointOverride>>;
}

/** By model id. */
export type CatalogOverrides = Readonly<Record<string, ModelOverride>>;

/** What is wrong with an override, and where. */
export interface OverrideProblem {
  readonly path: readonly string[];
  readonly message: string;
}

/** A catalog with the operator's word over it. */
export interface Overridden {
  readonly models: readonly ModelRecord[];
  /** An override with a problem is left out whole. */
  readonly problems: readonly OverrideProblem[];
}

const NEEDED = ["name", "contextLength", "prices"] as const;

/** Puts the operator's overrides over a catalog's models: they win over what ships and what is imported. Pure. */
export function applyOverrides(
  models: readonly ModelRecord[],
  overrides: CatalogOverrides,
  providers: readonly ProviderRecord[],
): Overridden {
  const all = new Map(models.map((model) => [model.id, model]));
  const problems: OverrideProblem[] = [];
  for (const [key, override] of Object.entries(overrides)) {
    const id = key.toLowerCase();
    const before = all.get(id);
    const found = findGaps(override, before).map(({ path, message }) => ({ path: [key, ...path], message }));
    const after = found.length > 0 ? null : applyOverride(before ?? newModel(id, override), override);
    if (after !== null)
      found.push(...findModelProblems([after], providers).map((message) => ({ path: [key], message })));
    problems.push(...found);
    if (found.length > 0) continue;
    if (after === null || override.hidden === true) all.delete(id);
    else all.set(id, after);
  }
  return { models: [...all.values()].filter(({ endpoints }) => endpoints.length > 0), problems };
}

/** What an override that adds something does not say. */
function findGaps({ endpoints = {} }: ModelOverride, before: ModelRecord | undefined): OverrideProblem[] {
  const known = new Set(before?.endpoints.map(({ provider }) => provider));
  const problems = Object.entries(endpoints).flatMap(([slug, endpoint]) =>
    known.has(slug)
      ? []
      : NEEDED.filter((field) => endpoint[field] === undefined).map((field) => ({
          path: ["endpoints", slug, field],
          message: `is needed: the catalog does not have this model at ${slug}`,
        })),
  );
  if (before !== undefined || Object.keys(endpoints).length > 0) return problems;
  return [
    {
      path: ["endpoints"],
      message: "is needed: the catalog does not have this model; correct its id, or say who serves it",
    },
  ];
}

/** Of what the operator does not say of it nothing is known. */
function newModel(
  id: string,
  { inputModalities, supportedParameters, reasoning }: ModelOverride,
): ModelRecord {
  const isDescribed = supportedParameters !== undefined || reasoning !== undefined;
  return {
    ...(isDescribed ? {} : { isUndescribed: true }),
    ...(inputModalities === undefined ? { hasUnknownInputs: true } : {}),
    id,
    name: id,
    description: null,
    released: null,
    inputModalities: ["text"],
    outputModalities: ["text"],
    tokenizer: null,
    supportedParameters: ["max_tokens", "temperature", "top_p"],
    expires: null,
    endpoints: [],
  };
}

function applyOverride(before: ModelRecord, override: ModelOverride): ModelRecord {
  const { hidden: _, endpoints: changes = {}, ...facts } = override;
  const known = new Set(before.endpoints.map(({ provider }) => provider));
  const endpoints = before.endpoints.flatMap((endpoint) =>
    applyToEndpoint(endpoint, changes[endpoint.provider] ?? {}),
  );
  for (const [provider, change] of Object.entries(changes)) {
    if (known.has(provider)) continue;
    const { hidden, ...rest } = change;
    if (hidden !== true) endpoints.push({ maxOutputTokens: null, ...rest, provider } as ModelEndpoint);
  }
  return { ...before, ...facts, endpoints };
}

/**
 * Prices are replaced whole: tiers and announced changes of prices that do not hold say nothing. Formats are replaced
 * whole as well, in whichever of the two fields the catalog and the operator name them.
 */
function applyToEndpoint(endpoint: ModelEndpoint, change: EndpointOverride): ModelEndpoint[] {
  const { hidden, ...facts } = change;
  if (hidden === true) return [];
  const { format: _format, formats: _formats, ...others } = endpoint;
  const saysFormats = facts.format !== undefined || facts.formats !== undefined;
  const base = saysFormats ? others : endpoint;
  if (facts.prices === undefined) return [{ ...base, ...facts }];
  const { priceTiers: _, priceChanges: __, ...rest } = base;
  return [{ ...rest, ...facts }];
}
