import type { Fields } from "../../base/json/fields.ts";
import type { CacheMark } from "../canonical/model/parts.ts";
import type { BedrockEncoding } from "./encoding.ts";

/** Encodes a cache point for the families that take one. Only Claude has a choice of how long it lasts. */
export function encodeCachePoint(mark: CacheMark, { family }: BedrockEncoding): Fields[] {
  if (family !== "claude" && family !== "nova") return [];
  const ttl = family === "claude" && mark.ttl !== null ? { ttl: mark.ttl } : {};
  return [{ cachePoint: { type: "default", ...ttl } }];
}
