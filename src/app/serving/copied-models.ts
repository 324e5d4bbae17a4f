import { nearestNames } from "../../base/text/nearest-names.ts";
import type { ModelEndpoint, ModelRecord } from "../../core/catalog/records/records.ts";
import type { ConfigProblem } from "../config/config-error.ts";
import type { Config, ProviderConfig } from "../config/config-schema.ts";
import { problemAt } from "../config/load-config.ts";
import { didYouMean } from "../config/suggest-key.ts";

/** A model that the configuration lists at a provider. */
export type ConfiguredModel = NonNullable<ProviderConfig["models"]>[number];

/** The model of the catalog that a model of the configuration copies. */
export interface CopiedModel {
  readonly model: ModelRecord;
  /** Its endpoint at the same provider, otherwise its first one. */
  readonly endpoint: ModelEndpoint;
}

/** Finds the models of the catalog that models of the configuration copy. */
export interface CopyFinder {
  /** Returns the copied model; null if there is none. */
  find(slug: string, model: ConfiguredModel): CopiedModel | null;
}

/** The geographies in which Amazon Bedrock keeps requests, and `global`. They precede names: `eu.anthropic.claude-…`. */
const GEOGRAPHY = /^(us-gov|us|eu|apac|global|jp|au|ca|sa)\.(?=[a-z])/;

/** Returns a finder over the models of the catalog. */
export function createCopyFinder(models: readonly ModelRecord[]): CopyFinder {
  const byId = new Map(models.map((model) => [model.id, model]));
  const byProvider = new Map<string, ReadonlyMap<string, CopiedModel>>();
  const namesAt = (slug: string) => {
    const known = byProvider.get(slug) ?? indexNames(models, slug);
    byProvider.set(slug, known);
    return known;
  };
  return {
    find(slug, { copy_of, name }) {
      if (copy_of === undefined)
        return name !== undefined && GEOGRAPHY.test(name)
          ? (namesAt(slug).get(withoutGeography(name)) ?? null)
          : null;
      const model = byId.get(copy_of.toLowerCase());
      const endpoint = model?.endpoints.find(({ provider }) => provider === slug) ?? model?.endpoints[0];
      return model === undefined || endpoint === undefined ? null : { model, endpoint };
    },
  };
}

/** Indexes the endpoints of a provider that have names with a geography by the rest of these names. */
function indexNames(models: readonly ModelRecord[], slug: string): ReadonlyMap<string, CopiedModel> {
  const found = models.flatMap((model) =>
    model.endpoints
      .filter(({ provider, name }) => provider === slug && name !== "")
      .map((endpoint) => [withoutGeography(endpoint.name), { model, endpoint }] as const),
  );
  return new Map(found);
}

function withoutGeography(name: string): string {
  return name.replace(GEOGRAPHY, "");
}

/** Returns a problem for each model that copies one which the catalog does not have. */
export function findCopyProblems(config: Config, models: readonly ModelRecord[]): readonly ConfigProblem[] {
  const { find } = createCopyFinder(models);
  return Object.entries(config.providers).flatMap(([slug, { models: configured = [] }]) =>
    configured.flatMap((model, index) => {
      if (model.copy_of === undefined || find(slug, model) !== null) return [];
      const near = nearestNames(
        model.copy_of,
        models.map(({ id }) => id),
        2,
      );
      const hint = near.length === 0 ? "" : `. ${didYouMean(near)}`;
      const text = `is ${JSON.stringify(model.copy_of)}, which the catalog does not have${hint}`;
      return problemAt(config, ["providers", slug, "models", index, "copy_of"], text);
    }),
  );
}

/** Returns a warning for each model with a geography that has the prices of another one: providers charge more for some. */
export function findGeographyWarnings(
  config: Config,
  models: readonly ModelRecord[],
): readonly ConfigProblem[] {
  const { find } = createCopyFinder(models);
  return Object.entries(config.providers).flatMap(([slug, { models: configured = [] }]) =>
    configured.flatMap((model, index) => {
      const copied = find(slug, model);
      const name = model.name ?? "";
      const isOther = copied !== null && GEOGRAPHY.test(name) && copied.endpoint.name !== name;
      if (!isOther || model.prices !== undefined) return [];
      const text = `(${model.id}) has the prices of ${copied.endpoint.name}. Those of a geography may be higher: compare them, and set prices if they are`;
      return problemAt(config, ["providers", slug, "models", index], text);
    }),
  );
}
