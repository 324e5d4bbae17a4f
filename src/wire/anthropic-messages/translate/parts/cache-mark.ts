import { asFields, type Fields, NO_FIELDS } from "../../../../base/json/fields.ts";
import type { CacheMark } from "../../../canonical/model/parts.ts";
import type { FieldTaker } from "./take-fields.ts";

/**
 * Takes `cache_control`. It also stays among the other fields, and is encoded from there, if it has fields that the cache mark
 * does not.
 */
export function takeCache(take: FieldTaker): { readonly cache?: CacheMark } {
  const raw = asFields(take.peek("cache_control"));
  if (raw?.["type"] !== "ephemeral") return NO_CACHE;
  const ttl = raw["ttl"] === "5m" || raw["ttl"] === "1h" ? raw["ttl"] : null;
  if (Object.keys(raw).length === (ttl === null ? 1 : 2)) take.drop("cache_control");
  return { cache: { ttl } };
}

const NO_CACHE: { readonly cache?: CacheMark } = {};

/** Encodes `cache_control`; no field without a mark. */
export function encodeCache({ cache }: { readonly cache?: CacheMark }): Fields {
  if (cache === undefined) return NO_FIELDS;
  return {
    cache_control: cache.ttl === null ? { type: "ephemeral" } : { type: "ephemeral", ttl: cache.ttl },
  };
}
