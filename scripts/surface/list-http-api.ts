import { describeApi } from "../../src/http/openapi/describe-api.ts";
import type { OperationObject } from "../../src/http/openapi/document.ts";
import type { Entry } from "./entry.ts";
import { flattenSchema } from "./flatten-schema.ts";

/** Lists the operations of the OpenAPI document and the schemas that they name. */
export function* listHttpApi(): Generator<Entry> {
  const { paths, components } = describeApi();
  for (const [path, methods] of Object.entries(paths))
    for (const [method, operation] of Object.entries(methods))
      yield* listOperation(`${method.toUpperCase()} ${path}`, operation as OperationObject);
  for (const [name, schema] of Object.entries(components.schemas)) yield* flattenSchema(schema, [name]);
  for (const [name, header] of Object.entries(components.headers))
    yield* flattenSchema((header as { readonly schema?: unknown }).schema ?? {}, [`header ${name}`]);
}

function* listOperation(name: string, operation: OperationObject): Generator<Entry> {
  const security = (operation.security ?? []).map((way) => Object.keys(way).join(" and ") || "none");
  yield { path: [name], value: `key ${security.join(" or ")}` };
  for (const parameter of operation.parameters)
    if ("name" in parameter)
      yield* flattenSchema(
        parameter.schema ?? {},
        [name, `${parameter.in} ${parameter.name}`],
        parameter.required === true,
      );
  yield* listContent(operation.requestBody, [name, "body"]);
  for (const [status, response] of Object.entries(operation.responses)) {
    yield { path: [name, status], value: status.startsWith("2") ? listHeaders(response) : "" };
    yield* listContent(response, [name, status]);
  }
}

/** Errors have those of limits, whatever the operation. */
function listHeaders(response: object): string {
  const names = Object.keys((response as { readonly headers?: object }).headers ?? {}).sort();
  return names.length === 0 ? "" : `headers ${names.join(" ")}`;
}

function* listContent(holder: unknown, path: readonly string[]): Generator<Entry> {
  const { content = {} } = (holder ?? {}) as { readonly content?: Readonly<Record<string, object>> };
  for (const [type, media] of Object.entries(content))
    yield* flattenSchema((media as { readonly schema?: unknown }).schema ?? {}, [...path, type]);
}
