import { asFields, setField } from "../../base/json/fields.ts";
import { loosenKeyword, type Position } from "./lowering.ts";

type Node = Record<string, unknown>;
type Step = (node: Node, position: Position) => void;

/** Lowers the keywords of one schema, not those of schemas inside it. Changes the schema in place. */
export function lowerKeywords(node: Node, position: Position): Node {
  for (const step of STEPS) step(node, position);
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

/** Converts types to the letter case of JSON Schema; unknown types are left out. */
function lowerType(node: Node, position: Position): void {
  const { type } = node;
  if (type === undefined || TYPES.has(type as string)) return;
  const list = Array.isArray(type) ? type : [type];
  const known = list.map((name) => String(name).toLowerCase());
  if (known.length > 0 && known.every((name) => TYPES.has(name))) {
    node["type"] = Array.isArray(type) ? known : known[0];
    return;
  }
  delete node["type"];
  drop(position, "type");
}

function renameOneOf(node: Node, position: Position): void {
  const { oneOf, anyOf } = node;
  if (oneOf === undefined || has(position, "oneOf")) return;
  delete node["oneOf"];
  if (anyOf !== undefined || !Array.isArray(oneOf)) {
    drop(position, "oneOf");
    return;
  }
  node["anyOf"] = oneOf;
  loosenKeyword(position, "oneOf", "Sent as anyOf: more than one alternative may match.");
}

function renameConst(node: Node, position: Position): void {
  if (node["const"] === undefined || has(position, "const")) return;
  node["enum"] = [node["const"]];
  delete node["const"];
}

const BOUNDS = [
  { exclusive: "exclusiveMinimum", inclusive: "minimum", step: 1, pick: Math.max },
  { exclusive: "exclusiveMaximum", inclusive: "maximum", step: -1, pick: Math.min },
] as const;

/** Converts exclusive bounds to inclusive ones: the next whole number, or the bound itself. */
function lowerBounds(node: Node, position: Position): void {
  for (const { exclusive, inclusive, step, pick } of BOUNDS) {
    const bound = node[exclusive];
    const isFitting = has(position, exclusive) && typeof bound === "number";
    if (bound === undefined || isFitting) continue;
    delete node[exclusive];
    const isExact = node["type"] === "integer" && Number.isSafeInteger(bound);
    if (!isExact) loosenKeyword(position, exclusive, "For the provider, the bound itself is allowed.");
    if (typeof bound !== "number") continue;
    const next = isExact ? bound + step : bound;
    const present = node[inclusive];
    setField(node, inclusive, typeof present === "number" ? pick(present, next) : next);
  }
}

function lowerTuple(node: Node, position: Position): void {
  const { prefixItems, items } = node;
  const elements = Array.isArray(prefixItems) ? prefixItems : [];
  if (items === true) delete node["items"];
  if (items === false) {
    delete node["items"];
    const { maxItems } = node;
    node["maxItems"] = typeof maxItems === "number" ? Math.min(maxItems, elements.length) : elements.length;
  }
  if (prefixItems === undefined || has(position, "prefixItems")) return;
  delete node["prefixItems"];
  loosenKeyword(position, "prefixItems", "For the provider, items may be in any order.");
  const rest = asFields(items);
  node["items"] = { anyOf: [...elements, ...(rest === null ? [] : [rest])] };
}

/** Replaces an `enum` with values of unsupported kinds by alternatives: the supported values, and the types of the others. */
function lowerEnum(node: Node, position: Position): void {
  const values = node["enum"];
  if (values === undefined) return;
  const { enumKinds } = position.lowering.rules;
  const list: readonly unknown[] = Array.isArray(values) ? values : [];
  if (list.length > 0 && list.every((value) => enumKinds.has(kindOf(value)))) return;
  delete node["enum"];
  if (list.length === 0 || node["anyOf"] !== undefined) {
    drop(position, "enum");
    return;
  }
  const branches = branchValues(list, enumKinds);
  if (!branches.isExact) {
    loosenKeyword(position, "enum", "For the provider, any value of the same types is allowed.");
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

/** Lookaround, back references and word boundaries. */
const IRREGULAR = /\(\?(?:[=!]|<[=!])|\\[1-9bB]/;

function lowerText(node: Node, position: Position): void {
  const { format, pattern, minItems } = node;
  const { formats, patterns, maxMinItems } = position.lowering.rules;
  if (format !== undefined && formats !== null && !formats.has(String(format))) {
    delete node["format"];
    drop(position, "format");
  }
  if (pattern !== undefined && !fitsPatterns(String(pattern), patterns)) {
    delete node["pattern"];
    drop(position, "pattern");
  }
  if (typeof minItems === "number" && minItems > maxMinItems) {
    node["minItems"] = maxMinItems;
    loosenKeyword(position, "minItems", `The provider supports at most ${maxMinItems}.`);
  }
}

function fitsPatterns(pattern: string, patterns: "any" | "regular" | "unanchored"): boolean {
  if (patterns === "any") return true;
  return !IRREGULAR.test(pattern) && (patterns === "regular" || !ANCHORS.test(pattern));
}

/** Anchors. Also matches a caret that negates a class, which is rejected too. */
const ANCHORS = /[\^$]/;

/** Allows additional properties if their names depended on patterns that the subset does not have. */
function lowerOpenness(node: Node, position: Position): void {
  const hasPatterns = node["patternProperties"] !== undefined && !has(position, "patternProperties");
  if (hasPatterns && node["additionalProperties"] !== undefined) delete node["additionalProperties"];
}

/** Keywords that constrain values; leaving them out loosens the schema. */
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

function dropKeywords(node: Node, position: Position): void {
  for (const key of Object.keys(node)) {
    if (has(position, key)) continue;
    delete node[key];
    if (CONSTRAINTS.has(key)) drop(position, key);
  }
}

/** Removes required names without a property, which vendors reject. */
function lowerRequired(node: Node, position: Position): void {
  const { required } = node;
  if (required === undefined) return;
  const properties = asFields(node["properties"]) ?? {};
  const names = Array.isArray(required) ? required : [];
  const known = names.filter((name) => typeof name === "string" && Object.hasOwn(properties, name));
  if (known.length === names.length && Array.isArray(required)) return;
  if (known.length > 0) node["required"] = known;
  else delete node["required"];
  loosenKeyword(position, "required", "Names that `properties` does not have are left out.");
}

/** Whether the subset has a keyword. */
function has({ lowering: { rules } }: Position, keyword: string): boolean {
  return rules.keywords?.has(keyword) ?? true;
}

function drop(position: Position, keyword: string): void {
  loosenKeyword(position, keyword, "The provider does not support this one; it is left out.");
}
