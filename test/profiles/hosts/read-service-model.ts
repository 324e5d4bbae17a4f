import type { ReadSchema } from "./read-openapi.ts";
import type { Schema } from "./schema.ts";

/** A shape of a service model of AWS. */
interface Shape {
  readonly type: string;
  readonly members?: Readonly<
    Record<string, { readonly shape: string; readonly location?: string; readonly locationName?: string }>
  >;
  readonly required?: readonly string[];
  readonly member?: { readonly shape: string };
  readonly value?: { readonly shape: string };
  readonly enum?: readonly string[];
  readonly min?: number;
  readonly max?: number;
  readonly document?: boolean;
}

/** Reads the body of an operation from a service model of AWS (`service-2.json`). What it has in the URL is left out. */
export function readServiceModel(
  model: { readonly shapes: Readonly<Record<string, Shape>> },
  shape: string,
): ReadSchema {
  const definitions: Record<string, Schema> = {};
  const refer = (name: string): Schema => {
    if (!Object.hasOwn(definitions, name)) {
      definitions[name] = {};
      definitions[name] = reduceShape(model.shapes[name] as Shape, refer);
    }
    return { $ref: name };
  };
  return { body: reduceShape(model.shapes[shape] as Shape, refer), definitions };
}

const SCALARS: Readonly<Record<string, Schema["type"]>> = {
  string: "string",
  boolean: "boolean",
  integer: "integer",
  long: "integer",
  float: "number",
  double: "number",
  blob: "string",
};

function reduceShape(shape: Shape, refer: (name: string) => Schema): Schema {
  if (shape.document === true) return {};
  if (shape.type === "structure") return reduceStructure(shape, refer);
  if (shape.type === "list")
    return {
      type: "array",
      items: refer((shape.member as { shape: string }).shape),
      ...(shape.min === undefined ? {} : { minItems: shape.min }),
      ...(shape.max === undefined ? {} : { maxItems: shape.max }),
    };
  if (shape.type === "map")
    return { type: "object", additionalProperties: refer((shape.value as { shape: string }).shape) };
  const type = SCALARS[shape.type];
  return {
    ...(type === undefined ? {} : { type }),
    ...(shape.enum === undefined ? {} : { enum: shape.enum }),
    ...limits(shape),
  };
}

function limits({ type, min, max }: Shape): Schema {
  if (type === "blob") return {};
  if (type === "string") return max === undefined ? {} : { maxLength: max };
  return { ...(min === undefined ? {} : { minimum: min }), ...(max === undefined ? {} : { maximum: max }) };
}

function reduceStructure({ members = {}, required = [] }: Shape, refer: (name: string) => Schema): Schema {
  const inBody = Object.entries(members).filter(([, { location }]) => location === undefined);
  const needed = required.filter((name) => members[name]?.location === undefined);
  return {
    type: "object",
    properties: Object.fromEntries(
      inBody.map(([name, { shape, locationName }]) => [locationName ?? name, refer(shape)]),
    ),
    ...(needed.length === 0 ? {} : { required: needed }),
  };
}
