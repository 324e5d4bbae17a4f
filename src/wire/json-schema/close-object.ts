import { asFields, type Fields } from "../../base/json/fields.ts";
import { loosen, loosenKeyword, type Position } from "./lowering.ts";
import { setMember } from "./merge-schemas.ts";

/**
 * Forbids unnamed properties in a lowered object, if the subset demands it. `original` is the client's schema: if it allowed unnamed
 * properties explicitly, a warning is added.
 */
export function closeObject(
  node: Record<string, unknown>,
  original: Fields,
  position: Position,
): Record<string, unknown> {
  const { objects } = position.lowering.rules;
  if (objects === "unchanged" || !isObject(node)) return node;
  const properties = asFields(node["properties"]) ?? {};
  const extra = node["additionalProperties"];
  const isOpenOnPurpose = extra === undefined ? node["properties"] === undefined : extra !== false;
  if (isOpenOnPurpose && asFields(original["properties"]) === null) {
    loosen(
      position,
      "The provider supports only objects whose properties are all named; this one names none.",
    );
  } else if (isOpenOnPurpose) {
    loosenKeyword(position, "additionalProperties", "The provider supports only named properties.");
  }
  const closed = { type: "object", ...node, properties, additionalProperties: false };
  return objects === "closed" ? closed : { ...closed, ...requireAll(properties, node["required"]) };
}

function isObject(node: Fields): boolean {
  const { type } = node;
  return type === undefined ? node["properties"] !== undefined : [type].flat().includes("object");
}

/** Makes all properties required; those that were optional may be null instead. */
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
