/**
 * Renders `src/console/api/schema.ts`: the types of the management API for the console, from the OpenAPI document. The file is not part of
 * the repository: `npm ci` writes it, and so does `npm run check`.
 */
import { join } from "node:path";
import type { JsonSchema, OpenApiDocument, OperationObject } from "../../src/http/openapi/document.ts";

/** The file that is written. */
export const TYPES_FILE = join(import.meta.dir, "../../src/console/api/schema.ts");

const HEAD =
  "/** The types of the API. Generated from the OpenAPI document by `npm run generate`; do not edit. */";

/** A record that the document repeats and does not name gets a name if its type has at least this many characters. */
const MIN_NAMED = 80;

/** Where a record stands: the names of the schema or operation and of the fields above it. */
type Place = readonly string[];

/** Returns the text of the file with the types of a document. */
export function renderConsoleTypes(document: OpenApiDocument): string {
  const known = new Set(Object.keys(document.components.schemas));
  const counting = new TypePrinter(new Map(), known, null);
  printAll(document, counting);
  const naming = new TypePrinter(nameRepeated(counting.found), known, counting);
  const { schemas, operations } = printAll(document, naming);
  const repeated = naming.printNamed();
  return `${[HEAD, ...schemas, ...repeated].join("\n\n")}\n\n/** The operations by method and path. */\nexport interface Operations {\n${operations.join("\n")}\n}\n`;
}

function printAll({ components, paths }: OpenApiDocument, types: TypePrinter) {
  const schemas = Object.entries(components.schemas)
    .sort(([one], [other]) => (one < other ? -1 : 1))
    .map(([name, schema]) => declare(name, types.print(schema, [name])));
  const operations = Object.entries(paths)
    .flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) =>
        printOperation(`${method.toUpperCase()} ${path}`, operation as OperationObject, types),
      ),
    )
    .sort();
  return { schemas, operations };
}

function declare(name: string, type: string): string {
  return `export type ${name} = ${type};`;
}

/** Names the records that were found more than once: as the schema that they are, else after the place where they were found first. */
function nameRepeated(found: ReadonlyMap<string, Found>): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  const used = new Set<string>();
  for (const [type, { times, name }] of found) {
    if (times < 2 || type.length < MIN_NAMED) continue;
    let unused = name;
    for (let i = 2; used.has(unused); i++) unused = `${name}${i}`;
    used.add(unused);
    names.set(type, unused);
  }
  return names;
}

function printOperation(name: string, operation: OperationObject, types: TypePrinter): string {
  const place = [operation.operationId];
  const body = operation.requestBody?.content["application/json"]?.schema;
  const parts = [
    `params: ${printParameters(operation, "path", types)}`,
    `query: ${printParameters(operation, "query", types)}`,
    `body: ${body === undefined ? "null" : types.print(body, [...place, "body"])}`,
    `response: ${printResponse(operation, types)}`,
  ];
  return `  ${quote(name)}: { ${parts.join("; ")} };`;
}

function printParameters(
  { parameters, operationId }: OperationObject,
  from: "path" | "query",
  types: TypePrinter,
): string {
  const fields = parameters.flatMap((parameter) => {
    if (!("name" in parameter) || parameter.in !== from) return [];
    const isRequired = from === "path" || parameter.required === true;
    const type = types.print(parameter.schema ?? {}, [operationId, parameter.name]);
    return [`${quote(parameter.name)}${isRequired ? "" : "?"}: ${type}`];
  });
  return fields.length === 0 ? "object" : `{ ${fields.join("; ")} }`;
}

function printResponse({ responses, operationId }: OperationObject, types: TypePrinter): string {
  const successes = Object.entries(responses).filter(([status]) => status.startsWith("2"));
  const printed = successes.map(([, response]) => {
    const content = (response as { content?: Record<string, { schema?: JsonSchema }> }).content;
    const schema = content?.["application/json"]?.schema;
    return schema === undefined ? "unknown" : types.print(schema, [operationId]);
  });
  return union(printed) || "unknown";
}

/** How often a record was found, and the name that it would get. */
interface Found {
  readonly times: number;
  readonly name: string;
}

/** Prints the TypeScript types of schemas. What a type cannot express, such as a pattern, is left out. */
class TypePrinter {
  /** The records of the document, as they are without names. */
  readonly found = new Map<string, Found>();
  readonly #named = new Map<string, string>();

  /**
   * `names`: of records that get a type of their own, by their text without names. `schemas`: names that are declared anyway. `plain`: prints
   * without names; null for that printer itself, which counts instead.
   */
  constructor(
    private readonly names: ReadonlyMap<string, string>,
    private readonly schemas: ReadonlySet<string>,
    private readonly plain: TypePrinter | null,
  ) {}

  /** Returns the declarations of the records that got a name, in the order of the names. */
  printNamed(): string[] {
    const entries = [...this.#named].sort(([one], [other]) => (one < other ? -1 : 1));
    return entries.map(([name, type]) => declare(name, type));
  }

  /** Returns the type of a schema that stands at a place. */
  print(schema: JsonSchema, place: Place): string {
    const { $ref, type } = schema;
    if (typeof $ref === "string") return $ref.split("/").at(-1) as string;
    if (schema["const"] !== undefined) return quote(schema["const"]);
    if (Array.isArray(schema["enum"])) return union(schema["enum"].map(quote));
    const members = schema["anyOf"] ?? schema["oneOf"];
    if (Array.isArray(members))
      return union(members.map((member) => this.print(member as JsonSchema, place)));
    const all = schema["allOf"];
    if (Array.isArray(all)) return all.map((one) => `(${this.print(one as JsonSchema, place)})`).join(" & ");
    if (Array.isArray(type)) return union(type.map((one) => this.print({ ...schema, type: one }, place)));
    if (type === "object") return this.#printObject(schema, place);
    if (type === "array") return `(${this.print((schema["items"] ?? {}) as JsonSchema, place)})[]`;
    if (type === "integer" || type === "number") return "number";
    return type === "string" || type === "boolean" || type === "null" ? type : "unknown";
  }

  #printObject(schema: JsonSchema, place: Place): string {
    const required = (schema["required"] ?? []) as readonly string[];
    const properties = Object.entries((schema["properties"] ?? {}) as Record<string, JsonSchema>);
    if (properties.length === 0) {
      const more = schema["additionalProperties"];
      const type =
        typeof more === "object" && more !== null ? this.print(more as JsonSchema, place) : "unknown";
      return `Record<string, ${type}>`;
    }
    const kind = properties.map(([, field]) => field["const"]).find((value) => typeof value === "string");
    const at = kind === undefined ? place : [...place, String(kind)];
    const fields = properties.map(
      ([name, field]) =>
        `${quote(name)}${required.includes(name) ? "" : "?"}: ${this.print(field, [...at, name])}`,
    );
    return this.#name(`{ ${fields.join("; ")} }`, schema, at);
  }

  #name(type: string, schema: JsonSchema, place: Place): string {
    const name = place.map(capitalize).join("");
    if (this.plain === null) {
      const found = this.found.get(type);
      if (found === undefined) this.found.set(type, { times: 1, name });
      else this.found.set(type, { times: found.times + 1, name: place.length === 1 ? name : found.name });
      return type;
    }
    const named = this.names.get(this.plain.print(schema, place));
    // The declaration of a schema has its own text.
    if (named === undefined || (place.length === 1 && named === name)) return type;
    if (!this.schemas.has(named)) this.#named.set(named, type);
    return named;
  }
}

function capitalize(word: string): string {
  return word
    .split(/[^A-Za-z0-9]+/)
    .map((part) => part.charAt(0).toUpperCase() + part.slice(1))
    .join("");
}

function union(types: readonly string[]): string {
  return [...new Set(types)].join(" | ");
}

function quote(value: unknown): string {
  return JSON.stringify(value);
}
