/**
 * Renders `src/console/api/schema.ts`: the types of the management API for the console, from the OpenAPI document. The file is not part of
 * the repository: `npm ci` writes it, and so does `npm run check`.
 */
import { join } from "node:path";
import type { JsonSchema, OpenApiDocument, OperationObject } from "../../src/http/openapi/document.ts";

/** The file that is written. */
export const TYPES_FILE = join(import.meta.dir, "../../src/console/api/schema.ts");

const HEAD = `/** The types of the API. Generated from the OpenAPI document by \`npm run generate\`; do not edit. */\n\n`;

/** Returns the text of the file with the types of a document. */
export function renderConsoleTypes(document: OpenApiDocument): string {
  const schemas = Object.entries(document.components.schemas)
    .map(([name, schema]) => `  ${quote(name)}: ${typeOf(schema)};`)
    .sort();
  const operations = Object.entries(document.paths)
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) =>
        renderOperation(`${method.toUpperCase()} ${path}`, operation as OperationObject),
      ),
    )
    .sort();
  return `${HEAD}/** The named schemas. */\nexport interface Schemas {\n${schemas.join("\n")}\n}\n\n/** The operations by method and path. */\nexport interface Operations {\n${operations.join("\n")}\n}\n`;
}

function renderOperation(name: string, operation: OperationObject): string {
  const body = operation.requestBody?.content["application/json"]?.schema;
  const parts = [
    `params: ${parametersOf(operation, "path")}`,
    `query: ${parametersOf(operation, "query")}`,
    `body: ${body === undefined ? "null" : typeOf(body)}`,
    `response: ${responseOf(operation)}`,
  ];
  return `  ${quote(name)}: { ${parts.join("; ")} };`;
}

function parametersOf({ parameters }: OperationObject, place: "path" | "query"): string {
  const fields = parameters.flatMap((parameter) => {
    if (!("name" in parameter) || parameter.in !== place) return [];
    const isRequired = place === "path" || parameter.required === true;
    return [`${quote(parameter.name)}${isRequired ? "" : "?"}: ${typeOf(parameter.schema ?? {})}`];
  });
  return fields.length === 0 ? "object" : `{ ${fields.join("; ")} }`;
}

function responseOf({ responses }: OperationObject): string {
  const successes = Object.entries(responses).filter(([status]) => status.startsWith("2"));
  const types = successes.map(([, response]) => {
    const content = (response as { content?: Record<string, { schema?: JsonSchema }> }).content;
    const schema = content?.["application/json"]?.schema;
    return schema === undefined ? "unknown" : typeOf(schema);
  });
  return [...new Set(types)].join(" | ") || "unknown";
}

/** Returns the TypeScript type of a schema. What a type cannot express, such as a pattern, is left out. */
function typeOf(schema: JsonSchema): string {
  const { $ref, type } = schema;
  if (typeof $ref === "string") return `Schemas[${quote($ref.split("/").at(-1) as string)}]`;
  if (schema["const"] !== undefined) return quote(schema["const"]);
  const members = schema["enum"] ?? schema["anyOf"] ?? schema["oneOf"];
  if (Array.isArray(members)) {
    const isValues = schema["enum"] !== undefined;
    return union(members.map((member) => (isValues ? quote(member) : typeOf(member as JsonSchema))));
  }
  const all = schema["allOf"];
  if (Array.isArray(all)) return all.map((member) => `(${typeOf(member as JsonSchema)})`).join(" & ");
  if (Array.isArray(type)) return union(type.map((one) => typeOf({ ...schema, type: one })));
  return typeOfName(type as string | undefined, schema);
}

function typeOfName(type: string | undefined, schema: JsonSchema): string {
  if (type === "object") return typeOfObject(schema);
  if (type === "array") return `(${typeOf((schema["items"] ?? {}) as JsonSchema)})[]`;
  if (type === "integer" || type === "number") return "number";
  return type === "string" || type === "boolean" || type === "null" ? type : "unknown";
}

function typeOfObject(schema: JsonSchema): string {
  const required = (schema["required"] ?? []) as readonly string[];
  const properties = Object.entries((schema["properties"] ?? {}) as Record<string, JsonSchema>);
  const fields = properties.map(
    ([name, field]) => `${quote(name)}${required.includes(name) ? "" : "?"}: ${typeOf(field)}`,
  );
  const more = schema["additionalProperties"];
  if (fields.length > 0) return `{ ${fields.join("; ")} }`;
  return `Record<string, ${typeof more === "object" && more !== null ? typeOf(more as JsonSchema) : "unknown"}>`;
}

function union(types: readonly string[]): string {
  return [...new Set(types)].join(" | ");
}

function quote(value: unknown): string {
  return JSON.stringify(value);
}
