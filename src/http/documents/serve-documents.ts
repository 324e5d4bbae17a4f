import { fail } from "../../base/failures/errors.ts";
import type { RequestContext } from "../context/context.ts";
import type { DocumentSource } from "../context/document-source.ts";
import { sendPrepared } from "../context/prepared-response.ts";
import { urlOf } from "../context/url-of.ts";
import { DOCUMENT_SCRIPT } from "./document-script.ts";
import { DOCUMENT_STYLE } from "./document-style.ts";
import { Manual } from "./manual.ts";
import { relativeUrl } from "./page-path.ts";

const ROOT = "/docs";
const SEARCH = "search";

/** The documents of a gateway, which are opened when a page is first read. */
const opened = new WeakMap<DocumentSource, Promise<Manual>>();

const hashOf = (text: string): string => new Bun.CryptoHasher("sha256").update(text).digest("base64");

const SAFETY_HEADERS = {
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
};

/** Pages run only the script that copies commands, load only pictures of the gateway, and send forms only to it. */
const PAGE_HEADERS = {
  ...SAFETY_HEADERS,
  "content-type": "text/html; charset=utf-8",
  "content-security-policy": `default-src 'none'; style-src 'sha256-${hashOf(DOCUMENT_STYLE)}'; script-src 'sha256-${hashOf(DOCUMENT_SCRIPT)}'; img-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'`,
};

/** Styles are parts of the pictures in SVG. */
const FILE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'";

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  md: "text/markdown; charset=utf-8",
  webp: "image/webp",
  svg: "image/svg+xml",
};

/**
 * `GET /docs` and all paths below it: the documents as pages without external resources, their pictures, a search, and with `.md` each
 * page as Markdown.
 */
export async function getDocuments(request: Request, { deps }: RequestContext): Promise<Response> {
  const { pathname, searchParams } = urlOf(request);
  const path = decodePath(pathname);
  if (pathname.endsWith("/")) return redirect(pathname);
  const manual = await open(deps.browser.documents);
  if (path === SEARCH) return sendPage(200, await manual.searchFor(searchParams.get("q") ?? ""));
  const file = manual.find(path);
  if (file === null) return sendMissing(request, manual, path);
  if (file.endsWith(".md") && file !== path)
    return sendPrepared(request, await manual.readPage(file), PAGE_HEADERS);
  return sendPrepared(request, await manual.readFile(file), {
    ...SAFETY_HEADERS,
    "content-security-policy": FILE_POLICY,
    "content-type": CONTENT_TYPES[file.split(".").at(-1) as string] as string,
  });
}

function open(source: DocumentSource): Promise<Manual> {
  const known = opened.get(source);
  if (known !== undefined) return known;
  const manual = Manual.open(source).catch((error: unknown) => {
    opened.delete(source);
    throw error;
  });
  opened.set(source, manual);
  return manual;
}

/** Returns the path below `/docs`. A path that is not encoded correctly is that of no file. */
function decodePath(pathname: string): string {
  const path = pathname.slice(ROOT.length + 1);
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}

/** Relative links of a page would lead elsewhere from a path that ends with a slash. */
function redirect(pathname: string): Response {
  const target = pathname.replace(/\/+$/, "").slice(1);
  return new Response(null, { status: 308, headers: { location: relativeUrl(pathname.slice(1), target) } });
}

function sendPage(status: number, page: string): Response {
  return new Response(page, { status, headers: { ...PAGE_HEADERS, "cache-control": "no-store" } });
}

/** @throws GatewayError `not_found`, if the client is no browser. */
function sendMissing(request: Request, manual: Manual, path: string): Response {
  if (request.headers.get("accept")?.includes("text/html") !== true)
    return fail(
      "not_found",
      "There is no document at this path. GET /docs lists them, and GET /docs/reference has all endpoints of the API.",
    );
  return sendPage(404, manual.renderMissing(path));
}
