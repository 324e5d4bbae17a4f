import type { Warning } from "../conversation/warning.ts";
import { asFields, type Fields } from "../json/fields.ts";
import { closeObject } from "./close-object.ts";
import { DIALECTS, type DialectRules, type SchemaDialect } from "./dialects.ts";
import { flattenSchema } from "./flatten-schema.ts";
import { lowerKeywords } from "./lower-keywords.ts";
import { lowerRoot } from "./lower-root.ts";
import {
  createSchemaBudget,
  type Lowering,
  loosen,
  MAX_DEPTH,
  type Place,
  requireBranches,
  type SchemaBudget,
  startLowering,
  stepInto,
} from "./lowering.ts";
import { setMember } from "./merge-schemas.ts";

/**
 * Brings a JSON Schema into a vendor's dialect. What the dialect cannot say is loosened and named; a schema that fits
 * is unchanged. `path` says where the schema stands in the client's request: `tools[0].function.parameters`. Schemas of one
 * request share its `budget`.
 * @throws GatewayError `invalid_request` for a list of too many branches.
 */
export function lowerSchema(
  schema: Fields,
  dialect: SchemaDialect,
  path: string,
  budget: SchemaBudget = createSchemaBudget(),
): { readonly schema: Fields; readonly loosened: readonly Warning[] } {
  const rules: DialectRules = DIALECTS[dialect];
  const lowering = startLowering(rules, schema, budget);
  const { unfoldedCharsLeft } = lowering;
  const place: Place = { path, depth: 0, unfolded: null };
  const rooted = rules.root === "object" ? lowerRoot(schema, place, lowering) : schema;
  const lowered = rules.keywords === null ? rooted : lowerNode(rooted, place, lowering);
  budget.unfoldedCharsLeft -= unfoldedCharsLeft - lowering.unfoldedCharsLeft;
  return { schema: lowered, loosened: lowering.loosened };
}

function lowerNode(schema: unknown, place: Place, lowering: Lowering): Fields {
  if (schema === true) return {};
  const fields = asFields(schema);
  if (fields === null) {
    loosen(lowering, place.path, "The schema cannot be forbidden and is left open.");
    return {};
  }
  if (place.depth > MAX_DEPTH) {
    loosen(lowering, place.path, "The schema is nested too deep and left open.");
    return {};
  }
  const { rules } = lowering;
  const ref = rules.refs === "kept" ? keptRef(fields) : null;
  if (ref !== null) return lowerChildren(keepRef(fields, ref, place, lowering), place, lowering);
  const flat = flattenSchema(fields, place, lowering);
  const node = lowerKeywords(flat.schema, place, lowering);
  const here = flat.unfolded === place.unfolded ? place : { ...place, unfolded: flat.unfolded };
  const lowered = lowerChildren(node, here, lowering);
  return closeObject(lowered, fields, place, lowering);
}

/** The reference that a node is, or wraps in an `allOf` of one. */
function keptRef(fields: Fields): string | null {
  const { $ref, allOf } = fields;
  if (typeof $ref === "string") return $ref.startsWith("#") ? $ref : null;
  const [only, ...others] = Array.isArray(allOf) ? allOf : [];
  const wrapped = others.length === 0 ? asFields(only)?.["$ref"] : undefined;
  const isPlain = Object.keys(fields).every((key) => key === "allOf" || !CONSTRAINTS_BESIDE.has(key));
  return typeof wrapped === "string" && wrapped.startsWith("#") && isPlain ? wrapped : null;
}

const CONSTRAINTS_BESIDE = new Set([
  "type",
  "enum",
  "const",
  "properties",
  "required",
  "items",
  "anyOf",
  "oneOf",
]);

/** A reference takes nothing beside it but definitions. */
function keepRef(fields: Fields, ref: string, place: Place, lowering: Lowering): Record<string, unknown> {
  const kept: Record<string, unknown> = { $ref: ref };
  for (const key in fields) {
    if (key === "$defs" || key === "definitions") kept[key] = fields[key];
    else if (CONSTRAINTS_BESIDE.has(key)) {
      loosen(
        lowering,
        `${place.path}.${key}`,
        "Nothing may stand beside a reference for the provider; it is left out.",
      );
    }
  }
  return kept;
}

/** Keywords with schemas in them: by name, in a list, or one. */
const CHILDREN: ReadonlyMap<string, "map" | "list" | "single"> = new Map([
  ["properties", "map"],
  ["$defs", "map"],
  ["definitions", "map"],
  ["anyOf", "list"],
  ["prefixItems", "list"],
  ["items", "single"],
  ["additionalProperties", "single"],
]);

function lowerChildren(
  node: Record<string, unknown>,
  place: Place,
  lowering: Lowering,
): Record<string, unknown> {
  // Most schemas have few keywords and none of these.
  for (const key in node) {
    const kind = CHILDREN.get(key);
    if (kind === undefined) continue;
    const value = node[key];
    if (kind === "list") {
      if (Array.isArray(value)) node[key] = lowerList(value, stepInto(place, `.${key}`), lowering);
      continue;
    }
    const fields = asFields(value);
    if (fields === null) continue;
    const inside = stepInto(place, `.${key}`);
    node[key] = kind === "map" ? lowerMap(fields, inside, lowering) : lowerNode(fields, inside, lowering);
  }
  return node;
}

/** `place` is the list's, one level down already. */
function lowerList(list: readonly unknown[], place: Place, lowering: Lowering): Fields[] {
  requireBranches(list, place.path);
  return list.map((schema, at) => lowerNode(schema, { ...place, path: `${place.path}[${at}]` }, lowering));
}

/** `place` is the map's, one level down already. */
function lowerMap(map: Fields, place: Place, lowering: Lowering): Fields {
  const lowered: Record<string, unknown> = {};
  for (const name of Object.keys(map)) {
    setMember(lowered, name, lowerNode(map[name], { ...place, path: `${place.path}.${name}` }, lowering));
  }
  return lowered;
}
