import type { OpenApiDocument } from "../openapi/document.ts";
import { breakable } from "./breakable.ts";
import type { OperationAt } from "./curl-example.ts";
import { type Html, html, proseOf } from "./html.ts";
import { REFERENCE_STYLE } from "./reference-style.ts";
import { renderOperation } from "./render-operation.ts";

/** Renders the OpenAPI document as an HTML page without scripts or external resources. */
export function renderReference(document: OpenApiDocument): string {
  const { info, tags, components } = document;
  const groups = tags.map(({ name }) => ({ name, operations: operationsOf(document, name) }));
  const navigation = html`<nav aria-label="Endpoints">${groups.map(renderLinks)}</nav>`;
  const page = html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${info.title} ${info.version} – API</title>
<style>${{ markup: REFERENCE_STYLE }}</style>
</head>
<body>
<header class="top"><a href="../docs">${info.title}</a> <span class="version">${info.version}</span> <a class="download" href="../docs">Documents</a> <a href="../openapi.json">openapi.json</a></header>
<div class="frame">
<details class="menu"><summary>Endpoints</summary>${navigation}</details>
<aside>${navigation}</aside>
<main id="top">
<h1>API</h1>
${info.description.split("\n\n").map((paragraph) => html`<p>${proseOf(paragraph)}</p>`)}
<p>The examples use these shell variables:</p>
<pre>${VARIABLES}</pre>
${groups.map(
  ({ name, operations }) =>
    html`<section class="group"><h2 id="${anchorOf(name)}">${name}</h2>${operations.map((at) =>
      renderOperation(at, components),
    )}</section>`,
)}
</main>
</div>
</body>
</html>
`;
  return page.markup;
}

const VARIABLES = `export GATEWAY_URL=http://127.0.0.1:8080
export INFERENCE_KEY=gw_… MANAGEMENT_KEY=gw_…`;

function operationsOf({ paths }: OpenApiDocument, tag: string): OperationAt[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, operation]) => operation.tags.includes(tag))
      .map(([method, operation]) => ({ method: method.toUpperCase(), path, operation })),
  );
}

function renderLinks({
  name,
  operations,
}: {
  readonly name: string;
  readonly operations: OperationAt[];
}): Html {
  return html`<h3><a href="#${anchorOf(name)}">${name}</a></h3><ul>${operations.map(
    ({ method, path, operation }) =>
      html`<li><a href="#${operation.operationId}"><b class="${method.toLowerCase()}">${method}</b> ${shorten(path)}</a></li>`,
  )}</ul>`;
}

/** Removes the prefix that all paths share. */
function shorten(path: string): Html {
  return breakable(path.replace(/^\/api\/(admin|gateway)(?=\/)/, ""));
}

function anchorOf(tag: string): string {
  return `tag-${tag.toLowerCase().replaceAll(" ", "-")}`;
}
