/** How the ids of tiers begin. */
export const TIER_PREFIX = "gateway-auto/";

/** Returns whether a name, in upper or lower case, can only be that of a tier. */
export function isTierName(name: string): boolean {
  return name.toLowerCase().startsWith(TIER_PREFIX);
}
