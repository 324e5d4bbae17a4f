import type { RequestContext } from "../context/context.ts";
import { type Html, html } from "./html.ts";

const HEADERS = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy":
    "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  vary: "accept",
};

/** A link, its name in JSON, and what it leads to. */
interface Link {
  readonly name: string;
  readonly path: string;
  readonly about: string;
}

const LINKS: readonly Link[] = [
  { name: "docs", path: "/docs", about: "Documents" },
  { name: "reference", path: "/docs/reference", about: "All endpoints of the API" },
  { name: "openapi", path: "/openapi.json", about: "OpenAPI document" },
  { name: "models", path: "/api/gateway/models", about: "Models that are served" },
  { name: "health", path: "/healthz", about: "Whether the process runs" },
  { name: "readiness", path: "/readyz", about: "Whether requests can be answered" },
];
const CONSOLE: Link = { name: "console", path: "/console", about: "Console" };

/** `GET /`: tells a browser what it has reached, and other clients the same as JSON. */
export function getRoot(request: Request, { deps }: RequestContext): Response {
  const links = deps.browser.console === null ? LINKS : [CONSOLE, ...LINKS];
  const acceptsHtml = request.headers.get("accept")?.includes("text/html") === true;
  if (acceptsHtml) return new Response(renderPage(links).markup, { headers: HEADERS });
  const paths = Object.fromEntries(links.map(({ name, path }) => [name, path]));
  const body = { object: "gateway", base_path: "/api/gateway", ...paths };
  return Response.json(body, { headers: { vary: "accept" } });
}

function renderPage(links: readonly Link[]): Html {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>AI gateway</title>
</head>
<body>
<main>
<h1>AI gateway</h1>
<p>Clients call models at <code>/api/gateway</code> on this address, with a key.</p>
<ul>
${links.map(({ path, about }) => html`<li><a href="${path.slice(1)}">${about}</a></li>\n`)}</ul>
</main>
</body>
</html>
`;
}
