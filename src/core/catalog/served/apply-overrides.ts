import type { ModelEndpoint, ModelRecord, ProviderRecord } from "../records/records.ts";
import { findModelProblems } from "./validate-catalog.ts";

/** The operator's override of a model endpoint. Absent members keep the catalog's values. */
export interface EndpointOverride extends Partial<Omit<ModelEndpoint, "provider">> {
  /** Not served. */
  readonly hidden?: boolean;
}

/** The operator's override of a model, or a model that the catalog does not have. */
interface ModelOverride extends Partial<Omit<ModelRecord, "id" | "endpoints">> {
  /** Not served and not listed. */
  readonly hidden?: boolean;
  /** By the provider's slug. */
  readonly endpoints?: Readonly<Record<string, EndpointOverride>>;
}

/** Overrides by model id. */
export type CatalogOverrides = Readonly<Record<string, ModelOverride>>;

/** A problem of an override and its position. */
interface OverrideProblem {
  readonly path: readonly string[];
  readonly message: string;
}

/** The models of a catalog with overrides applied. */
interface Overridden {
  readonly models: readonly ModelRecord[];
  /** An override with a problem is not applied at all. */
  readonly problems: readonly OverrideProblem[];
}

const NEEDED = ["name", "contextLength", "prices"] as const;

/** Applies the operator's overrides to a catalog's models. They take precedence over shipped and imported values. Pure. */
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

/** Finds required fields that are missing in an override that adds a model or an endpoint. */
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

/** Returns a model with unknown facts, except those that the override states. */
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
 * Replaces prices as a whole: the catalog's tiers and announced changes do not apply to other prices. Formats are also
 * replaced as a whole, whether the catalog and the override name them in `format` or in `formats`.
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
