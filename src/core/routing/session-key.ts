import { sha256 } from "../../base/hash.ts";
import type { InferenceRequest } from "../../wire/client-apis/inference-request.ts";
import type { InferencePrincipal } from "../accounts/principal.ts";

/** What a key is made of: never the body itself. */
type KnownRequest = Pick<InferenceRequest, "action" | "session" | "user" | "hashPrefix">;

/**
 * The key that a conversation's warm prompt cache is remembered by: what the client names its session, else how the
 * conversation begins. Accounts never share one, whatever their clients say. A hash; null where nothing is cached.
 */
export function sessionKeyOf(request: KnownRequest, principal: InferencePrincipal): string | null {
  const { action, session } = request;
  if (action === "embeddings") return null;
  return session === null
    ? hashParts(scopeOf(principal), "prefix", request.hashPrefix())
    : hashParts(scopeOf(principal), "session", session);
}

/**
 * The key that a free model is picked by (docs/api/chat.md, "Sessions and users"): the session, the user, the key, or the
 * address with how the conversation begins; the first that is there. A hash.
 */
export function freeSessionKeyOf(request: KnownRequest, principal: InferencePrincipal): string {
  const { session, user } = request;
  const scope = scopeOf(principal);
  if (session !== null) return hashParts(scope, "session", session);
  if (user !== null) return hashParts(scope, "user", user);
  return principal.kind === "key"
    ? hashParts(scope, "key", principal.key.id)
    : hashParts(scope, "prefix", request.hashPrefix());
}

/** Whose sessions a caller's are: the account's that pays, or those of the address. */
export function scopeOf(principal: InferencePrincipal): string {
  return principal.kind === "key" ? principal.account.id : principal.addressHash;
}

/** No part but the last, which the client writes, can hold the separator. */
function hashParts(...parts: readonly string[]): string {
  return sha256(parts.join("\0"), "base64url");
}
