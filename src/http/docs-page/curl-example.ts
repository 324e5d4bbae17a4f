import type { JsonSchema, OpenApiDocument, OperationObject, ParameterObject } from "../openapi/document.ts";
import { resolve } from "./schema-rows.ts";

type Schemas = OpenApiDocument["components"]["schemas"];

/** An operation with its method and path. */
export interface OperationAt {
  /** Upper-case. */
  readonly method: string;
  readonly path: string;
  readonly operation: OperationObject;
}

/** Returns an example call of an operation with curl. Values come from shell variables such as `$GATEWAY_URL` and `$USER_ID`. */
export function writeCurlExample({ method, path, operation }: OperationAt, schemas: Schemas): string {
  const url = `"$GATEWAY_URL${fillPath(path, operation)}${writeQuery(operation)}"`;
  const schema = operation.requestBody?.content["application/json"]?.schema;
  const body = schema === undefined ? null : quote(JSON.stringify(exampleOf(schema, schemas)));
  const usual = operation.requestBody === undefined ? "GET" : "POST";
  const words = [`curl -sS${method === usual ? "" : ` -X ${method}`} ${url}`];
  const form = operation.requestBody?.content["multipart/form-data"]?.schema;
  const isSigned = operation.security.some((scheme) => "webhookSignature" in scheme);
  if (isSigned && body !== null) return signExample(words, body);
  words.push(...keyHeader(operation), ...sessionOptions(method, operation));
  if (body !== null) words.push('-H "Content-Type: application/json"', `-d ${body}`);
  if (form !== undefined) words.push(...formOptions(form, schemas));
  return words.join(" \\\n  ");
}

/** Returns the options with the fields of a form; files come from variables such as `$FILE`. */
function formOptions(schema: JsonSchema, schemas: Schemas): readonly string[] {
  const { properties = {} } = resolve(schema, schemas) as {
    readonly properties?: Readonly<Record<string, JsonSchema>>;
  };
  const example = exampleOf(schema, schemas) as Readonly<Record<string, unknown>>;
  return Object.entries(example).map(([name, value]) => {
    const isFile = properties[name]?.["format"] === "binary";
    return `-F ${quote(`${name}=${isFile ? `@$${name.toUpperCase()}` : value}`)}`;
  });
}

/** Returns the option with the API key, if the operation needs one. */
function keyHeader({ security }: OperationObject): readonly string[] {
  if (security.some((scheme) => "managementKey" in scheme))
    return ['-H "Authorization: Bearer $MANAGEMENT_KEY"'];
  if (needsSession(security)) return [];
  const needsKey = security.length > 0 && security.every((scheme) => Object.keys(scheme).length > 0);
  return needsKey ? ['-H "Authorization: Bearer $INFERENCE_KEY"'] : [];
}

/** Returns the options with the cookie of a console session, if the operation needs one. Changes must come from the gateway's origin. */
function sessionOptions(method: string, { security }: OperationObject): readonly string[] {
  if (!needsSession(security)) return [];
  const cookie = '-b "gateway_session=$CONSOLE_SESSION"';
  return method === "GET" ? [cookie] : [cookie, '-H "Origin: $GATEWAY_URL"'];
}

function needsSession(security: OperationObject["security"]): boolean {
  return security.length > 0 && security.every((scheme) => "consoleSession" in scheme);
}

function signExample(words: readonly string[], body: string): string {
  return [
    `body=${body}`,
    "time=$(date +%s)",
    'signature=$(printf \'%s.%s\' "$time" "$body" | openssl dgst -sha256 -hmac "$GATEWAY_WEBHOOK_SECRET" | sed \'s/^.* //\')',
    [
      ...words,
      '-H "Content-Type: application/json"',
      '-H "x-gateway-signature: t=$time,v1=$signature"',
      '-d "$body"',
    ].join(" \\\n  "),
  ].join("\n");
}

/** Replaces path parameters by their example, otherwise by a variable: `/users/{id}` becomes `/users/$USER_ID`. */
function fillPath(path: string, operation: OperationObject): string {
  const parts = path.split("/");
  const fill = (part: string, i: number) =>
    part.startsWith("{") ? fillPart(part.slice(1, -1), parts[i - 1] as string, operation) : part;
  return parts.map(fill).join("/");
}

function fillPart(name: string, before: string, operation: OperationObject): string {
  const parameter = parametersOf(operation).find((one) => one.in === "path" && one.name === name);
  const example = firstExample(parameter?.schema ?? {});
  if (typeof example === "string" || typeof example === "number") return String(example);
  const thing = before.replace(/s$/, "").replaceAll("-", "_");
  const stem = name.replace(/_?id$/, "");
  return `$${thing.endsWith(stem) ? thing : stem}_id`.toUpperCase();
}

/** Returns the query string with the required parameters. */
function writeQuery(operation: OperationObject): string {
  const needed = parametersOf(operation).filter((one) => one.in === "query" && one.required);
  const pairs = needed.map(({ name, schema }) => `${name}=${firstExample(schema) ?? "…"}`);
  return pairs.length === 0 ? "" : `?${pairs.join("&")}`;
}

function parametersOf({ parameters }: OperationObject): readonly ParameterObject[] {
  return parameters.filter((parameter): parameter is ParameterObject => "name" in parameter);
}

/** Returns an example body with the fields that are required or have an example. */
function exampleOf(schema: JsonSchema, schemas: Schemas): unknown {
  const found = resolve(schema, schemas);
  const example = firstExample(found);
  if (example !== undefined) return example;
  const { type } = found;
  if (type !== "object") return exampleOfLeaf(found);
  const required = (found["required"] ?? []) as readonly string[];
  const fields = Object.entries((found["properties"] ?? {}) as Readonly<Record<string, JsonSchema>>);
  return Object.fromEntries(
    fields
      .filter(
        ([name, field]) => required.includes(name) || firstExample(resolve(field, schemas)) !== undefined,
      )
      .map(([name, field]) => [
        name,
        isId(name, field) ? `$${name.toUpperCase()}` : exampleOf(field, schemas),
      ]),
  );
}

function isId(name: string, schema: JsonSchema): boolean {
  return name.endsWith("_id") && schema["type"] === "string";
}

function exampleOfLeaf(schema: JsonSchema): unknown {
  if (schema["const"] !== undefined) return schema["const"];
  if (Array.isArray(schema["enum"])) return schema["enum"][0];
  const { type } = schema;
  const word = Array.isArray(type) ? type[0] : type;
  if (word === "number" || word === "integer") return schema["minimum"] ?? 1;
  if (word === "boolean") return true;
  return word === "array" ? [] : "…";
}

function firstExample(schema: JsonSchema): unknown {
  const { examples } = schema;
  return Array.isArray(examples) ? examples[0] : undefined;
}

/** Quotes a text for the shell. Variables in it are expanded. */
function quote(text: string): string {
  const quoted = text.replaceAll("'", `'\\''`).replace(/\$[A-Z_]+/g, (variable) => `'"${variable}"'`);
  return `'${quoted}'`;
}
