import { sha256 } from "../../../base/secrets/hash.ts";
import type { InferenceRequest, RequestPrompt } from "../../../wire/client-apis/request/inference-request.ts";
import type { InferencePrincipal } from "../../accounts/records/principal.ts";

/** The parts of a request from which session keys are derived. */
export interface SessionRequest extends Pick<InferenceRequest, "action" | "session" | "user"> {
  readonly prompt: Pick<RequestPrompt, "hashPrefix">;
}

/**
 * Returns the key of a conversation's cache affinity: a hash of the session that the client names, otherwise of the conversation's prefix.
 * Different accounts never have the same key. Null for embeddings, whose prompts are not cached.
 */
export function sessionKeyOf(request: SessionRequest, principal: InferencePrincipal): string | null {
  const { action, session } = request;
  if (action === "embeddings") return null;
  return session === null
    ? hashParts(scopeOf(principal), "prefix", request.prompt.hashPrefix())
    : hashParts(scopeOf(principal), "session", session);
}

/**
 * Returns the key by which a free model is chosen (docs/api/chat.md, "Sessions and users"): a hash of the session, otherwise of the user,
 * otherwise of the API key, otherwise of client address and conversation prefix.
 */
export function freeSessionKeyOf(request: SessionRequest, principal: InferencePrincipal): string {
  const { session, user } = request;
  const scope = scopeOf(principal);
  if (session !== null) return hashParts(scope, "session", session);
  if (user !== null) return hashParts(scope, "user", user);
  return principal.kind === "key"
    ? hashParts(scope, "key", principal.key.id)
    : hashParts(scope, "prefix", request.prompt.hashPrefix());
}

/** Returns the scope within which sessions are unique: the paying account, or the hash of the client address. */
export function scopeOf(principal: InferencePrincipal): string {
  return principal.kind === "key" ? principal.account.id : principal.addressHash;
}

/** Hashes parts. Only the last part comes from the client and may contain the separator. */
function hashParts(...parts: readonly string[]): string {
  return sha256(parts.join("\0"), "base64url");
}
