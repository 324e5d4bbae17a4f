import type { CacheMark } from "../../canonical/parts.ts";
import { asFields, type Fields } from "../../json/fields.ts";
import type { FieldTaker } from "./take-fields.ts";

/** Reads `cache_control`. One that says more than the hub has words for also stays among the rest, and is written from there. */
export function takeCache(take: FieldTaker): { readonly cache?: CacheMark } {
  const raw = asFields(take.peek("cache_control"));
  if (raw?.["type"] !== "ephemeral") return {};
  const ttl = raw["ttl"] === "5m" || raw["ttl"] === "1h" ? raw["ttl"] : null;
  if (Object.keys(raw).length === (ttl === null ? 1 : 2)) take.drop("cache_control");
  return { cache: { ttl } };
}

/** Writes `cache_control`; no field where there is no mark. */
export function encodeCache({ cache }: { readonly cache?: CacheMark }): Fields {
  if (cache === undefined) return {};
  return {
    cache_control: cache.ttl === null ? { type: "ephemeral" } : { type: "ephemeral", ttl: cache.ttl },
  };
}
