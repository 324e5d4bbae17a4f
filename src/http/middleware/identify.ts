import { fail } from "../../base/failures/errors.ts";
import {
  type AnonymousPrincipal,
  type ApiKeyPrincipal,
  credentialIdOf,
  type OperatorPrincipal,
} from "../../core/accounts/records/principal.ts";
import { findClientAddress, limitKeyOf } from "../../core/limits/client-address.ts";
import type { RequestContext } from "../context/context.ts";

/** The principals that the headers of a request can prove. */
export type IdentifiedPrincipal = ApiKeyPrincipal | OperatorPrincipal | AnonymousPrincipal;

/**
 * Returns the principal of a request by its API key; anonymous if it has none.
 * @throws GatewayError `authentication` for an invalid key, even if no key is needed.
 */
export async function identify(request: Request, context: RequestContext): Promise<IdentifiedPrincipal> {
  const secret = readSecret(request.headers);
  if (secret === null) return identifyByAddress(request, context);
  return requireValid(await context.deps.callers.keyCache.identify(secret), context);
}

function requireValid(
  principal: ApiKeyPrincipal | OperatorPrincipal | null,
  { logFields }: RequestContext,
): ApiKeyPrincipal | OperatorPrincipal {
  if (principal === null) return rejectInvalidKey();
  logFields["key_id"] = credentialIdOf(principal);
  if (principal.kind === "key" && principal.key.teamId !== null) logFields["team_id"] = principal.key.teamId;
  return principal;
}

function rejectInvalidKey(): never {
  return fail(
    "authentication",
    "The API key is not valid: it is unknown, revoked or expired. Send a valid key, or no key for a free model.",
  );
}

/** Returns the anonymous principal for the client's address: a keyed hash, so that records do not contain addresses. */
export function identifyByAddress(request: Request, context: RequestContext): AnonymousPrincipal {
  const { deps } = context;
  const address = findClientAddress(
    context.peer(),
    request.headers.get("x-forwarded-for"),
    deps.clients.trustedProxies,
  );
  const addressHash = new Bun.CryptoHasher("sha256", deps.callers.addressSalt)
    .update(limitKeyOf(address))
    .digest("hex")
    .slice(0, 32);
  return { kind: "anonymous", addressHash };
}

/** Returns the API key that a request names, valid or not; null if it names none, or in a malformed header. */
export function findSecret(headers: Headers): string | null {
  try {
    return readSecret(headers);
  } catch {
    return null;
  }
}

/** Returns whether a request names an API key, valid or not. */
export function hasSecret(headers: Headers): boolean {
  return readSecret(headers) !== null;
}

/** Returns the secret in `Authorization` or `x-api-key`; null if it is missing, empty or the word `anonymous`. */
function readSecret(headers: Headers): string | null {
  const authorization = headers.get("authorization")?.trim() ?? "";
  // The usual form, without a regular expression.
  if (authorization.startsWith("Bearer gw_")) return authorization.slice("Bearer ".length);
  if (authorization !== "") {
    const bearer = /^bearer(?:\s+(.*))?$/i.exec(authorization);
    if (bearer === null) fail("authentication", 'The Authorization header must be "Bearer <key>".');
    const secret = bearer[1]?.trim() ?? "";
    if (!isAbsent(secret)) return secret;
  }
  const apiKey = headers.get("x-api-key")?.trim() ?? "";
  return isAbsent(apiKey) ? null : apiKey;
}

function isAbsent(secret: string): boolean {
  return secret === "" || secret.toLowerCase() === "anonymous";
}
