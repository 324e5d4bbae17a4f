import type { ListedTier } from "./tier-manager.ts";

/** Returns a tier and where it is defined, as the management API and the commands show them. */
export function presentListedTier({ tier, source, file, line, updatedAt, replaces }: ListedTier) {
  const updated_at = updatedAt === null ? null : new Date(updatedAt).toISOString();
  return { ...tier, source, file, line, updated_at, replaces };
}
