import { fail } from "../../base/failures/errors.ts";
import type { RequestContext } from "../context/context.ts";

/** Where a browser signs in again at the provider. The console adds `return_to`. */
const SIGN_IN_AGAIN = "/api/console/oidc/start?again=true";

/**
 * Rejects a session of the OpenID Connect provider if the person signed in too long ago. API keys, and sessions by key or one-time code,
 * pass: they cannot be asked to sign in again.
 * @throws GatewayError `permission_denied`, with the reason `sign_in_again`.
 */
export function requireRecentSignIn(context: RequestContext): void {
  if (hasRecentSignIn(context)) return;
  fail(
    "permission_denied",
    "Your last sign-in at the provider is too long ago for this change. Sign in again, then repeat it.",
    { metadata: { reason: "sign_in_again", sign_in_path: SIGN_IN_AGAIN } },
  );
}

/** Returns whether no new sign-in is needed: the session is not the provider's, or the person signed in recently. */
export function hasRecentSignIn({ session, deps }: RequestContext): boolean {
  const maxMs = deps.browser.console?.oidc?.reauthenticateMs ?? null;
  if (session === null || session.authenticatedAt === null || maxMs === null) return true;
  return deps.clock.now() - session.authenticatedAt <= maxMs;
}
