import type {
  JsonSchema,
  OpenApiDocument,
  OperationObject,
  ParameterObject,
  ResponseObject,
} from "../openapi/document.ts";
import { breakable } from "./breakable.ts";
import { type OperationAt, writeCurlExample } from "./curl-example.ts";
import { type Html, html, proseOf } from "./html.ts";
import {
  describeField,
  type FieldRow,
  joinSentences,
  listFieldRows,
  resolve,
  typeOf,
} from "./schema-rows.ts";

type Components = OpenApiDocument["components"];

/** Renders one operation: parameters, body, an example call and responses. */
export function renderOperation(at: OperationAt, components: Components): Html {
  const { method, path, operation } = at;
  return html`<article id="${operation.operationId}">
<h3><b class="${method.toLowerCase()}">${method}</b> <a href="#${operation.operationId}"><code>${breakable(path)}</code></a></h3>
<p class="summary">${proseOf(operation.summary)}.</p>
<p class="who">${operation["x-who-may-call"]}.</p>
${renderParameters(operation, components)}
${renderBody(operation, components)}
<h4>Example</h4>
<pre>${writeCurlExample(at, components.schemas)}</pre>
${renderAnswers(operation, components)}
</article>
`;
}

function renderParameters({ parameters }: OperationObject, components: Components): Html | null {
  if (parameters.length === 0) return null;
  const rows = parameters.map((one) => {
    const parameter = "$ref" in one ? findParameter(one.$ref, components) : one;
    const { name, required, description = "", schema } = parameter;
    const bounds = describeField({ ...schema, description: undefined }, components.schemas);
    return {
      name,
      type: `${typeOf(schema, components.schemas)}, ${parameter.in}`,
      required,
      description: joinSentences([description, bounds]),
    };
  });
  return html`<h4>Parameters</h4>${renderTable(rows, "required")}`;
}

function findParameter(ref: string, { parameters }: Components): ParameterObject {
  return parameters[ref.slice(ref.lastIndexOf("/") + 1)] as ParameterObject;
}

function renderBody({ requestBody }: OperationObject, { schemas }: Components): Html | null {
  const schema = (requestBody?.content["application/json"] ?? requestBody?.content["multipart/form-data"])
    ?.schema;
  if (schema === undefined) return null;
  const isOpen = resolve(schema, schemas)["additionalProperties"] !== false;
  const rows = listFieldRows(schema, schemas);
  // A union of schemas that are shown at their own operations.
  if (rows.length === 0) return html`<h4>Body</h4><p>${proseOf(describeField(schema, schemas))}</p>`;
  const more = isOpen ? html`<p class="note">Other fields are passed on to the provider.</p>` : null;
  return html`<h4>Body</h4>${renderTable(rows, "required")}${more}`;
}

/** Renders fields and marks the exceptions: required ones in requests, optional ones in responses. */
function renderTable(rows: readonly FieldRow[], mark: "required" | "optional"): Html {
  return html`<table><thead><tr><th>Name</th><th>Type</th><th>Description</th></tr></thead><tbody>${rows.map(
    ({ name, type, required, description }) =>
      html`<tr><td><code>${name}</code>${required === (mark === "required") ? html` <em class="${mark}">${mark}</em>` : null}</td><td>${type}</td><td>${proseOf(description)}</td></tr>`,
  )}</tbody></table>`;
}

function renderAnswers({ responses }: OperationObject, components: Components): Html {
  const all = Object.entries(responses).map(([status, response]) => ({
    status,
    response: "$ref" in response ? findResponse(response.$ref, components) : response,
  }));
  const good = all.filter(({ status }) => Number(status) < 400);
  const bad = all.filter(({ status }) => Number(status) >= 400);
  const errors = html`<details><summary>Errors <span class="statuses">${bad
    .map(({ status }) => status)
    .join(" ")}</span></summary><dl>${bad.map(
    ({ status, response }) => html`<dt>${status}</dt><dd>${proseOf(response.description)}</dd>`,
  )}</dl></details>`;
  return html`<h4>Responses</h4>${good.map(({ status, response }) =>
    renderAnswer(status, response, components),
  )}${errors}`;
}

function findResponse(ref: string, { responses }: Components): ResponseObject {
  return responses[ref.slice(ref.lastIndexOf("/") + 1)] as ResponseObject;
}

function renderAnswer(status: string, response: ResponseObject, components: Components): Html {
  const bodies = Object.entries(response.content ?? {});
  const types = bodies.map(([mediaType]) => mediaType).join(", ");
  const heading = html`<b>${status}</b> ${proseOf(response.description)}${types === "" ? null : html` <span class="media">${types}</span>`}`;
  const headers = Object.keys(response.headers ?? {}).join(", ");
  return html`<details><summary>${heading}</summary>${bodies.map(([mediaType, { schema }]) =>
    renderAnswerBody(mediaType, schema, components),
  )}<p class="note">Headers: ${headers}</p></details>`;
}

function renderAnswerBody(mediaType: string, schema: JsonSchema, { schemas }: Components): Html | null {
  const rows = listFieldRows(schema, schemas);
  if (rows.length === 0) return null;
  const isStream = mediaType === "text/event-stream";
  return html`${isStream ? html`<p class="note">The data of each event:</p>` : null}${renderTable(rows, "optional")}`;
}
