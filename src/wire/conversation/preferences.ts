import { BOUNDS } from "../../base/bounds.ts";
import { refuseField } from "../json/check-fields.ts";
import { asFields, type Fields } from "../json/fields.ts";

/** The part of a request's `provider` that decides who may answer. */
export interface ProviderPreferences {
  /** Slugs to try first. */
  readonly order: readonly string[];
  /** Null: any. */
  readonly only: readonly string[] | null;
  readonly ignore: readonly string[];
  /** Only the account's own keys at providers, never the gateway's. */
  readonly ownKeysOnly: boolean;
  /** Whether providers beyond `order` may answer. */
  readonly allowFallbacks: boolean;
}

/** Fields that speak to the gateway: who else may answer. */
export interface GatewayWishes {
  /** Models to fall back to, in the client's order. */
  readonly fallbackModels: readonly string[];
  readonly preferences: ProviderPreferences;
}

/** Nothing said: anybody may answer. */
export const NO_PREFERENCES: ProviderPreferences = {
  order: [],
  only: null,
  ignore: [],
  ownKeysOnly: false,
  allowFallbacks: true,
};

/**
 * Reads `models` and `provider`.
 * @throws GatewayError `invalid_request` for what is malformed, or promises what cannot be kept.
 */
export function readGatewayWishes(models: unknown, provider: unknown): GatewayWishes {
  return { fallbackModels: readModels(models), preferences: readPreferences(provider) };
}

function readModels(value: unknown): readonly string[] {
  if (value === undefined || value === null) return [];
  const isList = Array.isArray(value) && value.every((model) => typeof model === "string");
  if (!isList || value.length > BOUNDS.fallbackModels) {
    refuseField("models", `must be an array of at most ${BOUNDS.fallbackModels} model ids`);
  }
  return value;
}

function readPreferences(raw: unknown): ProviderPreferences {
  if (raw === undefined || raw === null) return NO_PREFERENCES;
  const value = asFields(raw);
  if (value === null) refuseField("provider", "must be an object");
  refuseEmptyPromises(value);
  return {
    order: readSlugs(value, "order") ?? [],
    only: readSlugs(value, "only"),
    ignore: readSlugs(value, "ignore") ?? [],
    ownKeysOnly: readOwnKeysOnly(value["own_keys_only"]),
    allowFallbacks: value["allow_fallbacks"] !== false,
  };
}

/** A promise that cannot be kept is refused, not passed over. */
function refuseEmptyPromises(value: Fields): void {
  const remedy = "by this gateway; remove it to go on";
  if (value["zdr"] === true) refuseField("provider.zdr", `cannot be guaranteed ${remedy}`);
  if ((value["max_price"] ?? null) !== null) refuseField("provider.max_price", `cannot be held ${remedy}`);
  if (value["data_collection"] === "deny") {
    refuseField("provider.data_collection", `cannot be guaranteed as "deny" ${remedy}`);
  }
}

/** A promise: what is no boolean is refused, or it would be broken in silence. */
function readOwnKeysOnly(value: unknown): boolean {
  if (value === undefined || value === null || typeof value === "boolean") return value === true;
  return refuseField("provider.own_keys_only", "must be true or false");
}

function readSlugs(value: Fields, list: string): string[] | null {
  const slugs = value[list];
  if (slugs === undefined || slugs === null) return null;
  if (!Array.isArray(slugs) || slugs.some((slug) => typeof slug !== "string")) {
    refuseField(`provider.${list}`, "must be an array of provider slugs");
  }
  return slugs.map((slug: string) => slug.toLowerCase());
}
