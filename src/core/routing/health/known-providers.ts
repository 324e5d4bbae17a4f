import type { ProviderPreferences } from "../../../wire/conversation/preferences.ts";
import { type KnownNames, requireKnownNames } from "../../catalog/served/known-names.ts";

/**
 * Rejects unknown providers in a request's preferences, so that a misspelt name is not ignored silently.
 * @throws GatewayError `invalid_request`, with the field and similar names.
 */
export function requireKnownProviders(known: KnownNames, { only, ignore, order }: ProviderPreferences): void {
  // Most requests name none.
  if (only === null && ignore.length === 0 && order.length === 0) return;
  requireKnownNames(
    () => known,
    [
      { field: "provider.only", kind: "provider", names: only, isExact: true },
      { field: "provider.ignore", kind: "provider", names: ignore, isExact: true },
      { field: "provider.order", kind: "provider", names: order, isExact: true },
    ],
  );
}
