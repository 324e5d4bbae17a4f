import type { Schema } from "./schema.ts";

type Fields = Readonly<Record<string, unknown>>;

/** Keywords that are kept as they are. */
const KEPT = ["minimum", "maximum", "maxLength", "maxItems", "minItems"] as const;

/** What a reader of a document returns: the schema of the body, and the definitions that it refers to. */
export interface ReadSchema {
  readonly body: Schema;
  readonly definitions: Readonly<Record<string, Schema>>;
}

/** Reads the request of an operation from an OpenAPI document, parsed. @throws Error if it is not there. */
export function readOpenapi(document: Fields, path: string): ReadSchema {
  const operation = follow(document, ["paths", path, "post"]);
  const body = resolve(document, asFields(operation["requestBody"]));
  const content = asFields(follow(body, ["content", "application/json"])["schema"]);
  const reader = new OpenapiReader(document);
  return { body: reader.reduce(content), definitions: reader.definitions };
}

class OpenapiReader {
  readonly definitions: Record<string, Schema> = {};

  constructor(private readonly document: Fields) {}

  reduce(schema: Fields): Schema {
    const reference = schema["$ref"];
    if (typeof reference === "string") return withNull(schema, this.refer(reference));
    const { allOf, anyOf, oneOf } = schema;
    if (Array.isArray(allOf)) return withNull(schema, this.reduceAll(schema, allOf));
    const alternatives = anyOf ?? oneOf;
    // Where one of several fields must be there, some documents list them as alternatives of the same object.
    if (Array.isArray(alternatives) && schema["properties"] === undefined)
      return withNull(schema, { anyOf: alternatives.map((one) => this.reduce(asFields(one))) });
    if (Array.isArray(schema["type"]))
      return { anyOf: schema["type"].map((type) => this.reduce({ ...schema, type, nullable: false })) };
    return withNull(schema, this.reducePlain(schema));
  }

  private refer(reference: string): Schema {
    const name = reference.slice(reference.lastIndexOf("/") + 1);
    if (!Object.hasOwn(this.definitions, name)) {
      this.definitions[name] = {};
      this.definitions[name] = this.reduce(resolve(this.document, { $ref: reference }));
    }
    return { $ref: name };
  }

  /** Joins the members of all parts. A part that is no object, such as one with only a text, changes nothing. */
  private reduceAll(schema: Fields, parts: readonly unknown[]): Schema {
    const { allOf: _, nullable: __, ...rest } = schema;
    const objects = [...parts, rest].map((one) => this.flatten(resolve(this.document, asFields(one))));
    const withMembers = objects.filter((one) => one.properties !== undefined);
    if (withMembers.length === 0) return objects.find((one) => Object.keys(one).length > 0) ?? {};
    return {
      type: "object",
      properties: Object.assign({}, ...withMembers.map((one) => one.properties)),
      ...listed(withMembers.flatMap((one) => one.required ?? [])),
      ...(withMembers.some((one) => one.additionalProperties === true) ? { additionalProperties: true } : {}),
    };
  }

  private flatten(schema: Fields): Schema {
    const reduced = this.reduce(schema);
    const target = reduced.$ref === undefined ? reduced : (this.definitions[reduced.$ref] as Schema);
    const [only, another] = (target.anyOf ?? []).filter(({ type }) => type !== "null");
    return only !== undefined && another === undefined ? only : target;
  }

  private reducePlain(schema: Fields): Schema {
    const { type, properties, items, additionalProperties: others, required } = schema;
    const values = schema["const"] === undefined ? schema["enum"] : [schema["const"]];
    return {
      ...(typeof type === "string" ? { type: type as NonNullable<Schema["type"]> } : {}),
      ...(Array.isArray(values) ? { enum: values } : {}),
      ...Object.fromEntries(
        KEPT.filter((word) => typeof schema[word] === "number").map((word) => [word, schema[word]]),
      ),
      ...(items === undefined ? {} : { items: this.reduce(asFields(items)) }),
      ...(properties === undefined ? {} : { properties: this.reduceMembers(asFields(properties)) }),
      ...listed((required ?? []) as string[]),
      ...this.reduceOthers(others),
    };
  }

  private reduceMembers(properties: Fields): Record<string, Schema> {
    return Object.fromEntries(
      Object.entries(properties)
        .filter(([, one]) => asFields(one)["readOnly"] !== true)
        .map(([name, one]) => [name, this.reduce(asFields(one))]),
    );
  }

  private reduceOthers(others: unknown): Pick<Schema, "additionalProperties"> {
    if (others === undefined || others === false) return {};
    const fields = others === true ? {} : asFields(others);
    return { additionalProperties: Object.keys(fields).length === 0 ? true : this.reduce(fields) };
  }
}

function listed(required: readonly string[]): Pick<Schema, "required"> {
  return required.length === 0 ? {} : { required: [...new Set(required)] };
}

function withNull(schema: Fields, reduced: Schema): Schema {
  return schema["nullable"] === true ? { anyOf: [reduced, { type: "null" }] } : reduced;
}

function resolve(document: Fields, schema: Fields): Fields {
  const reference = schema["$ref"];
  if (typeof reference !== "string") return schema;
  return resolve(document, follow(document, reference.slice("#/".length).split("/")));
}

function follow(from: Fields, names: readonly string[]): Fields {
  let at = from;
  for (const name of names) {
    if (at[name] === undefined) throw new Error(`the document has no ${names.join("/")}`);
    at = asFields(at[name]);
  }
  return at;
}

function asFields(value: unknown): Fields {
  return typeof value === "object" && value !== null ? (value as Fields) : {};
}
