import { fail, GatewayError } from "../../base/failures/errors.ts";
import { resolveAccount } from "../../core/accounts/memory/resolve-account.ts";
import type { IdentifiedSession } from "../../core/console/console-sessions.ts";
import type { ConsoleDeps } from "../context/console-deps.ts";
import type { RequestContext } from "../context/context.ts";
import { requireConsoleHost, requireSameOrigin } from "./browser-checks.ts";
import { hasSecret, type IdentifiedPrincipal, identify } from "./identify.ts";
import { readSessionCookie } from "./session-cookie.ts";

/**
 * Returns the principal of a request to the management API: by its API key, otherwise by the cookie of its console session, which is set in
 * the context.
 * @throws GatewayError `authentication` for an invalid key or session; `permission_denied` and `unsupported_media_type` for a request with
 * a session that another site may have sent.
 */
export async function identifyManagement(
  request: Request,
  context: RequestContext,
): Promise<IdentifiedPrincipal> {
  if (hasSecret(request.headers) || context.deps.browser.console === null) return identify(request, context);
  const secret = readSessionCookie(request, context);
  if (secret === null) return identify(request, context);
  return (await findSession(secret, request, context))?.principal ?? rejectSession(context);
}

/**
 * Returns the principal of the session in a request's cookie. An API key is not a session.
 * @throws GatewayError `authentication`, with the ways to sign in, if there is no session or it has ended; otherwise like
 * `identifyManagement`.
 */
export async function requireSession(
  request: Request,
  context: RequestContext,
): Promise<IdentifiedSession["principal"]> {
  return (await findRequestSession(request, context))?.principal ?? rejectSession(context);
}

/**
 * Returns the session of a request's cookie; null if there is none, or it has ended.
 * @throws GatewayError as `identifyManagement` for a request that another site may have sent.
 */
export async function findRequestSession(
  request: Request,
  context: RequestContext,
): Promise<IdentifiedSession | null> {
  const secret = readSessionCookie(request, context);
  return secret === null ? null : findSession(secret, request, context);
}

/** Returns the session with a secret whose key still acts for an open account. Checks first that the browser sends the request for the console. */
async function findSession(
  secret: string,
  request: Request,
  context: RequestContext,
): Promise<IdentifiedSession | null> {
  const {
    browser: { console },
  } = context.deps;
  if (console === null) return null;
  requireConsoleHost(request, console);
  requireSameOrigin(request, console);
  const found = await console.sessions.identify(secret);
  if (found === null || !(await actsForAccount(found, context))) return null;
  context.session = found.session;
  context.logFields["key_id"] = found.session.keyId;
  context.logFields["session_id"] = found.session.id;
  return found;
}

/** Returns false if the account of the key is closed, or its user is no member any more. */
async function actsForAccount({ principal }: IdentifiedSession, { deps }: RequestContext): Promise<boolean> {
  if (principal.kind === "operator") return true;
  try {
    await resolveAccount(deps.callers.accountCache, principal.key, null);
    return true;
  } catch (error) {
    if (error instanceof GatewayError && error.failure.code === "permission_denied") return false;
    throw error;
  }
}

function rejectSession({ deps }: RequestContext): never {
  return fail(
    "authentication",
    "There is no console session, or it has ended. Sign in with POST /api/console/session.",
    { metadata: { sign_in: signInOptions(deps.browser.console) } },
  );
}

/** Returns the ways to sign in other than with a key. */
export function signInOptions(console: ConsoleDeps | null) {
  const oidc = console?.oidc ?? null;
  return { oidc: oidc && { name: oidc.name } };
}
