import { asFields } from "../json/fields.ts";

/** The part of a request's `provider` that decides who may answer. */
export interface ProviderPreferences {
  /** Slugs to try first. */
  readonly order: readonly string[];
  /** Null: any. */
  readonly only: readonly string[] | null;
  readonly ignore: readonly string[];
  /** Whether providers beyond `order` may answer. */
  readonly allowFallbacks: boolean;
}

/** Nothing said: anybody may answer. */
export const NO_PREFERENCES: ProviderPreferences = {
  order: [],
  only: null,
  ignore: [],
  allowFallbacks: true,
};

/** Reads a request's `provider`, once it is known to be an object or absent. */
export function readPreferences(provider: unknown): ProviderPreferences {
  const value = asFields(provider);
  if (value === null) return NO_PREFERENCES;
  return {
    order: readSlugs(value["order"]) ?? [],
    only: readSlugs(value["only"]),
    ignore: readSlugs(value["ignore"]) ?? [],
    allowFallbacks: value["allow_fallbacks"] !== false,
  };
}

function readSlugs(value: unknown): string[] | null {
  return Array.isArray(value) ? value.map((slug) => String(slug).toLowerCase()) : null;
}
