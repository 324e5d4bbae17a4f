import type { JsonSchema, OpenApiDocument } from "../openapi/document.ts";

/** A field of a body: a line of its table. */
export interface FieldRow {
  /** With what it is in: `data[].policy.allowed_models`. */
  readonly name: string;
  readonly type: string;
  readonly required: boolean;
  readonly description: string;
}

type Schemas = OpenApiDocument["components"]["schemas"];

/** How deep fields of fields are shown. */
const MAX_DEPTH = 4;

/** The fields of a schema, those of objects in it behind them. */
export function listFieldRows(schema: JsonSchema, schemas: Schemas, within = "", depth = 0): FieldRow[] {
  const { schema: plain, suffix } = peel(schema, schemas);
  const properties = (plain["properties"] ?? {}) as Readonly<Record<string, JsonSchema>>;
  const required = (plain["required"] ?? []) as readonly string[];
  const prefix = within === "" && suffix === "" ? "" : `${within}${suffix}.`;
  return Object.entries(properties).flatMap(([name, field]) => {
    const row = {
      name: prefix + name,
      type: typeOf(field, schemas),
      required: required.includes(name),
      description: describeField(field, schemas),
    };
    return depth >= MAX_DEPTH ? [row] : [row, ...listFieldRows(field, schemas, row.name, depth + 1)];
  });
}

/** What is inside of references, arrays and null: the object whose fields are shown. */
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

/** The schema behind a reference. */
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

/** A schema's type in words: `string or null`, `array of string`, `one of "a", "b"`. */
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

/** What a field means, and its bounds. */
export function describeField(schema: JsonSchema, schemas: Schemas): string {
  const found = resolve(schema, schemas);
  const inner = optionsOf(found).find((option) => option["type"] !== "null") ?? {};
  const bounds = { ...resolve(inner, schemas), ...found };
  const said = schema["description"] ?? found["description"] ?? bounds["description"];
  const sentences = [
    typeof said === "string" ? said : "",
    describeRange(bounds, "minimum", "maximum", ""),
    describeRange(bounds, "minLength", "maxLength", " characters"),
    describeRange(bounds, "minItems", "maxItems", " items"),
    found["default"] === undefined ? "" : `Default: ${JSON.stringify(found["default"])}`,
  ];
  return sentences.filter((sentence) => sentence !== "").join(". ");
}

function describeRange(schema: JsonSchema, low: string, high: string, unit: string): string {
  const [from, to] = [schema[low], schema[high]];
  if (from !== undefined && to !== undefined) return `${from} to ${to}${unit}`;
  if (to !== undefined) return `At most ${to}${unit}`;
  return from === undefined ? "" : `At least ${from}${unit}`;
}
