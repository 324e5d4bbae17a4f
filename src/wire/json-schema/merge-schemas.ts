import { asFields, type Fields } from "../../base/json/fields.ts";

/**
 * Merges schemas that must all hold into one that accepts at least what all of them accept. `lost` are the keywords that could not be
 * merged exactly. Takes linear time in the total size of the schemas.
 */
export function mergeSchemas(parts: readonly Fields[]): {
  readonly schema: Record<string, unknown>;
  readonly lost: ReadonlySet<string>;
} {
  const { values, lost } = gatherValues(parts);
  const schema: Record<string, unknown> = {};
  for (const [key, all] of values) {
    const merged = all.length === 1 ? { value: all[0], isExact: true } : mergeValues(key, all);
    setMember(schema, key, merged.value);
    if (!merged.isExact) lost.add(key);
  }
  return { schema, lost };
}

/** Keywords that depend on each other: they are taken from one schema only. */
const GROUPS = [
  ["if", "then", "else"],
  ["contains", "minContains", "maxContains"],
];

/** Keywords whose value is taken from the first schema. */
const ANNOTATIONS = new Set([
  "$anchor",
  "$comment",
  "$id",
  "$schema",
  "default",
  "deprecated",
  "description",
  "example",
  "examples",
  "propertyOrdering",
  "readOnly",
  "title",
  "writeOnly",
]);

/** Collects the values of each keyword in the order of the schemas. */
function gatherValues(parts: readonly Fields[]): { values: Map<string, unknown[]>; lost: Set<string> } {
  const values = new Map<string, unknown[]>();
  const lost = new Set<string>();
  for (const part of parts) {
    const taken = GROUPS.filter((group) => group.some((key) => values.has(key))).flat();
    for (const key of Object.keys(part)) {
      const before = values.get(key);
      if (taken.includes(key)) lost.add(key);
      else if (before === undefined) values.set(key, [part[key]]);
      else if (!ANNOTATIONS.has(key)) before.push(part[key]);
    }
  }
  return { values, lost };
}

/** The merged value of a keyword, which is not tighter than all values together. Not exact: some values were dropped. */
interface Merged {
  readonly value: unknown;
  readonly isExact: boolean;
}

function mergeValues(key: string, values: readonly unknown[]): Merged {
  switch (key) {
    case "type":
      return mergeTypes(values);
    case "enum":
      return mergeEnums(values);
    case "required":
      return values.every(Array.isArray) ? exactly([...new Set(values.flat())]) : keepFirst(values);
    case "properties":
    case "patternProperties":
    case "$defs":
    case "definitions":
      return exactly(mergeMaps(values));
    case "items":
    case "additionalProperties":
      return exactly(joinSchemas(values));
    case "prefixItems":
      return values.every(Array.isArray) ? exactly(mergeLists(values)) : keepFirst(values);
    case "minimum":
    case "exclusiveMinimum":
    case "minLength":
    case "minItems":
    case "minProperties":
      return mergeNumbers(values, Math.max);
    case "maximum":
    case "exclusiveMaximum":
    case "maxLength":
    case "maxItems":
    case "maxProperties":
      return mergeNumbers(values, Math.min);
    case "uniqueItems":
      return exactly(values.includes(true));
    default:
      return keepFirst(values);
  }
}

function exactly(value: unknown): Merged {
  return { value, isExact: true };
}

function keepFirst(values: readonly unknown[]): Merged {
  const [value] = values;
  return { value, isExact: values.every((other) => other === value) };
}

function mergeNumbers(values: readonly unknown[], pick: (a: number, b: number) => number): Merged {
  const [first] = values;
  const numbers = values.filter((value) => typeof value === "number");
  if (typeof first !== "number") return keepFirst(values);
  return { value: numbers.reduce(pick, first), isExact: numbers.length === values.length };
}

/** Intersects lists of types. A list that would leave none is ignored. */
function mergeTypes(values: readonly unknown[]): Merged {
  let kept = new Set(listTypes(values[0]));
  let isExact = true;
  for (const value of values.slice(1)) {
    const both = intersectTypes(kept, new Set(listTypes(value)));
    if (both.size > 0) kept = both;
    else isExact = false;
  }
  const [only, ...others] = kept;
  return { value: others.length === 0 ? only : [...kept], isExact };
}

/** Intersects types, where `integer` is included in `number`. */
function intersectTypes(a: ReadonlySet<unknown>, b: ReadonlySet<unknown>): Set<unknown> {
  const both = new Set<unknown>();
  for (const type of a) if (b.has(type) || (type === "integer" && b.has("number"))) both.add(type);
  if (b.has("integer") && a.has("number")) both.add("integer");
  return both;
}

function listTypes(type: unknown): readonly unknown[] {
  return Array.isArray(type) ? type : [type];
}

/** Intersects lists of values. A list that would leave none, or that has objects, is ignored. */
function mergeEnums(values: readonly unknown[]): Merged {
  const [first, ...others] = values;
  if (!isPlainList(first)) return keepFirst(values);
  let kept = new Set(first);
  let isExact = true;
  for (const other of others) {
    const both = isPlainList(other) ? other.filter((value) => kept.has(value)) : [];
    if (both.length > 0) kept = new Set(both);
    else isExact = false;
  }
  return { value: first.filter((value) => kept.has(value)), isExact };
}

function isPlainList(value: unknown): value is readonly unknown[] {
  return Array.isArray(value) && !value.some((one) => typeof one === "object" && one !== null);
}

function mergeMaps(maps: readonly unknown[]): Fields {
  const schemas = new Map<string, unknown[]>();
  for (const map of maps) {
    const fields = asFields(map) ?? {};
    for (const key of Object.keys(fields)) {
      const known = schemas.get(key);
      if (known === undefined) schemas.set(key, [fields[key]]);
      else known.push(fields[key]);
    }
  }
  const merged: Record<string, unknown> = {};
  for (const [key, all] of schemas) setMember(merged, key, joinSchemas(all));
  return merged;
}

function mergeLists(lists: readonly (readonly unknown[])[]): unknown[] {
  const elements: unknown[][] = [];
  for (const list of lists) {
    for (const [at, schema] of list.entries()) {
      const known = elements[at];
      if (known === undefined) elements[at] = [schema];
      else known.push(schema);
    }
  }
  return elements.map(joinSchemas);
}

/** Returns a schema that requires all of the schemas. Its `allOf` is merged when it is lowered itself. */
function joinSchemas(schemas: readonly unknown[]): unknown {
  const different = new Set(schemas);
  if (different.has(false)) return false;
  different.delete(true);
  const [first, ...others] = different;
  if (first === undefined) return true;
  return others.length === 0 ? first : { allOf: [first, ...others] };
}

/** Sets a member of any name, including `__proto__`. */
export function setMember(target: Record<string, unknown>, key: string, value: unknown): void {
  if (key === "__proto__") {
    Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
    // biome-ignore lint/plugin: any other name is safe.
  } else target[key] = value;
}
