import { asFields, type Fields } from "../../../src/base/json/fields.ts";

/** Whether an instance is valid. Supports the keywords that the tests use. */
export function isValid(instance: unknown, schema: unknown, document: unknown = schema): boolean {
  if (typeof schema === "boolean") return schema;
  const fields = asFields(schema) ?? {};
  return Object.entries(fields).every(([key, value]) => holds(key, value, instance, fields, document));
}

function holds(key: string, value: unknown, instance: unknown, schema: Fields, document: unknown): boolean {
  const valid = (at: unknown, sub: unknown) => isValid(at, sub, document);
  const list = Array.isArray(value) ? value : [];
  switch (key) {
    case "type":
      return [value].flat().some((type) => isOfType(instance, String(type)));
    case "enum":
      return list.some((option) => Bun.deepEquals(option, instance));
    case "const":
      return Bun.deepEquals(value, instance);
    case "$ref":
      return valid(instance, resolvePointer(document, String(value)));
    case "allOf":
      return list.every((branch) => valid(instance, branch));
    case "anyOf":
      return list.some((branch) => valid(instance, branch));
    case "oneOf":
      return list.filter((branch) => valid(instance, branch)).length === 1;
    case "not":
      return !valid(instance, value);
    case "minLength":
      return typeof instance !== "string" || instance.length >= Number(value);
    default:
      return typeof instance === "number"
        ? holdsForNumber(key, value, instance)
        : holdsInside(key, value, instance, schema, valid);
  }
}

function holdsForNumber(key: string, bound: unknown, instance: number): boolean {
  if (typeof bound !== "number") return true;
  switch (key) {
    case "minimum":
      return instance >= bound;
    case "maximum":
      return instance <= bound;
    case "exclusiveMinimum":
      return instance > bound;
    case "exclusiveMaximum":
      return instance < bound;
    case "multipleOf":
      return Number.isInteger(instance / bound);
    default:
      return true;
  }
}

function holdsInside(
  key: string,
  value: unknown,
  instance: unknown,
  schema: Fields,
  valid: (at: unknown, sub: unknown) => boolean,
): boolean {
  if (Array.isArray(instance)) {
    const tuple = Array.isArray(schema["prefixItems"]) ? schema["prefixItems"] : [];
    if (key === "prefixItems")
      return tuple.every((sub, at) => at >= instance.length || valid(instance[at], sub));
    if (key === "items") return instance.slice(tuple.length).every((item) => valid(item, value));
    if (key === "minItems") return instance.length >= Number(value);
    return key !== "maxItems" || instance.length <= Number(value);
  }
  const object = asFields(instance);
  if (object === null) return true;
  const named = asFields(schema["properties"]) ?? {};
  const patterns = Object.keys(asFields(schema["patternProperties"]) ?? {});
  const keys = Object.keys(object);
  switch (key) {
    case "required":
      return (value as string[]).every((name) => Object.hasOwn(object, name));
    case "properties":
      return keys.every((name) => !Object.hasOwn(named, name) || valid(object[name], named[name]));
    case "patternProperties":
      return patterns.every((pattern) =>
        keys.every(
          (name) => !new RegExp(pattern).test(name) || valid(object[name], (value as Fields)[pattern]),
        ),
      );
    case "additionalProperties":
      return keys
        .filter((name) => !Object.hasOwn(named, name) && !patterns.some((p) => new RegExp(p).test(name)))
        .every((name) => valid(object[name], value));
    default:
      return true;
  }
}

function isOfType(instance: unknown, type: string): boolean {
  if (type === "null") return instance === null;
  if (type === "array") return Array.isArray(instance);
  if (type === "object") return asFields(instance) !== null;
  if (type === "integer") return Number.isInteger(instance);
  return typeof instance === type;
}

function resolvePointer(document: unknown, ref: string): unknown {
  const steps = ref === "#" ? [] : ref.slice(2).split("/");
  return steps.reduce<unknown>((at, step) => asFields(at)?.[step], document);
}
