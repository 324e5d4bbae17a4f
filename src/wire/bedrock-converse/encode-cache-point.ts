import type { CacheMark } from "../canonical/parts.ts";
import type { Fields } from "../json/fields.ts";
import type { Encoding } from "./encoding.ts";

/** A cache point, for the families that take one; only Claude chooses how long it lasts. */
export function encodeCachePoint(mark: CacheMark, { family }: Encoding): Fields[] {
  if (family !== "claude" && family !== "nova") return [];
  const ttl = family === "claude" && mark.ttl !== null ? { ttl: mark.ttl } : {};
  return [{ cachePoint: { type: "default", ...ttl } }];
}
