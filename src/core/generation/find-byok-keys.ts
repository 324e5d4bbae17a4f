import type { InferencePrincipal } from "../accounts/principal.ts";
import type { ByokKeys } from "../provider-keys/byok-keys.ts";
import type { GenerationDeps } from "./call.ts";

/** The keys at providers that the account in charge brings, null without any; a promise only where memory does not know. */
export function findByokKeys(
  { byokKeys }: Pick<GenerationDeps, "byokKeys">,
  principal: InferencePrincipal,
): ByokKeys | null | Promise<ByokKeys | null> {
  return principal.kind === "anonymous" ? null : byokKeys.of(principal.account.id);
}
