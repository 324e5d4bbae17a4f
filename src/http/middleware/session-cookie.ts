import { hashSecret } from "../../core/accounts/records/secrets.ts";
import { SESSION_MAX_MS } from "../../core/console/console-session.ts";
import type { RequestContext } from "../context/context.ts";
import { isHttps } from "./browser-checks.ts";

const NAME = "gateway_session";
/** Browsers accept a cookie with this prefix only over TLS and only from the host itself, not from a neighbouring subdomain. */
const SECURE_NAME = `__Host-${NAME}`;

/** Returns the secret in the session cookie of a request; null if it has none. */
export function readSessionCookie(request: Request, context: RequestContext): string | null {
  const header = request.headers.get("cookie");
  if (header === null) return null;
  const prefix = `${isHttps(request, context) ? SECURE_NAME : NAME}=`;
  const pair = header.split(";").find((one) => one.trimStart().startsWith(prefix));
  return pair?.trim().slice(prefix.length) ?? null;
}

/** Returns the SHA-256, hex, of the secret in the session cookie of a request; null if it has none. */
export function hashSessionCookie(request: Request, context: RequestContext): string | null {
  const secret = readSessionCookie(request, context);
  return secret === null ? null : hashSecret(secret);
}

/** Returns the `Set-Cookie` header that gives a browser the secret of its session. */
export function writeSessionCookie(secret: string, request: Request, context: RequestContext): string {
  return formatCookie(secret, SESSION_MAX_MS / 1000, isHttps(request, context));
}

/** Returns the `Set-Cookie` header that deletes the cookie. */
export function clearSessionCookie(request: Request, context: RequestContext): string {
  return formatCookie("", 0, isHttps(request, context));
}

function formatCookie(value: string, maxAgeS: number, isSecure: boolean): string {
  const cookie = `${isSecure ? SECURE_NAME : NAME}=${value}; Path=/; HttpOnly; SameSite=Strict; Max-Age=${maxAgeS}`;
  return isSecure ? `${cookie}; Secure` : cookie;
}
