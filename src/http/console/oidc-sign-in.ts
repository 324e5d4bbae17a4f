import { fail, GatewayError, statusOf } from "../../base/failures/errors.ts";
import { findOpenInvitation } from "../../core/accounts/manage/manage-invitations.ts";
import type { ConsoleSession } from "../../core/console/console-session.ts";
import { noSignInChanges, type SignInChanges } from "../../core/console/identity-sign-in.ts";
import {
  authenticatedAtOf,
  type OidcChecks,
  OidcError,
  requireSignedInAgain,
} from "../../core/console/oidc-provider.ts";
import { findIdentityKey, revokeIdentityKeys } from "../../core/console/sign-in-identity.ts";
import { recordAcceptance } from "../api/record-acceptance.ts";
import type { ConsoleDeps, OidcDeps } from "../context/console-deps.ts";
import type { RequestContext } from "../context/context.ts";
import { urlOf } from "../context/url-of.ts";
import { basePathOf, baseUrlOf, requireConsoleHost } from "../middleware/browser-checks.ts";
import { identifyByAddress } from "../middleware/identify.ts";
import {
  CALLBACK,
  readInvitationCookie,
  readOidcCookie,
  SIGN_IN_S,
  START,
  writeInvitationCookie,
  writeOidcCookie,
} from "../middleware/oidc-cookie.ts";
import { hashSessionCookie, writeSessionCookie } from "../middleware/session-cookie.ts";
import { PLAIN_POLICY, renderPlainPage } from "./console-page.ts";
import { completeTrial } from "./oidc-trial.ts";

const LOGOUT = "/api/console/oidc/backchannel-logout";
/** Holds the checks of one sign-in. */
const COOKIE = "gateway_oidc";
/** The longest form that the provider may send. Bytes. */
const MAX_FORM_BYTES = 16_384;

/**
 * `GET /api/console/oidc/start`: sends the browser to the provider. `return_to` is the console screen to show afterwards. With `again=true`
 * the person must sign in at the provider again, even if it knows them. With `invitation=true` the browser comes back with the invitation
 * that its cookie has.
 */
export async function startOidc(request: Request, context: RequestContext): Promise<Response> {
  const { console, oidc } = requireOidc(context);
  requireConsoleHost(request, console);
  return showFailures({ request, context, console, oidc }, async () => {
    const query = urlOf(request).searchParams;
    const again = query.get("again") === "true";
    const redirectUri = baseUrlOf(request, context) + CALLBACK;
    const { url, checks } = await oidc.provider.begin({ redirectUri, again });
    const returnTo = readReturnPath(query.get("return_to"));
    const former = hashSessionCookie(request, context);
    const invitation = query.get("invitation") === "true" ? requireInvitationCookie(request) : null;
    const kept: KeptSignIn = { ...checks, returnTo, again, former, invitation };
    const value = Buffer.from(JSON.stringify(kept)).toString("base64url");
    const cookie = writeOidcCookie(COOKIE, { value, maxAgeS: SIGN_IN_S }, request, context);
    return redirect(url, [
      cookie,
      ...(invitation === null ? [] : [writeInvitationCookie(null, request, context)]),
    ]);
  });
}

/** `GET /api/console/oidc/callback`: the browser comes back from the provider, and gets a session. After a trial it gets a page. */
export async function completeOidc(request: Request, context: RequestContext): Promise<Response> {
  const trial = await completeTrial(request, context);
  if (trial !== null) return trial;
  const { console, oidc } = requireOidc(context);
  requireConsoleHost(request, console);
  const { addressHash } = identifyByAddress(request, context);
  return showFailures({ request, context, console, oidc }, async () => {
    const { pathname, search } = urlOf(request);
    const currentUrl = new URL(baseUrlOf(request, context) + pathname + search);
    const kept = readKept(request.headers.get("cookie"));
    const changes = noSignInChanges();
    // The provider has signed the person in, so their identity is proved, whether or not this gateway lets them in.
    const claims = await console.failedSignIns.withProvider(addressHash, () =>
      oidc.provider.complete(currentUrl, kept),
    );
    const authenticatedAt = authenticatedAtOf(claims, context.deps.clock.now());
    if (kept.again) requireSignedInAgain(authenticatedAt, oidc.reauthenticateMs, context.deps.clock.now());
    const invitation =
      kept.invitation === null ? null : await findOpenInvitation(oidc.stores, kept.invitation);
    const key = await findIdentityKey(oidc, claims, { changes, invitation }).catch(async (error: unknown) => {
      if (hasChanged(changes)) await recordSignIn(context, { rejected: true, changes });
      throw error;
    });
    const userAgent = request.headers.get("user-agent");
    const { secret, session } = await console.sessions.open(key, userAgent, authenticatedAt);
    if (kept.former !== null) await console.sessions.replace(kept.former);
    await recordSignIn(context, { session, changes });
    const done = writeOidcCookie(COOKIE, { value: "", maxAgeS: 0 }, request, context);
    return redirect(basePathOf(request, console) + kept.returnTo, [
      done,
      writeSessionCookie(secret, request, context),
    ]);
  });
}

/** `POST /api/console/oidc/backchannel-logout`: the provider reports that a person has signed out. */
export async function logoutByProvider(request: Request, context: RequestContext): Promise<Response> {
  const { oidc } = requireOidc(context);
  const length = Number(request.headers.get("content-length") ?? Number.NaN);
  if (!(length <= MAX_FORM_BYTES)) fail("payload_too_large", `Send at most ${MAX_FORM_BYTES} bytes.`);
  const token = new URLSearchParams(await request.text()).get("logout_token");
  if (!token)
    return fail("invalid_request", "logout_token is required.", { metadata: { field: "logout_token" } });
  try {
    const { iss, sub } = await oidc.provider.readLogoutToken(token);
    const ended = await revokeIdentityKeys(oidc, iss, sub);
    context.logFields["ended_keys"] = ended.length;
    for (const { id, accountId, userId } of ended)
      await context.deps.resources.audit.appendAudit({
        at: context.deps.clock.now(),
        keyId: null,
        userId,
        action: `POST ${LOGOUT}`,
        accountId,
        target: id,
        requestId: context.requestId,
        changes: { revoked: true, signed_out_by: "oidc" },
      });
    return new Response(null, { status: 200, headers: { "cache-control": "no-store" } });
  } catch (error) {
    if (!(error instanceof OidcError)) throw error;
    context.logFields["detail"] = error.internal;
    return fail("invalid_request", error.message, { metadata: { field: "logout_token" } });
  }
}

interface SignInRecord {
  readonly changes: SignInChanges;
  /** The session that has begun; absent for a sign-in that was rejected. */
  readonly session?: ConsoleSession;
  readonly rejected?: true;
}

/**
 * Writes the audit entry of a sign-in, with what it has changed, and that of an invitation. A rejected sign-in may have ended memberships.
 */
async function recordSignIn(
  context: RequestContext,
  { session, rejected, changes }: SignInRecord,
): Promise<void> {
  const { deps, requestId } = context;
  const { userId, createdUser, email, roles, teams, invitation: accepted } = changes;
  const keyId = session?.keyId ?? null;
  await deps.resources.audit.appendAudit({
    at: deps.clock.now(),
    keyId,
    userId: session?.userId ?? userId,
    action: `GET ${CALLBACK}`,
    accountId: session?.accountId ?? userId,
    target: session?.id ?? userId,
    requestId,
    changes: {
      ...(rejected ? { rejected } : { signed_in_by: "oidc" }),
      ...(createdUser && { created_user: true }),
      ...(email !== null && { email }),
      ...(roles.size > 0 && { roles: Object.fromEntries(roles) }),
      ...(teams.size > 0 && { teams: Object.fromEntries(teams) }),
    },
  });
  if (accepted !== null) await recordAcceptance(context, { accepted, keyId, createdUser });
}

function hasChanged({ createdUser, email, roles, teams, invitation }: SignInChanges): boolean {
  return createdUser || email !== null || roles.size > 0 || teams.size > 0 || invitation !== null;
}

function requireOidc({ deps }: RequestContext): { readonly console: ConsoleDeps; readonly oidc: OidcDeps } {
  const {
    browser: { console },
  } = deps;
  if (console === null || console.oidc === null)
    return fail("not_found", "Sign-in through OpenID Connect is not configured (console.oidc).");
  return { console, oidc: console.oidc };
}

/** Where a sign-in begins, and what a failure of it offers. */
interface ShownSignIn {
  readonly request: Request;
  readonly context: RequestContext;
  readonly console: ConsoleDeps;
  readonly oidc: OidcDeps;
}

/** Shows a failed sign-in as a page, because a person reads it: also one that came too early after others, or at a time without a store. */
async function showFailures(shown: ShownSignIn, signIn: () => Promise<Response>): Promise<Response> {
  try {
    return await signIn();
  } catch (error) {
    const { logFields } = shown.context;
    if (error instanceof OidcError) {
      logFields["error"] = "sign_in";
      logFields["detail"] = error.internal;
      return rejectSignIn(shown, { status: 403, reason: error.message });
    }
    if (!(error instanceof GatewayError)) throw error;
    const { failure } = error;
    logFields["error"] = failure.code;
    return rejectSignIn(shown, {
      status: statusOf(failure),
      reason: failure.message,
      retryAfterS: failure.retryAfterS,
    });
  }
}

/** Why a sign-in was rejected, as the person reads it. */
interface Rejection {
  readonly status: number;
  readonly reason: string;
  readonly retryAfterS?: number | undefined;
}

function rejectSignIn(
  { request, context, console, oidc }: ShownSignIn,
  { status, reason, retryAfterS }: Rejection,
): Response {
  const base = basePathOf(request, console);
  const page = renderPlainPage({
    title: "You are not signed in",
    sentences: [reason],
    links: [
      { href: base + START, text: `Try again with ${oidc.name}` },
      { href: base + CONSOLE, text: "Sign in another way" },
    ],
    requestId: context.requestId,
  });
  const headers = {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": PLAIN_POLICY,
    "referrer-policy": "no-referrer",
    "cache-control": "no-store",
    ...(retryAfterS === undefined ? {} : { "retry-after": String(retryAfterS) }),
  };
  return new Response(page, { status, headers });
}

function redirect(location: string, cookies: readonly string[]): Response {
  const headers = new Headers({ location, "cache-control": "no-store", "referrer-policy": "no-referrer" });
  for (const cookie of cookies) headers.append("set-cookie", cookie);
  return new Response(null, { status: 303, headers });
}

/** The values of a sign-in that the browser keeps while it is at the provider. */
interface KeptSignIn extends OidcChecks {
  /** The screen of the console to show afterwards. */
  readonly returnTo: string;
  readonly again: boolean;
  /**
   * SHA-256, hex, of the secret of the session that the browser had; null if it had none. Browsers do not send the session's cookie
   * when the provider sends them back, because it is `SameSite=Strict`.
   */
  readonly former: string | null;
  /** The secret of the invitation for which the person signs in; null for none. */
  readonly invitation: string | null;
}

/** @throws OidcError if the browser has accepted no invitation, or too long ago. */
function requireInvitationCookie(request: Request): string {
  const secret = readInvitationCookie(request);
  if (secret !== null) return secret;
  throw new OidcError("The sign-in took too long. Open the link of the invitation again.", "no invitation");
}

const SHA256 = /^[0-9a-f]{64}$/;

/** @throws OidcError if the browser has begun no sign-in, or too long ago. */
function readKept(header: string | null): KeptSignIn {
  try {
    const kept = readOidcCookie(COOKIE, header) ?? "";
    const value = JSON.parse(Buffer.from(kept, "base64url").toString("utf8"));
    const { state, nonce, verifier, returnTo, again, former, invitation } = value as Record<string, unknown>;
    if (typeof state === "string" && typeof nonce === "string" && typeof verifier === "string")
      // Checked again, because another site of the same domain may have set the cookie.
      return {
        state,
        nonce,
        verifier,
        returnTo: readReturnPath(returnTo),
        again: again === true,
        former: typeof former === "string" && SHA256.test(former) ? former : null,
        invitation: typeof invitation === "string" ? invitation : null,
      };
  } catch {
    // Treated as no cookie.
  }
  throw new OidcError(
    "The sign-in took too long, or began in another browser. Start again at /console.",
    "no checks",
  );
}

/** The longest address of a screen to return to. Characters. */
const MAX_CHARS = 2_000;
const CONSOLE = "/console";
/** Stands for the gateway's own origin, which a path cannot leave unnoticed. */
const OWN = "http://gateway.invalid";

/**
 * Returns the screen of the console to show after a sign-in: `asked`, if it is an address of the console, else its first screen. An
 * address elsewhere would let a link to the gateway end at another site.
 */
export function readReturnPath(asked: unknown): string {
  if (typeof asked !== "string" || asked.length > MAX_CHARS || !asked.startsWith(CONSOLE)) return CONSOLE;
  if (!URL.canParse(asked, OWN)) return CONSOLE;
  // Parsed as a browser parses it: without dot segments, and with backslashes as slashes.
  const { origin, pathname, search } = new URL(asked, OWN);
  const isOfConsole = pathname === CONSOLE || pathname.startsWith(`${CONSOLE}/`);
  return origin === OWN && isOfConsole ? pathname + search : CONSOLE;
}
