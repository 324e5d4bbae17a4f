/** The demands of a request's `Cache-Control` header on the answer cache. */
export interface CacheDirectives {
  /** The answer may come from the cache. */
  readonly mayRead: boolean;
  /** The answer may be kept. */
  readonly mayKeep: boolean;
  /** The greatest age of a stored answer; infinite if the request sets none. Seconds. */
  readonly maxAgeS: number;
}

const NO_DIRECTIVES: CacheDirectives = { mayRead: true, mayKeep: true, maxAgeS: Number.POSITIVE_INFINITY };

/** Reads a request's `Cache-Control` (RFC 9111, section 5.2.1): `no-store`, `no-cache` and `max-age`. Others are ignored. */
export function readCacheControl(header: string | null): CacheDirectives {
  if (header === null) return NO_DIRECTIVES;
  let directives = NO_DIRECTIVES;
  for (const directive of header.toLowerCase().split(",")) {
    const [name, value = ""] = directive.trim().split("=", 2);
    if (name === "no-store") directives = { ...directives, mayRead: false, mayKeep: false };
    else if (name === "no-cache") directives = { ...directives, mayRead: false };
    else if (name === "max-age" && /^"?\d{1,9}"?$/.test(value))
      directives = { ...directives, maxAgeS: Number(value.replaceAll('"', "")) };
  }
  return directives;
}
