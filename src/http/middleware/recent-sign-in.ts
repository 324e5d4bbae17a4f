import { fail } from "../../base/failures/errors.ts";
import type { RequestContext } from "../context/context.ts";

/** Where a browser signs in again at the provider. The console adds `return_to`. */
const SIGN_IN_AGAIN = "/api/console/oidc/start?again=true";

/**
 * Rejects a session of a person who has proved too long ago to the OpenID Connect provider who they are. API keys and sessions by key
 * or one-time code pass: what they prove they prove with each request or once, and there is nothing to ask for again.
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

/** Returns whether there is nothing to ask for: no session of the provider, or one of a person who has signed in a short time ago. */
export function hasRecentSignIn({ session, deps }: RequestContext): boolean {
  const maxMs = deps.browser.console?.oidc?.reauthenticateMs ?? null;
  if (session === null || session.authenticatedAt === null || maxMs === null) return true;
  return deps.clock.now() - session.authenticatedAt <= maxMs;
}
