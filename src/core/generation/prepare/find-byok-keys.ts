import type { MaybePromise } from "../../../base/threads/maybe-promise.ts";
import type { InferencePrincipal } from "../../accounts/records/principal.ts";
import type { ByokKeys } from "../../provider-keys/byok-keys.ts";
import type { GenerationDeps } from "../call/call.ts";

/** Returns the BYOK keys of the paying account; null if it has none. A promise unless they are in memory. */
export function findByokKeys(
  { byokKeys }: Pick<GenerationDeps, "byokKeys">,
  principal: InferencePrincipal,
): MaybePromise<ByokKeys | null> {
  return principal.kind === "anonymous" ? null : byokKeys.of(principal.account.id);
}
