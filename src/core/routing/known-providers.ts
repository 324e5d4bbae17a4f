import type { ProviderPreferences } from "../../wire/conversation/preferences.ts";
import { type KnownNames, requireKnownNames } from "../catalog/known-names.ts";

/**
 * Checks the providers that a request names, so that a misspelt one neither excludes nor prefers in silence.
 * @throws GatewayError `invalid_request` that names the field and near names.
 */
export function requireKnownProviders(
  known: () => KnownNames,
  { only, ignore, order }: ProviderPreferences,
): void {
  // Most requests name none.
  if (only === null && ignore.length === 0 && order.length === 0) return;
  requireKnownNames(known, [
    { field: "provider.only", kind: "provider", names: only, isExact: true },
    { field: "provider.ignore", kind: "provider", names: ignore, isExact: true },
    { field: "provider.order", kind: "provider", names: order, isExact: true },
  ]);
}
