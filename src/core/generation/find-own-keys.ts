import type { Caller } from "../accounts/records.ts";
import type { OwnKeys } from "../provider-keys/own-keys.ts";
import type { GenerationDeps } from "./call.ts";

/** The keys at providers that the account in charge brings, null without any; a promise only where memory does not know. */
export function findOwnKeys(
  { ownKeys }: Pick<GenerationDeps, "ownKeys">,
  caller: Caller,
): OwnKeys | null | Promise<OwnKeys | null> {
  return caller.kind === "anonymous" ? null : ownKeys.of(caller.account.id);
}
