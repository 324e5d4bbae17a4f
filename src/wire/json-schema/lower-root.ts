import { asFields, type Fields } from "../json/fields.ts";
import { flattenSchema } from "./flatten-schema.ts";
import { type Lowering, loosen, type Place } from "./lowering.ts";
import { mergeSchemas, setMember } from "./merge-schemas.ts";

const NOT_PLAIN = ["$ref", "allOf", "anyOf", "oneOf", "enum", "const"];

/** A schema whose root is a plain object, for vendors that demand one: arguments are nothing else. */
export function lowerRoot(schema: Fields, place: Place, lowering: Lowering): Fields {
  const isPlain = !NOT_PLAIN.some((key) => key in schema);
  if (isPlain && schema["type"] === "object") return schema;
  const { schema: flat } = flattenSchema(schema, place, lowering);
  const { anyOf, oneOf, enum: values, const: value, ...own } = flat;
  if (values !== undefined || value !== undefined) {
    loosen(lowering, place.path, "Arguments as a whole cannot be one of some values for the provider.");
  }
  const unions = [anyOf, oneOf].filter(Array.isArray).map((branches) => {
    loosen(
      lowering,
      place.path,
      "Alternatives at the schema's root are sent as one object with all their properties.",
    );
    return unionObjects(branches, place, lowering);
  });
  const { schema: merged } = mergeSchemas([own, ...unions]);
  if (!allowsObject(merged["type"])) {
    loosen(lowering, `${place.path}.type`, "Arguments are an object for the provider.");
  }
  return { ...merged, type: "object" };
}

function allowsObject(type: unknown): boolean {
  return type === undefined || (Array.isArray(type) ? type : [type]).includes("object");
}

/** An object that is valid wherever one of the branches is. */
function unionObjects(branches: readonly unknown[], place: Place, lowering: Lowering): Fields {
  const objects = branches
    .map((branch) => (branch === true ? {} : asFields(branch)))
    .filter((branch) => branch !== null)
    .map((branch) => flattenSchema(branch, place, lowering).schema)
    .filter((branch) => allowsObject(branch["type"]));
  const keys = new Set(objects.flatMap((object) => Object.keys(asFields(object["properties"]) ?? {})));
  const properties: Record<string, unknown> = {};
  for (const key of keys)
    setMember(properties, key, unionOf(objects.map((object) => propertyOf(object, key))));
  const [first, ...rest] = objects.map(({ required }) => (Array.isArray(required) ? required : []));
  const required = (first ?? []).filter((key) => rest.every((other) => other.includes(key)));
  const isClosed = objects.length > 0 && objects.every(isClosedObject);
  return {
    properties,
    ...(required.length > 0 ? { required } : {}),
    ...(isClosed ? { additionalProperties: false } : {}),
  };
}

function isClosedObject({ additionalProperties, patternProperties }: Fields): boolean {
  return additionalProperties === false && patternProperties === undefined;
}

/** What a branch says of a property; null where it forbids it. */
function propertyOf(object: Fields, key: string): unknown {
  const properties = asFields(object["properties"]) ?? {};
  if (Object.hasOwn(properties, key)) return properties[key] === false ? null : properties[key];
  if (isClosedObject(object)) return null;
  return object["patternProperties"] === undefined ? (object["additionalProperties"] ?? {}) : {};
}

/** A branch that says nothing of the property stays as `{}`: any value holds, and the others still tell what is meant. */
function unionOf(values: readonly unknown[]): unknown {
  const different = new Map<unknown, unknown>();
  for (const value of values) {
    const schema = value === true ? {} : value;
    if (schema !== null) different.set(isFlat(schema) ? JSON.stringify(schema) : schema, schema);
  }
  const schemas = [...different.values()];
  return schemas.length === 1 ? schemas[0] : { anyOf: schemas };
}

/** Whether a schema has nothing in it that goes deeper, so that it is cheap to compare. */
function isFlat(schema: unknown): boolean {
  const isPlain = (value: unknown) => typeof value !== "object" || value === null;
  return Object.values(asFields(schema) ?? {}).every((member) =>
    Array.isArray(member) ? member.every(isPlain) : isPlain(member),
  );
}
