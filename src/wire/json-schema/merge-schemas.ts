import { asFields, type Fields } from "../json/fields.ts";

/** Schemas that must all hold as one that holds wherever they do, and the keywords of which something was lost. */
export function mergeSchemas(parts: readonly Fields[]): {
  readonly schema: Record<string, unknown>;
  readonly lost: ReadonlySet<string>;
} {
  const schema: Record<string, unknown> = {};
  const lost = new Set<string>();
  for (const part of parts) {
    const taken = GROUPS.filter((group) => group.some((key) => key in schema)).flat();
    for (const [key, value] of Object.entries(part)) {
      if (taken.includes(key)) lost.add(key);
      else if (!Object.hasOwn(schema, key)) setMember(schema, key, value);
      else if (!ANNOTATIONS.has(key)) {
        const merged = mergeKeyword(key, schema[key], value);
        if (merged === UNMERGED) lost.add(key);
        else setMember(schema, key, merged);
      }
    }
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

const UNMERGED = Symbol("unmerged");

/** Both values of a keyword as one, not tighter than the two together. */
function mergeKeyword(key: string, a: unknown, b: unknown): unknown {
  if (a === b) return a;
  switch (key) {
    case "type":
      return mergeTypes(a, b);
    case "enum":
      return mergeEnums(a, b);
    case "required":
      return Array.isArray(a) && Array.isArray(b) ? [...new Set([...a, ...b])] : UNMERGED;
    case "properties":
    case "patternProperties":
    case "$defs":
    case "definitions":
      return mergeMaps(asFields(a) ?? {}, asFields(b) ?? {});
    case "items":
    case "additionalProperties":
      return joinSchemas(a, b);
    case "prefixItems":
      return mergeLists(a, b);
    case "minimum":
    case "exclusiveMinimum":
    case "minLength":
    case "minItems":
    case "minProperties":
      return typeof a === "number" && typeof b === "number" ? Math.max(a, b) : UNMERGED;
    case "maximum":
    case "exclusiveMaximum":
    case "maxLength":
    case "maxItems":
    case "maxProperties":
      return typeof a === "number" && typeof b === "number" ? Math.min(a, b) : UNMERGED;
    case "uniqueItems":
      return a === true || b === true;
    default:
      return UNMERGED;
  }
}

function mergeTypes(a: unknown, b: unknown): unknown {
  const left = listTypes(a);
  const right = listTypes(b);
  const both = [
    ...left.filter((type) => right.includes(type) || (type === "integer" && right.includes("number"))),
    ...right.filter((type) => type === "integer" && !left.includes(type) && left.includes("number")),
  ];
  if (both.length === 0) return UNMERGED;
  return both.length === 1 ? both[0] : both;
}

function listTypes(type: unknown): readonly unknown[] {
  return Array.isArray(type) ? type : [type];
}

function mergeEnums(a: unknown, b: unknown): unknown {
  if (!Array.isArray(a) || !Array.isArray(b)) return UNMERGED;
  if ([...a, ...b].some((value) => typeof value === "object" && value !== null)) return UNMERGED;
  const right = new Set(b);
  const both = a.filter((value) => right.has(value));
  return both.length === 0 ? UNMERGED : both;
}

function mergeMaps(a: Fields, b: Fields): Fields {
  const merged = { ...a };
  for (const [key, value] of Object.entries(b)) {
    setMember(merged, key, Object.hasOwn(a, key) ? joinSchemas(a[key], value) : value);
  }
  return merged;
}

function mergeLists(a: unknown, b: unknown): unknown {
  if (!Array.isArray(a) || !Array.isArray(b)) return UNMERGED;
  const longer = a.length >= b.length ? a : b;
  return longer.map((item, at) => (at in a && at in b ? joinSchemas(a[at], b[at]) : item));
}

/** Both schemas; joined when their place is lowered. */
function joinSchemas(a: unknown, b: unknown): unknown {
  if (a === false || b === false) return false;
  if (a === true || a === b) return b;
  return b === true ? a : { allOf: [a, b] };
}

/** Sets a member under any name, `__proto__` too. */
export function setMember(target: Record<string, unknown>, key: string, value: unknown): void {
  if (key === "__proto__") {
    Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
  } else target[key] = value;
}
