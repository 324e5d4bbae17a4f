import type { InferencePrincipal } from "../accounts/principal.ts";
import type { ByokKeys } from "../provider-keys/byok-keys.ts";
import type { GenerationDeps } from "./call.ts";

/** Returns the BYOK keys of the account that pays; null if it has none. A promise if they are not cached. */
export function findByokKeys(
  { byokKeys }: Pick<GenerationDeps, "byokKeys">,
  principal: InferencePrincipal,
): ByokKeys | null | Promise<ByokKeys | null> {
  return principal.kind === "anonymous" ? null : byokKeys.of(principal.account.id);
}
