import { TRIAL_MS } from "../../core/console/oidc-trials.ts";
import type { RequestContext } from "../context/context.ts";
import { baseUrlOf, isHttps } from "./browser-checks.ts";

/** Where a provider sends browsers back to. */
export const CALLBACK = "/api/console/oidc/callback";
const COOKIE_PATH = "/api/console/oidc";

/** Where a browser begins to sign in through a provider. */
export const START = "/api/console/oidc/start";
/** How long a person may take to sign in at the provider. Seconds. */
export const SIGN_IN_S = 600;

/** The value of a cookie, and how long the browser keeps it. Seconds. */
interface CookieValue {
  readonly value: string;
  readonly maxAgeS: number;
}

/** Returns a cookie that belongs to a sign-in. It must be sent when the provider sends the browser back, so it is not `SameSite=Strict`. */
export function writeOidcCookie(
  name: string,
  { value, maxAgeS }: CookieValue,
  request: Request,
  context: RequestContext,
): string {
  const { pathname } = new URL(baseUrlOf(request, context) + COOKIE_PATH);
  const cookie = `${name}=${value}; Path=${pathname}; HttpOnly; SameSite=Lax; Max-Age=${maxAgeS}`;
  return isHttps(request, context) ? `${cookie}; Secure` : cookie;
}

/** Returns the value of a cookie in a `Cookie` header; null if there is none. */
export function readOidcCookie(name: string, header: string | null): string | null {
  const pair = header?.split(";").find((one) => one.trimStart().startsWith(`${name}=`));
  return pair?.split("=")[1] ?? null;
}

/** Holds the state of a trial sign-in, which only the browser that began it may complete. */
const TRIAL_COOKIE = "gateway_oidc_trial";

/** Returns the cookie with which the browser of a trial comes back from the provider. */
export function writeTrialCookie(state: string, request: Request, context: RequestContext): string {
  return writeOidcCookie(TRIAL_COOKIE, { value: state, maxAgeS: TRIAL_MS / 1_000 }, request, context);
}

/** Returns the state of the trial that the browser of a request has begun; null if it has begun none. */
export function readTrialCookie(request: Request): string | null {
  return readOidcCookie(TRIAL_COOKIE, request.headers.get("cookie")) || null;
}

/** Holds the secret of an invitation until the sign-in at the provider begins. */
const INVITATION_COOKIE = "gateway_invitation";
/** Where a browser begins to sign in that has accepted an invitation. */
export const START_WITH_INVITATION = `${START}?invitation=true`;

/** Returns the cookie with which the browser begins a sign-in for an invitation. Without a secret, it deletes the cookie. */
export function writeInvitationCookie(
  secret: string | null,
  request: Request,
  context: RequestContext,
): string {
  const kept = secret === null ? { value: "", maxAgeS: 0 } : { value: secret, maxAgeS: SIGN_IN_S };
  return writeOidcCookie(INVITATION_COOKIE, kept, request, context);
}

/** Returns the secret of the invitation for which the browser of a request signs in; null if there is none. */
export function readInvitationCookie(request: Request): string | null {
  return readOidcCookie(INVITATION_COOKIE, request.headers.get("cookie")) || null;
}
