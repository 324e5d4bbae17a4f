import { asFields, type Fields } from "../json/fields.ts";
import { type Lowering, loosen, type Place } from "./lowering.ts";
import { setMember } from "./merge-schemas.ts";

/**
 * Closes a lowered object where the dialect demands it. `original` is the schema as it came: an object that was open
 * on purpose is named, because it cannot be any more.
 */
export function closeObject(
  node: Record<string, unknown>,
  original: Fields,
  place: Place,
  lowering: Lowering,
): Record<string, unknown> {
  const { objects } = lowering.rules;
  if (objects === "as-said" || !isObject(node)) return node;
  const properties = asFields(node["properties"]) ?? {};
  const extra = node["additionalProperties"];
  const isOpenOnPurpose = extra === undefined ? node["properties"] === undefined : extra !== false;
  if (isOpenOnPurpose && asFields(original["properties"]) === null) {
    loosen(
      lowering,
      place.path,
      "The provider takes only objects whose properties are all named; this one has none.",
    );
  } else if (isOpenOnPurpose) {
    loosen(
      lowering,
      `${place.path}.additionalProperties`,
      "The provider takes only properties that are named.",
    );
  }
  const closed = { type: "object", ...node, properties, additionalProperties: false };
  return objects === "closed" ? closed : { ...closed, ...requireAll(properties, node["required"]) };
}

function isObject(node: Fields): boolean {
  const { type } = node;
  return type === undefined ? node["properties"] !== undefined : [type].flat().includes("object");
}

/** All properties required; those that were not may be null instead. */
function requireAll(properties: Fields, required: unknown): Fields {
  const before = new Set(Array.isArray(required) ? required : []);
  const all: Record<string, unknown> = {};
  for (const [name, schema] of Object.entries(properties)) {
    setMember(all, name, before.has(name) ? schema : allowNull(asFields(schema) ?? {}));
  }
  return { properties: all, required: Object.keys(properties) };
}

function allowNull(schema: Fields): Fields {
  const { type, anyOf } = schema;
  if (Array.isArray(anyOf)) {
    const hasNull = anyOf.some((branch) => asFields(branch)?.["type"] === "null");
    return hasNull ? schema : { ...schema, anyOf: [...anyOf, { type: "null" }] };
  }
  if (type === undefined || schema["const"] !== undefined) {
    return Object.keys(schema).length === 0 ? schema : { anyOf: [schema, { type: "null" }] };
  }
  const types = [type].flat();
  const values = schema["enum"];
  return {
    ...schema,
    type: types.includes("null") ? type : [...types, "null"],
    ...(Array.isArray(values) && !values.includes(null) ? { enum: [...values, null] } : {}),
  };
}
