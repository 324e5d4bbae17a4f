import { makeInstanceOfPattern } from "./instance-of-pattern.ts";

type Schema = Readonly<Record<string, unknown>>;

/** The deepest nesting of an instance. Deeper recursion takes another alternative. */
const MAX_DEPTH = 24;

/** The maximum work for one instance: visited schemas and merged keys, including failed alternatives. */
const MAX_WORK = 50_000;

/** The largest schema as JSON. Characters. */
const MAX_SCHEMA = 65_536;

/** The longest generated string. Characters. */
const MAX_STRING = 1024;

/** A string of each supported format. */
const FORMATS: Readonly<Record<string, string>> = {
  "date-time": "2025-01-01T00:00:00Z",
  date: "2025-01-01",
  time: "00:00:00Z",
  duration: "PT0S",
  email: "a@example.com",
  hostname: "example.com",
  ipv4: "192.0.2.1",
  ipv6: "2001:db8::1",
  uri: "https://example.com/",
  url: "https://example.com/",
  "uri-reference": "/",
  uuid: "00000000-0000-4000-8000-000000000000",
  regex: "a",
  "json-pointer": "",
};

/** A value, or the reason why there is none. */
type Instance =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly problem: string };

/**
 * Generates a small value that a JSON Schema allows, always the same one for the same schema: required properties only, the shortest
 * strings and lists, the first alternative that works. `undefined` counts as the schema of an empty object.
 *
 * Supported: local `$ref`, `const`, `enum`, `allOf`, `anyOf`, `oneOf`, `type`, and the bounds of objects, lists,
 * strings and numbers. `not`, `if`, `contains` and the `dependent…` keywords are ignored.
 */
export function makeInstanceOfSchema(schema: unknown): Instance {
  if ((JSON.stringify(schema) ?? "").length > MAX_SCHEMA) return { ok: false, problem: "it is too large" };
  const builder: Builder = { root: schema, work: 0 };
  try {
    return { ok: true, value: build(builder, schema ?? { type: "object" }, 0) };
  } catch (error) {
    if (!(error instanceof Unbuildable)) throw error;
    return { ok: false, problem: error.message };
  }
}

interface Builder {
  readonly root: unknown;
  /** The work so far, see `MAX_WORK`. */
  work: number;
}

/** Thrown and caught in this file only: returns from any depth to the next alternative. */
class Unbuildable extends Error {}

function spend(builder: Builder, work: number): void {
  builder.work += work;
  if (builder.work > MAX_WORK) throw new Unbuildable("it is too much work");
}

function isSchema(value: unknown): value is Schema {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function build(builder: Builder, schema: unknown, depth: number): unknown {
  if (depth > MAX_DEPTH) throw new Unbuildable("it is too deep");
  spend(builder, 1);
  if (schema === false) throw new Unbuildable("a part of it allows nothing");
  if (!isSchema(schema)) return "";
  const { $ref, allOf, anyOf, oneOf, ...rest } = schema;
  if (typeof $ref === "string") {
    return build(
      builder,
      merge(builder, resolve(builder.root, $ref), { ...rest, allOf, anyOf, oneOf }),
      depth + 1,
    );
  }
  if (Array.isArray(allOf)) {
    return build(builder, mergeAll(builder, { ...rest, anyOf, oneOf }, allOf), depth + 1);
  }
  if (Array.isArray(anyOf))
    return buildFirst(builder, { base: { ...rest, oneOf }, alternatives: anyOf }, depth);
  if (Array.isArray(oneOf)) return buildFirst(builder, { base: rest, alternatives: oneOf }, depth);
  return buildPlain(builder, rest, depth);
}

interface Choice {
  readonly base: Schema;
  readonly alternatives: readonly unknown[];
}

/** Builds an instance of the first alternative that has one. */
function buildFirst(builder: Builder, { base, alternatives }: Choice, depth: number): unknown {
  let problem = new Unbuildable("it has no alternatives");
  for (const alternative of alternatives) {
    try {
      return build(builder, merge(builder, base, alternative), depth + 1);
    } catch (error) {
      if (!(error instanceof Unbuildable) || builder.work > MAX_WORK) throw error;
      problem = error;
    }
  }
  throw problem;
}

function resolve(root: unknown, reference: string): unknown {
  if (!reference.startsWith("#")) throw new Unbuildable(`it refers to '${reference}', outside of itself`);
  let target = root;
  for (const step of reference.slice(1).split("/").slice(1)) {
    const name = decodeStep(step);
    const owner =
      typeof target === "object" && target !== null && Object.hasOwn(target, name) ? target : null;
    if (owner === null) throw new Unbuildable(`it refers to '${reference}', which is not there`);
    target = (owner as Record<string, unknown>)[name];
  }
  return target;
}

function decodeStep(step: string): string {
  return step.replaceAll("%24", "$").replaceAll("~1", "/").replaceAll("~0", "~");
}

function mergeAll(builder: Builder, base: Schema, schemas: unknown[]): unknown {
  return schemas.reduce((merged, schema) => merge(builder, merged, schema), base);
}

/** Merges two schemas into one with the requirements of both, as far as `build` supports it. */
function merge(builder: Builder, left: unknown, right: unknown): unknown {
  if (left === false || right === false) return false;
  if (!isSchema(left)) return right;
  if (!isSchema(right)) return left;
  spend(builder, Object.keys(left).length + Object.keys(right).length);
  const merged: Record<string, unknown> = { ...left };
  for (const [key, value] of Object.entries(right)) {
    merged[key] = merged[key] === undefined ? value : mergeKeyword(builder, key, [merged[key], value]);
  }
  return merged;
}

function mergeKeyword(builder: Builder, key: string, [left, right]: readonly [unknown, unknown]): unknown {
  if (right === undefined) return left;
  if (key === "properties" && isSchema(left) && isSchema(right)) return mergeProperties(builder, left, right);
  if (key === "items") return merge(builder, left, right);
  if (key === "type") return intersectTypes([left].flat(), [right].flat());
  if (key === "allOf") return [left, right].flat();
  // Both lists must be satisfied: the second is added to each element of the first.
  if (key === "anyOf" || key === "oneOf")
    return [left].flat().map((one) => merge(builder, one, { [key]: right }));
  if (Array.isArray(left) && Array.isArray(right)) {
    spend(builder, key === "enum" ? left.length * right.length : left.length + right.length);
    if (key === "required") return [...new Set([...left, ...right])];
    if (key === "enum") return left.filter((value) => right.some((other) => Bun.deepEquals(value, other)));
  }
  if (typeof left === "number" && typeof right === "number") {
    return /^min|^exclusiveMin/.test(key) ? Math.max(left, right) : Math.min(left, right);
  }
  return right;
}

function mergeProperties(builder: Builder, left: Schema, right: Schema): Schema {
  spend(builder, Object.keys(left).length + Object.keys(right).length);
  const names = new Set([...Object.keys(left), ...Object.keys(right)]);
  return Object.fromEntries(
    [...names].map((name) => [name, merge(builder, readOwnMember(left, name), readOwnMember(right, name))]),
  );
}

function readOwnMember(owner: Schema, name: string): unknown {
  return Object.hasOwn(owner, name) ? owner[name] : undefined;
}

function intersectTypes(left: unknown[], right: unknown[]): unknown[] {
  const allows = (types: unknown[], type: unknown) =>
    types.includes(type) || (type === "integer" && types.includes("number"));
  return [...new Set([...left, ...right])].filter((type) => allows(left, type) && allows(right, type));
}

function buildPlain(builder: Builder, schema: Schema, depth: number): unknown {
  if (Object.hasOwn(schema, "const")) return schema["const"];
  const types = readTypes(schema);
  if (Array.isArray(schema["enum"])) return pickFromEnum(schema["enum"], types);
  switch (types === null ? guessType(schema) : types[0]) {
    case "object":
      return buildObject(builder, schema, depth);
    case "array":
      return buildList(builder, schema, depth);
    case "integer":
      return buildNumber(schema, 1);
    case "number":
      return buildNumber(schema, null);
    case "boolean":
      return false;
    case "null":
      return null;
    case "string":
      return buildString(schema);
    default:
      throw new Unbuildable("a part of it has no type that could be");
  }
}

/** Returns the allowed types, null for all. They are in the order of the schema, with `null` last. */
function readTypes(schema: Schema): unknown[] | null {
  if (schema["type"] === undefined) return null;
  const types = [schema["type"]].flat();
  return [...types.filter((type) => type !== "null"), ...types.filter((type) => type === "null")];
}

function pickFromEnum(values: unknown[], types: unknown[] | null): unknown {
  const found = values.findIndex((value) => types === null || types.some((type) => isOfType(value, type)));
  if (found < 0) throw new Unbuildable("an enum of it has no value");
  return values[found];
}

function isOfType(value: unknown, type: unknown): boolean {
  if (type === "null") return value === null;
  if (type === "array") return Array.isArray(value);
  if (type === "object") return isSchema(value);
  if (type === "integer") return Number.isInteger(value);
  return typeof value === type;
}

function guessType(schema: Schema): string {
  const has = (...keys: string[]) => keys.some((key) => Object.hasOwn(schema, key));
  if (has("properties", "required", "additionalProperties", "minProperties")) return "object";
  if (has("items", "prefixItems", "minItems")) return "array";
  if (has("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf")) return "number";
  return "string";
}

function buildObject(builder: Builder, schema: Schema, depth: number): unknown {
  const properties = isSchema(schema["properties"]) ? schema["properties"] : {};
  const names = new Set(Array.isArray(schema["required"]) ? schema["required"].map(String) : []);
  const least = readNumber(schema, "minProperties") ?? 0;
  for (const name of Object.keys(properties)) if (names.size < least) names.add(name);
  for (let at = 1; names.size < least; at++) {
    spend(builder, 1);
    names.add(`key${at}`);
  }
  const buildProperty = (name: string) => build(builder, readProperty(schema, properties, name), depth + 1);
  return Object.fromEntries([...names].map((name) => [name, buildProperty(name)]));
}

function readProperty(schema: Schema, properties: Schema, name: string): unknown {
  return Object.hasOwn(properties, name) ? properties[name] : (schema["additionalProperties"] ?? {});
}

function buildList(builder: Builder, schema: Schema, depth: number): unknown {
  const least = readNumber(schema, "minItems") ?? 0;
  const prefix = Array.isArray(schema["prefixItems"]) ? schema["prefixItems"] : [];
  const items: unknown[] = [];
  while (items.length < least) {
    items.push(build(builder, prefix[items.length] ?? schema["items"] ?? {}, depth + 1));
  }
  if (
    schema["uniqueItems"] === true &&
    new Set(items.map((item) => JSON.stringify(item))).size < items.length
  ) {
    throw new Unbuildable("it wants a list of different items");
  }
  return items;
}

function buildNumber(schema: Schema, step: number | null): number {
  const multiple = readNumber(schema, "multipleOf") ?? step;
  const above = readNumber(schema, "exclusiveMinimum");
  const below = readNumber(schema, "exclusiveMaximum");
  const least = Math.max(readNumber(schema, "minimum") ?? -Infinity, above ?? -Infinity);
  const most = Math.min(readNumber(schema, "maximum") ?? Infinity, below ?? Infinity);
  const fits = (value: number) => value >= least && value <= most && value !== above && value !== below;
  const tried = multiple === null ? listNear(least, most) : listMultiples(least, most, multiple);
  const found = tried.find(fits);
  if (found === undefined) throw new Unbuildable("a number of it has no room between its bounds");
  // Avoids negative zero, which JSON does not represent.
  return found + 0;
}

function listNear(least: number, most: number): number[] {
  return [0, least, least + 1, (least + most) / 2, most, most - 1].filter(Number.isFinite);
}

function listMultiples(least: number, most: number, multiple: number): number[] {
  const low = Math.ceil(least / multiple);
  const high = Math.floor(most / multiple);
  return [0, low, low + 1, high, high - 1].filter(Number.isFinite).map((times) => times * multiple);
}

function buildString(schema: Schema): string {
  const least = readNumber(schema, "minLength") ?? 0;
  const most = readNumber(schema, "maxLength") ?? Infinity;
  if (least > MAX_STRING) throw new Unbuildable("a string of it is too long");
  const text =
    typeof schema["pattern"] === "string" ? matchPattern(schema["pattern"], least) : fill(schema, least);
  if (text.length < least || text.length > most)
    throw new Unbuildable("a string of it has no length that could be");
  return text;
}

function fill(schema: Schema, least: number): string {
  const format = String(schema["format"] ?? "");
  return Object.hasOwn(FORMATS, format) ? FORMATS[format]! : "a".repeat(least);
}

function matchPattern(pattern: string, least: number): string {
  const shortest = makeInstanceOfPattern(pattern);
  if (shortest === null) throw new Unbuildable(`the pattern '${pattern}' is more than it understands`);
  if (shortest.length >= least) return shortest;
  return makeInstanceOfPattern(pattern, least - shortest.length) ?? shortest;
}

function readNumber(schema: Schema, key: string): number | null {
  const value = schema[key];
  return typeof value === "number" ? value : null;
}
