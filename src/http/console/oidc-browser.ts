import type { RequestContext } from "../context/context.ts";
import { baseUrlOf, isHttps } from "../middleware/browser-checks.ts";
import { renderPlainPage } from "./console-page.ts";

/** Where a provider sends browsers back to. */
export const CALLBACK = "/api/console/oidc/callback";
const COOKIE_PATH = "/api/console/oidc";

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

/** Shows the end of a sign-in to a person. */
export function showPage(status: 200 | 403, title: string, sentences: readonly string[]): Response {
  const headers = {
    "content-type": "text/html; charset=utf-8",
    "content-security-policy": "default-src 'none'; frame-ancestors 'none'",
    "cache-control": "no-store",
  };
  return new Response(renderPlainPage(title, sentences), { status, headers });
}
