import type { InferencePrincipal } from "../accounts/principal.ts";
import type { ByokKeys } from "../provider-keys/byok-keys.ts";
import type { GenerationDeps } from "./call.ts";

/** Returns the BYOK keys of the paying account; null if it has none. */
export function findByokKeys(
  { byokKeys }: Pick<GenerationDeps, "byokKeys">,
  principal: InferencePrincipal,
): Promise<ByokKeys | null> {
  return principal.kind === "anonymous" ? Promise.resolve(null) : byokKeys.of(principal.account.id);
}
