import { findClaim, findUnknown, type Unknown } from "./find-claim.ts";

/** What a provider sent of a claim, for a person who reads it. */
export interface SeenClaim {
  readonly name: string;
  /** Its texts and numbers, at most the first `MAX_VALUES`. */
  readonly values: readonly string[];
  /** Why the claim is not known; null if it is. */
  readonly unknown: Unknown | null;
}

const MAX_CLAIMS = 50;
const MAX_VALUES = 100;
/** Characters of a value. */
const MAX_CHARS = 200;

/** Returns the values of claims that rules compare. Other kinds of values match no rule and are left out. */
export function showClaims(
  claims: Readonly<Record<string, unknown>>,
  names: readonly string[],
): readonly SeenClaim[] {
  return names.slice(0, MAX_CLAIMS).map((name) => {
    const found = findClaim(claims, name);
    const values = (Array.isArray(found) ? found : [found]).slice(0, MAX_VALUES);
    const texts = values.filter((value) => typeof value === "string" || typeof value === "number");
    return {
      name,
      values: texts.map((value) => String(value).slice(0, MAX_CHARS)),
      unknown: findUnknown(claims, name),
    };
  });
}
