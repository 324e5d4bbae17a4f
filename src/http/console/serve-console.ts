import { fail } from "../../base/failures/errors.ts";
import type { ConsoleBuild, ConsoleFile } from "../context/console-source.ts";
import type { RequestContext } from "../context/context.ts";
import { urlOf } from "../context/url-of.ts";
import { basePathOf, findHostProblem } from "../middleware/browser-checks.ts";
import { PLAIN_POLICY, renderConsolePage, renderPlainPage } from "./console-page.ts";

/** The path of the console. Every page of it is the same document, whose script reads the rest of the path. */
const ROOT = "/console";
const ASSETS = `${ROOT}/assets/`;

/**
 * Headers of all responses of the console. Its scripts, styles and connections come from the gateway's own origin, no page may frame it,
 * and links that leave it do not send its address.
 */
const SAFETY_HEADERS = {
  "content-security-policy":
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; frame-ancestors 'none'; base-uri 'none'; form-action 'self'",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
};

const HTML = "text/html; charset=utf-8";
/** The URL of a built file contains the hash of its sources, so its content never changes. */
const UNCHANGING = "public, max-age=31536000, immutable";

/** `GET /console` and all paths below it: the page of the console, and its built files. */
export async function getConsole(request: Request, context: RequestContext): Promise<Response> {
  const {
    browser: { console },
    log,
  } = context.deps;
  if (console === null)
    return fail("not_found", "The console is disabled. Set console.enabled: true to serve it.");
  const hostProblem = findHostProblem(request, console);
  if (hostProblem !== null) return sendPlainPage(403, "The host is not known", [hostProblem]);
  const { pathname } = urlOf(request);
  const build = await console.files.load().catch((error: unknown) => {
    log.error("the console could not be built", { detail: String(error) });
    return null;
  });
  if (build === null) return sendBuildFailure();
  if (pathname.startsWith(ASSETS)) return sendFile(request, findFile(build, pathname));
  return new Response(renderConsolePage(ASSETS + build.hash, basePathOf(request, console)), {
    headers: { ...SAFETY_HEADERS, "content-type": HTML, "cache-control": "no-cache" },
  });
}

function sendBuildFailure(): Response {
  const response = sendPlainPage(503, "The console could not be built", [
    "The gateway's log says why. The API is not affected: requests are answered as usual.",
    "Reload this page to try again.",
  ]);
  response.headers.set("retry-after", "5");
  return response;
}

function sendPlainPage(status: number, title: string, sentences: readonly string[]): Response {
  const headers = {
    ...SAFETY_HEADERS,
    "content-security-policy": PLAIN_POLICY,
    "content-type": HTML,
    "cache-control": "no-store",
  };
  return new Response(renderPlainPage({ title, sentences }), { status, headers });
}

/** @throws GatewayError `not_found`, even for files of another build. */
function findFile({ hash, files }: ConsoleBuild, pathname: string): ConsoleFile {
  const [fileHash, name = "", ...rest] = pathname.slice(ASSETS.length).split("/");
  const file = fileHash === hash && rest.length === 0 ? files.get(name) : undefined;
  return (
    file ?? fail("not_found", "The console has no such file. Reload the page to get its current version.")
  );
}

function sendFile(request: Request, { path, contentType }: ConsoleFile): Response {
  const encoding = chooseEncoding(request.headers.get("accept-encoding") ?? "");
  const headers = {
    ...SAFETY_HEADERS,
    "content-type": contentType,
    "cache-control": UNCHANGING,
    vary: "accept-encoding",
    ...(encoding === null ? {} : { "content-encoding": encoding.name }),
  };
  return new Response(Bun.file(path + (encoding?.suffix ?? "")), { headers });
}

/** The compressed forms of a file, the smallest first. */
const ENCODINGS = [
  { name: "br", suffix: ".br" },
  { name: "gzip", suffix: ".gz" },
] as const;

function chooseEncoding(accepted: string): (typeof ENCODINGS)[number] | null {
  const offers = accepted.split(",").map((offer) => offer.trim().toLowerCase());
  // An offer with a weight of zero is a refusal.
  const accepts = (name: string) => offers.some((offer) => offer === name || isWeighted(offer, name));
  return ENCODINGS.find(({ name }) => accepts(name)) ?? null;
}

function isWeighted(offer: string, name: string): boolean {
  const [offered, weight] = offer.split(/\s*;\s*q=/);
  return offered === name && Number(weight) > 0;
}
