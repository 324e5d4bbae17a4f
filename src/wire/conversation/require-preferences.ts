import { BOUNDS } from "../../base/bounds.ts";
import { refuseField } from "../json/check-fields.ts";
import { asFields, type Fields } from "../json/fields.ts";
import { NO_PREFERENCES, type ProviderPreferences, readPreferences } from "./preferences.ts";

/**
 * Reads `models`, the models to fall back to, of a parsed request. Null stands for absent.
 * @throws GatewayError `invalid_request` for what is no short list of ids.
 */
export function requireFallbackModels(models: unknown): readonly string[] {
  if (models === undefined || models === null) return [];
  const isList = Array.isArray(models) && models.every((model) => typeof model === "string");
  return isList && models.length <= BOUNDS.fallbackModels
    ? models
    : refuseField("models", `must be an array of at most ${BOUNDS.fallbackModels} model ids`);
}

/**
 * Reads `provider` of a parsed request. Null stands for absent.
 * @throws GatewayError `invalid_request` for what is malformed, or promises what cannot be kept.
 */
export function requirePreferences(provider: unknown): ProviderPreferences {
  if (provider === undefined || provider === null) return NO_PREFERENCES;
  const value = asFields(provider) ?? refuseField("provider", "must be an object");
  for (const list of ["order", "only", "ignore"]) requireSlugs(value, list);
  refuseEmptyPromises(value);
  return readPreferences(value);
}

function requireSlugs(value: Fields, list: string): void {
  const slugs = value[list] ?? [];
  if (!Array.isArray(slugs) || slugs.some((slug) => typeof slug !== "string"))
    refuseField(`provider.${list}`, "must be an array of provider slugs");
}

/** A promise that cannot be kept is refused, not passed over. */
function refuseEmptyPromises(value: Fields): void {
  const remedy = "by this gateway; remove it to go on";
  if (value["zdr"] === true) refuseField("provider.zdr", `cannot be guaranteed ${remedy}`);
  if ((value["max_price"] ?? null) !== null) refuseField("provider.max_price", `cannot be held ${remedy}`);
  if (value["data_collection"] === "deny")
    refuseField("provider.data_collection", `cannot be guaranteed as "deny" ${remedy}`);
}
