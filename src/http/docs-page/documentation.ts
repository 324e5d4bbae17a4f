import { prepareText, sendPrepared } from "../context/prepared-list.ts";
import { describeApi } from "../openapi/describe-api.ts";
import { DOCS_STYLE } from "./docs-style.ts";
import { renderDocs } from "./render-docs.ts";

/** Made when it is first asked for, and then kept: it is the same as long as the process runs. */
function makeOnce<Made extends object>(make: () => Made): () => Made {
  let made: Made | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

const document = makeOnce(describeApi);
const openApiText = makeOnce(() => prepareText(JSON.stringify(document())));
const docsText = makeOnce(() => prepareText(renderDocs(document())));

/** `GET /openapi.json`: the OpenAPI document of everything that is served. */
export function getOpenApi(request: Request): Response {
  return sendPrepared(request, openApiText(), {
    "content-type": "application/json",
    // Tools in a browser read it from elsewhere; it says nothing that is not public.
    "access-control-allow-origin": "*",
  });
}

/** `GET /docs`: the same for people, as one page that fetches nothing and runs nothing. */
export function getDocs(request: Request): Response {
  return sendPrepared(request, docsText(), PAGE_HEADERS);
}

const STYLE_HASH = new Bun.CryptoHasher("sha256").update(DOCS_STYLE).digest("base64");

const PAGE_HEADERS = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy": `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
};
