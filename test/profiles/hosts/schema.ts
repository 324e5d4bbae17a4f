/** A reduced JSON Schema of a request: what vendors' published documents say of it, without their texts. Empty: any value. */
export interface Schema {
  /** The name of a definition of the same document. */
  readonly $ref?: string;
  readonly type?: "string" | "number" | "integer" | "boolean" | "null" | "array" | "object";
  readonly enum?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly maxLength?: number;
  readonly maxItems?: number;
  readonly minItems?: number;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  /** What further members are; true: anything. Absent: further members are refused if `properties` is there. */
  readonly additionalProperties?: true | Schema;
  readonly anyOf?: readonly Schema[];
}

/** What a vendor has published of the request of one endpoint. */
export interface PublishedRequest {
  /** Where the document was taken from: URL and commit, or package and version. */
  readonly source: string;
  /** The day of that version. */
  readonly date: string;
  readonly body: Schema;
  readonly definitions: Readonly<Record<string, Schema>>;
}

/** Why a value does not conform. */
export interface Fault {
  /** Names and indexes from the body to the value. */
  readonly path: readonly (string | number)[];
  readonly kind: "unknown" | "missing" | "type" | "value" | "range";
  readonly message: string;
}

/** Nesting that is followed; a body of a test is not deeper. */
const MAX_DEPTH = 64;

type Definitions = PublishedRequest["definitions"];
type Path = Fault["path"];

/** Returns the first fault of a body; null if it conforms. */
export function findFault({ body, definitions }: PublishedRequest, value: unknown): Fault | null {
  return check(body, value, [], definitions);
}

function check(schema: Schema, value: unknown, path: Path, all: Definitions): Fault | null {
  if (path.length > MAX_DEPTH) return null;
  if (schema.$ref !== undefined) return check(all[schema.$ref] ?? {}, value, path, all);
  if (schema.anyOf !== undefined) return checkAlternatives(schema.anyOf, value, path, all);
  if (schema.enum !== undefined && !schema.enum.includes(value))
    return { path, kind: "value", message: `must be one of ${schema.enum.join(", ")}` };
  if (schema.type !== undefined && !isOfType(schema.type, value))
    return { path, kind: "type", message: `must be of the type ${schema.type}` };
  return checkRange(schema, value, path) ?? checkMembers(schema, value, path, all);
}

/** The fault of the alternative that fits best: the one whose fault is deepest, or lies in its members rather than its type. */
function checkAlternatives(
  alternatives: readonly Schema[],
  value: unknown,
  path: Path,
  all: Definitions,
): Fault | null {
  let nearest: Fault | null = null;
  for (const alternative of alternatives) {
    const fault = check(alternative, value, path, all);
    if (fault === null) return null;
    if (nearest === null || nearness(fault, path) > nearness(nearest, path)) nearest = fault;
  }
  return nearest;
}

/** An alternative whose discriminating word is another one is as far away as one of another type. */
function nearness({ path, kind }: Fault, from: Path): number {
  const isTag =
    kind === "value" && ["type", "role"].includes(String(path.at(-1))) && path.length === from.length + 1;
  return isTag ? 0 : path.length * 2 + (kind === "type" || kind === "missing" ? 0 : 1);
}

function isOfType(type: NonNullable<Schema["type"]>, value: unknown): boolean {
  if (type === "null") return value === null;
  if (type === "array") return Array.isArray(value);
  if (type === "integer") return Number.isInteger(value);
  if (type === "object") return typeof value === "object" && value !== null && !Array.isArray(value);
  return typeof value === type;
}

function checkRange(schema: Schema, value: unknown, path: Path): Fault | null {
  const { minimum = Number.NEGATIVE_INFINITY, maximum = Number.POSITIVE_INFINITY } = schema;
  if (typeof value === "number" && (value < minimum || value > maximum))
    return { path, kind: "range", message: `must be from ${minimum} to ${maximum}` };
  if (typeof value === "string" && value.length > (schema.maxLength ?? Number.POSITIVE_INFINITY))
    return { path, kind: "range", message: `must have at most ${schema.maxLength} characters` };
  if (!Array.isArray(value)) return null;
  if (value.length < (schema.minItems ?? 0))
    return { path, kind: "range", message: `must have at least ${schema.minItems} items` };
  if (value.length > (schema.maxItems ?? Number.POSITIVE_INFINITY))
    return { path, kind: "range", message: `must have at most ${schema.maxItems} items` };
  return null;
}

function checkMembers(schema: Schema, value: unknown, path: Path, all: Definitions): Fault | null {
  if (Array.isArray(value)) {
    const { items } = schema;
    return items === undefined
      ? null
      : firstFault(value.entries(), (at, item) => check(items, item, [...path, at], all));
  }
  if (typeof value !== "object" || value === null) return null;
  const missing = (schema.required ?? []).find((name) => !Object.hasOwn(value, name));
  if (missing !== undefined) return { path: [...path, missing], kind: "missing", message: "is required" };
  return firstFault(Object.entries(value), (name, member) => checkMember(schema, name, member, path, all));
}

function firstFault<K, V>(entries: Iterable<[K, V]>, find: (key: K, value: V) => Fault | null): Fault | null {
  for (const [key, value] of entries) {
    const fault = find(key, value);
    if (fault !== null) return fault;
  }
  return null;
}

function checkMember(
  schema: Schema,
  name: string,
  value: unknown,
  path: Path,
  all: Definitions,
): Fault | null {
  const { properties, additionalProperties: others } = schema;
  if (properties === undefined && others === undefined) return null;
  const own = properties !== undefined && Object.hasOwn(properties, name) ? properties[name] : undefined;
  if (own !== undefined) return check(own, value, [...path, name], all);
  if (others === true) return null;
  if (others !== undefined) return check(others, value, [...path, name], all);
  return { path: [...path, name], kind: "unknown", message: "is not known" };
}
