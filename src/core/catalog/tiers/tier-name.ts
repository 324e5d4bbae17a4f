/** How the ids of tiers begin. */
export const TIER_PREFIX = "gateway-auto/";

/** Returns whether a name, ignoring case, can only be a tier's. */
export function isTierName(name: string): boolean {
  return name.toLowerCase().startsWith(TIER_PREFIX);
}
