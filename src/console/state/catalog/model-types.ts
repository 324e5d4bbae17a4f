import type { CatalogModel, CatalogModelDetails } from "../../api/schema.ts";

/** A tier with the models of each case. */
export interface Tier {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly is_free: boolean;
  readonly resolves_to: readonly { readonly when: string; readonly models: readonly string[] }[];
}

/** The catalog as the console has it. */
export interface CatalogList {
  readonly data: readonly CatalogModel[];
  readonly tiers: readonly Tier[];
  readonly providers: readonly {
    readonly slug: string;
    readonly name: string;
    readonly is_configured: boolean;
  }[];
}

/** A model with its endpoints. */
export type ModelDetails = CatalogModelDetails;
