import type { CatalogList } from "../../state/catalog/model-types.ts";

/** A model or tier to choose. */
export interface ModelOption {
  readonly value: string;
  readonly label: string;
  readonly detail: string;
}

/** Lists the models that answer conversations: the served ones, then the tiers, then the others. */
export function listModelOptions({ data, tiers }: CatalogList): ModelOption[] {
  const talks = data.filter(({ output_modalities }) => output_modalities.includes("text"));
  const options = (isServed: boolean) =>
    talks
      .filter(({ is_served }) => is_served === isServed)
      .map(({ id, name }) => ({ value: id, label: name, detail: id }));
  return [
    ...options(true),
    ...tiers.map(({ id, name }) => ({ value: id, label: name, detail: id })),
    ...options(false),
  ];
}
