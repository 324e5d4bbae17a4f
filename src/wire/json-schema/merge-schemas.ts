import { asFields, type Fields } from "../json/fields.ts";

/**
 * Schemas that must all hold as one that holds wherever they do, and the keywords of which something was lost. Linear in
 * the schemas together.
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

/** Keywords that mean something together: all of one schema or none. */
const GROUPS = [
  ["if", "then", "else"],
  ["contains", "minContains", "maxContains"],
];

/** Of these the first one's counts. */
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

/** All values of each keyword, in the order of the schemas. */
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

/** Several values of a keyword as one, not tighter than all of them together. Not exact: only the first was kept, or some. */
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

/** The types that all lists allow; a list that leaves none is not counted. */
function mergeTypes(values: readonly unknown[]): Merged {
  let kept = new Set(listTypes(values[0]));
  let isExact = true;
  for (const value of values.slice(1)) {
    const both = meetTypes(kept, new Set(listTypes(value)));
    if (both.size > 0) kept = both;
    else isExact = false;
  }
  const [only, ...others] = kept;
  return { value: others.length === 0 ? only : [...kept], isExact };
}

/** Whole numbers are numbers. */
function meetTypes(a: ReadonlySet<unknown>, b: ReadonlySet<unknown>): Set<unknown> {
  const both = new Set<unknown>();
  for (const type of a) if (b.has(type) || (type === "integer" && b.has("number"))) both.add(type);
  if (b.has("integer") && a.has("number")) both.add("integer");
  return both;
}

function listTypes(type: unknown): readonly unknown[] {
  return Array.isArray(type) ? type : [type];
}

/** The values that all lists have; a list that leaves none, or has objects, is not counted. */
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
  const places: unknown[][] = [];
  for (const list of lists) {
    for (const [at, schema] of list.entries()) {
      const place = places[at];
      if (place === undefined) places[at] = [schema];
      else place.push(schema);
    }
  }
  return places.map(joinSchemas);
}

/** All of the schemas, to be merged when their place is lowered. */
function joinSchemas(schemas: readonly unknown[]): unknown {
  const different = new Set(schemas);
  if (different.has(false)) return false;
  different.delete(true);
  const [first, ...others] = different;
  if (first === undefined) return true;
  return others.length === 0 ? first : { allOf: [first, ...others] };
}

/** Sets a member under any name, `__proto__` too. */
export function setMember(target: Record<string, unknown>, key: string, value: unknown): void {
  if (key === "__proto__") {
    Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
  } else target[key] = value;
}
