import { asFields } from "../json/fields.ts";
import { type Lowering, loosen, type Place } from "./lowering.ts";

type Node = Record<string, unknown>;
type Step = (node: Node, place: Place, lowering: Lowering) => void;

/** Brings the keywords of one schema into the dialect, not those inside it. The schema is changed in place. */
export function lowerKeywords(node: Node, place: Place, lowering: Lowering): Node {
  for (const step of STEPS) step(node, place, lowering);
  return node;
}

const STEPS: readonly Step[] = [
  lowerType,
  renameOneOf,
  renameConst,
  lowerBounds,
  lowerTuple,
  lowerEnum,
  lowerText,
  lowerOpenness,
  dropKeywords,
  lowerRequired,
];

const TYPES = new Set(["string", "number", "integer", "boolean", "object", "array", "null"]);

/** Types in the letter case of JSON Schema; what is no type is left out. */
function lowerType(node: Node, place: Place, lowering: Lowering): void {
  const { type } = node;
  if (type === undefined || TYPES.has(type as string)) return;
  const list = Array.isArray(type) ? type : [type];
  const known = list.map((name) => String(name).toLowerCase());
  if (known.length > 0 && known.every((name) => TYPES.has(name))) {
    node["type"] = Array.isArray(type) ? known : known[0];
    return;
  }
  delete node["type"];
  drop(place, lowering, "type");
}

function renameOneOf(node: Node, place: Place, lowering: Lowering): void {
  const { oneOf, anyOf } = node;
  if (oneOf === undefined || has(lowering, "oneOf")) return;
  delete node["oneOf"];
  if (anyOf !== undefined || !Array.isArray(oneOf)) {
    drop(place, lowering, "oneOf");
    return;
  }
  node["anyOf"] = oneOf;
  loosen(lowering, `${place.path}.oneOf`, "Sent as anyOf: more than one alternative may hold.");
}

function renameConst(node: Node, _place: Place, lowering: Lowering): void {
  if (node["const"] === undefined || has(lowering, "const")) return;
  node["enum"] = [node["const"]];
  delete node["const"];
}

const BOUNDS = [
  { exclusive: "exclusiveMinimum", inclusive: "minimum", step: 1, pick: Math.max },
  { exclusive: "exclusiveMaximum", inclusive: "maximum", step: -1, pick: Math.min },
] as const;

/** Exclusive bounds as inclusive ones: the next whole number, or the bound itself. */
function lowerBounds(node: Node, place: Place, lowering: Lowering): void {
  for (const { exclusive, inclusive, step, pick } of BOUNDS) {
    const bound = node[exclusive];
    const isFitting = has(lowering, exclusive) && typeof bound === "number";
    if (bound === undefined || isFitting) continue;
    delete node[exclusive];
    const isExact = node["type"] === "integer" && Number.isSafeInteger(bound);
    if (!isExact)
      loosen(lowering, `${place.path}.${exclusive}`, "The bound itself is allowed for the provider.");
    if (typeof bound !== "number") continue;
    const next = isExact ? bound + step : bound;
    const said = node[inclusive];
    node[inclusive] = typeof said === "number" ? pick(said, next) : next;
  }
}

function lowerTuple(node: Node, place: Place, lowering: Lowering): void {
  const { prefixItems, items } = node;
  const places = Array.isArray(prefixItems) ? prefixItems : [];
  if (items === true) delete node["items"];
  if (items === false) {
    delete node["items"];
    const { maxItems } = node;
    node["maxItems"] = typeof maxItems === "number" ? Math.min(maxItems, places.length) : places.length;
  }
  if (prefixItems === undefined || has(lowering, "prefixItems")) return;
  delete node["prefixItems"];
  loosen(lowering, `${place.path}.prefixItems`, "Items may stand in any order for the provider.");
  const rest = asFields(items);
  node["items"] = { anyOf: [...places, ...(rest === null ? [] : [rest])] };
}

/** Values that an `enum` may not hold become alternatives of their type. */
function lowerEnum(node: Node, place: Place, lowering: Lowering): void {
  const values = node["enum"];
  if (values === undefined) return;
  const { enumKinds } = lowering.rules;
  const list: readonly unknown[] = Array.isArray(values) ? values : [];
  if (list.length > 0 && list.every((value) => enumKinds.has(kindOf(value)))) return;
  delete node["enum"];
  if (list.length === 0 || node["anyOf"] !== undefined) {
    drop(place, lowering, "enum");
    return;
  }
  const branches = branchValues(list, enumKinds);
  if (!branches.isExact) {
    loosen(lowering, `${place.path}.enum`, "Any value of the values' types is allowed for the provider.");
  }
  const [only, ...others] = branches.schemas;
  if (others.length === 0) {
    node["type"] ??= only?.["type"];
  } else {
    delete node["type"];
    node["anyOf"] = branches.schemas;
  }
}

function branchValues(values: readonly unknown[], enumKinds: ReadonlySet<string>) {
  const kept = values.filter((value) => enumKinds.has(kindOf(value)));
  const kinds = [...new Set(values.map(kindOf))].filter((kind) => !enumKinds.has(kind));
  const areBooleansExact = values.includes(true) && values.includes(false);
  const schemas: Node[] = kinds.map((type) => ({ type }));
  if (kept.length > 0) schemas.unshift({ ...typeOf(kept), enum: kept });
  const isExact = kinds.every((kind) => kind === "null" || (kind === "boolean" && areBooleansExact));
  return { schemas, isExact };
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

function typeOf(values: readonly unknown[]): Node {
  const kinds = [...new Set(values.map(kindOf))];
  return { type: kinds.length === 1 ? kinds[0] : kinds };
}

/** Looks around, refers back, or names the end of a word. */
const IRREGULAR = /\(\?(?:[=!]|<[=!])|\\[1-9bB]/;

function lowerText(node: Node, place: Place, lowering: Lowering): void {
  const { format, pattern, minItems } = node;
  const { formats, patterns, maxMinItems } = lowering.rules;
  if (format !== undefined && formats !== null && !formats.has(String(format))) {
    delete node["format"];
    drop(place, lowering, "format");
  }
  if (pattern !== undefined && !fitsPatterns(String(pattern), patterns)) {
    delete node["pattern"];
    drop(place, lowering, "pattern");
  }
  if (typeof minItems === "number" && minItems > maxMinItems) {
    node["minItems"] = maxMinItems;
    loosen(lowering, `${place.path}.minItems`, `At most ${maxMinItems} can be demanded of the provider.`);
  }
}

function fitsPatterns(pattern: string, patterns: "any" | "regular" | "unanchored"): boolean {
  if (patterns === "any") return true;
  return !IRREGULAR.test(pattern) && (patterns === "regular" || !ANCHORS.test(pattern));
}

/** The ends of the text. A caret that negates a class is refused too. */
const ANCHORS = /[\^$]/;

/** Without the patterns of names nobody knows which names are additional. */
function lowerOpenness(node: Node, _place: Place, lowering: Lowering): void {
  const hasPatterns = node["patternProperties"] !== undefined && !has(lowering, "patternProperties");
  if (hasPatterns && node["additionalProperties"] !== undefined) delete node["additionalProperties"];
}

/** Keywords that demand something; leaving them out loosens the schema. */
const CONSTRAINTS = new Set([
  "additionalItems",
  "contains",
  "dependencies",
  "dependentRequired",
  "dependentSchemas",
  "else",
  "exclusiveMaximum",
  "exclusiveMinimum",
  "if",
  "maxContains",
  "maxItems",
  "maxLength",
  "maxProperties",
  "maximum",
  "minContains",
  "minItems",
  "minLength",
  "minProperties",
  "minimum",
  "multipleOf",
  "not",
  "pattern",
  "patternProperties",
  "propertyNames",
  "then",
  "unevaluatedItems",
  "unevaluatedProperties",
  "uniqueItems",
]);

function dropKeywords(node: Node, place: Place, lowering: Lowering): void {
  for (const key of Object.keys(node)) {
    if (has(lowering, key)) continue;
    delete node[key];
    if (CONSTRAINTS.has(key)) drop(place, lowering, key);
  }
}

/** Vendors refuse a required property that is not described. */
function lowerRequired(node: Node, place: Place, lowering: Lowering): void {
  const { required } = node;
  if (required === undefined) return;
  const properties = asFields(node["properties"]) ?? {};
  const names = Array.isArray(required) ? required : [];
  const known = names.filter((name) => typeof name === "string" && Object.hasOwn(properties, name));
  if (known.length === names.length && Array.isArray(required)) return;
  if (known.length > 0) node["required"] = known;
  else delete node["required"];
  loosen(lowering, `${place.path}.required`, "Names that `properties` does not have are left out.");
}

function has({ rules }: Lowering, keyword: string): boolean {
  return rules.keywords?.has(keyword) ?? true;
}

function drop(place: Place, lowering: Lowering, keyword: string): void {
  loosen(lowering, `${place.path}.${keyword}`, "The provider takes none like it; it is left out.");
}
