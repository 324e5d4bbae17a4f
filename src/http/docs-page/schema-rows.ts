import type { JsonSchema, OpenApiDocument } from "../openapi/document.ts";

/** A row of the table of a body's fields. */
export interface FieldRow {
  /** The path of the field: `data[].policy.allowed_models`. */
  readonly name: string;
  readonly type: string;
  readonly required: boolean;
  readonly description: string;
}

type Schemas = OpenApiDocument["components"]["schemas"];

/** The deepest level of nested fields that is shown. */
const MAX_DEPTH = 4;

/** The field whose fields are listed. */
interface Parent {
  readonly name: string;
  readonly depth: number;
}

const ROOT: Parent = { name: "", depth: 0 };

/** Returns the fields of a schema, each followed by the fields inside of it. */
export function listFieldRows(schema: JsonSchema, schemas: Schemas, parent = ROOT): FieldRow[] {
  const { schema: plain, suffix } = peel(schema, schemas);
  const properties = (plain["properties"] ?? {}) as Readonly<Record<string, JsonSchema>>;
  const required = (plain["required"] ?? []) as readonly string[];
  const path = parent.name + suffix;
  const prefix = path === "" ? "" : `${path}.`;
  const depth = parent.depth + 1;
  return Object.entries(properties).flatMap(([name, field]) => {
    const row = {
      name: prefix + name,
      type: typeOf(field, schemas),
      required: required.includes(name),
      description: describeField(field, schemas),
    };
    return depth > MAX_DEPTH ? [row] : [row, ...listFieldRows(field, schemas, { name: row.name, depth })];
  });
}

/** Returns the object schema inside of references, arrays and nullable schemas. */
function peel(schema: JsonSchema, schemas: Schemas): { schema: JsonSchema; suffix: string } {
  const found = resolve(schema, schemas);
  if (found["type"] === "array" && isSchema(found["items"])) {
    const inner = peel(found["items"], schemas);
    return { ...inner, suffix: `[]${inner.suffix}` };
  }
  const options = optionsOf(found).filter((option) => option["type"] !== "null");
  const [only] = options;
  return options.length === 1 && only !== undefined ? peel(only, schemas) : { schema: found, suffix: "" };
}

/** Returns the schema that a reference points to. */
export function resolve(schema: JsonSchema, schemas: Schemas): JsonSchema {
  const ref = schema["$ref"];
  if (typeof ref !== "string") return schema;
  const found = schemas[ref.slice(ref.lastIndexOf("/") + 1)];
  return found === undefined ? schema : resolve(found, schemas);
}

function optionsOf(schema: JsonSchema): readonly JsonSchema[] {
  return (schema["anyOf"] ?? schema["oneOf"] ?? []) as readonly JsonSchema[];
}

function isSchema(value: unknown): value is JsonSchema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns the type of a schema as text: `string or null`, `array of string`, `"a" or "b"`. */
export function typeOf(schema: JsonSchema, schemas: Schemas): string {
  const found = resolve(schema, schemas);
  const options = optionsOf(found);
  if (options.length > 0) return [...new Set(options.map((option) => typeOf(option, schemas)))].join(" or ");
  if (found["const"] !== undefined) return JSON.stringify(found["const"]);
  const words = found["enum"];
  if (Array.isArray(words)) return words.map((word) => JSON.stringify(word)).join(" or ");
  const { type } = found;
  if (type === "array" && isSchema(found["items"])) return `array of ${typeOf(found["items"], schemas)}`;
  if (Array.isArray(type)) return type.join(" or ");
  return typeof type === "string" ? nameType(type, found["format"]) : "any";
}

const FORMATS: Readonly<Record<string, string>> = { "date-time": "time", date: "day" };

function nameType(type: string, format: unknown): string {
  return typeof format === "string" ? (FORMATS[format] ?? type) : type;
}

/** Returns the description of a field with its bounds and default. */
export function describeField(schema: JsonSchema, schemas: Schemas): string {
  const found = resolve(schema, schemas);
  const inner = optionsOf(found).find((option) => option["type"] !== "null") ?? {};
  const bounds = { ...resolve(inner, schemas), ...found };
  const text = schema["description"] ?? found["description"] ?? bounds["description"];
  const sentences = [
    typeof text === "string" ? text : "",
    describeRange(bounds["minimum"], bounds["maximum"], ""),
    describeRange(bounds["minLength"], bounds["maxLength"], " characters"),
    describeRange(bounds["minItems"], bounds["maxItems"], " items"),
    found["default"] === undefined ? "" : `Default: ${JSON.stringify(found["default"])}`,
  ];
  return joinSentences(sentences);
}

/** Joins sentences to a paragraph. Adds the full stops that are missing, and leaves out empty sentences. */
export function joinSentences(sentences: readonly string[]): string {
  return sentences
    .filter((sentence) => sentence !== "")
    .map((sentence) => (sentence.endsWith(".") ? sentence : `${sentence}.`))
    .join(" ");
}

function describeRange(from: unknown, to: unknown, unit: string): string {
  if (from !== undefined && to !== undefined) return `${from} to ${to}${unit}`;
  if (to !== undefined) return `At most ${to}${unit}`;
  return from === undefined ? "" : `At least ${from}${unit}`;
}
