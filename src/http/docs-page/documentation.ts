import { prepareText, sendPrepared } from "../context/prepared-response.ts";
import { describeApi } from "../openapi/describe-api.ts";
import { REFERENCE_STYLE } from "./reference-style.ts";
import { renderReference } from "./render-reference.ts";

/** Returns a function that calls `make` once and returns the same result every time. */
function makeOnce<Made extends object>(make: () => Made): () => Made {
  let made: Made | undefined;
  return () => {
    made ??= make();
    return made;
  };
}

const document = makeOnce(describeApi);
const openApiText = makeOnce(() => prepareText(JSON.stringify(document())));
const referenceText = makeOnce(() => prepareText(renderReference(document())));

/** `GET /openapi.json`: the OpenAPI document of all endpoints. */
export function getOpenApi(request: Request): Response {
  return sendPrepared(request, openApiText(), {
    "content-type": "application/json",
    // Browser tools on other origins read it; its content is public.
    "access-control-allow-origin": "*",
  });
}

/** `GET /docs/reference`: the OpenAPI document as an HTML page without scripts or external resources. */
export function getReference(request: Request): Response {
  return sendPrepared(request, referenceText(), PAGE_HEADERS);
}

const STYLE_HASH = new Bun.CryptoHasher("sha256").update(REFERENCE_STYLE).digest("base64");

const PAGE_HEADERS = {
  "content-type": "text/html; charset=utf-8",
  "content-security-policy": `default-src 'none'; style-src 'sha256-${STYLE_HASH}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`,
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
};
