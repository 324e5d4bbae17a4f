import { asFields, type Fields, setField } from "../../base/json/fields.ts";
import type { Warning } from "../conversation/warning.ts";
import { closeObject } from "./close-object.ts";
import { flattenSchema } from "./flatten-schema.ts";
import { lowerKeywords } from "./lower-keywords.ts";
import { lowerRoot } from "./lower-root.ts";
import {
  type Lowering,
  loosen,
  loosenKeyword,
  MAX_DEPTH,
  type Position,
  requireBranches,
  stepInto,
} from "./lowering.ts";
import { setMember } from "./merge-schemas.ts";
import { type SchemaSubset, SUBSETS, type SubsetRules } from "./subsets.ts";

/** The characters of JSON that the references of one schema may add. */
const MAX_INLINED_CHARS = 500_000;
/** The characters of JSON that the references of all schemas of one request may add. */
const MAX_INLINED_CHARS_TOGETHER = 2_000_000;

/** A lowered schema, and warnings about loosened constraints. */
interface LoweredSchema {
  readonly schema: Fields;
  readonly loosened: readonly Warning[];
}

/**
 * Lowers one schema, see `SchemaLowerer`.
 * @throws GatewayError `invalid_request` for a list of too many branches.
 */
export function lowerSchema(schema: Fields, subset: SchemaSubset, path: string): LoweredSchema {
  return new SchemaLowerer().lower(schema, subset, path);
}

/**
 * Converts the JSON Schemas of one request to a vendor's subset. What the subset cannot express is loosened, with a warning; a schema
 * within the subset is unchanged.
 */
export class SchemaLowerer {
  private inlinedCharsLeft = MAX_INLINED_CHARS_TOGETHER;

  /**
   * Lowers a schema. `path` is its position in the client's request: `tools[0].function.parameters`.
   * @throws GatewayError `invalid_request` for a list of too many branches.
   */
  lower(schema: Fields, subset: SchemaSubset, path: string): LoweredSchema {
    const rules: SubsetRules = SUBSETS[subset];
    const inlinedCharsLeft = Math.min(MAX_INLINED_CHARS, this.inlinedCharsLeft);
    const lowering: Lowering = { rules, document: schema, loosened: [], inlinedCharsLeft };
    const position: Position = { lowering, path, depth: 0, inlined: null };
    const rooted = rules.root === "object" ? lowerRoot(schema, position) : schema;
    const lowered = rules.keywords === null ? rooted : lowerNode(rooted, position);
    this.inlinedCharsLeft -= inlinedCharsLeft - lowering.inlinedCharsLeft;
    return { schema: lowered, loosened: lowering.loosened };
  }
}

function lowerNode(schema: unknown, position: Position): Fields {
  if (schema === true) return {};
  const fields = asFields(schema);
  if (fields === null) {
    loosen(position, "The provider cannot forbid values here; any value is allowed.");
    return {};
  }
  if (position.depth > MAX_DEPTH) {
    loosen(position, "The schema is nested too deeply; any value is allowed here.");
    return {};
  }
  const { rules } = position.lowering;
  const ref = rules.refs === "kept" ? findPlainRef(fields) : null;
  if (ref !== null) return lowerChildren(keepRef(fields, ref, position), position);
  const flat = flattenSchema(fields, position);
  const node = lowerKeywords(flat.schema, position);
  const inside = flat.inlined === position.inlined ? position : { ...position, inlined: flat.inlined };
  const lowered = lowerChildren(node, inside);
  return closeObject(lowered, fields, position);
}

/** Returns the reference of a schema that is only a reference, or an `allOf` of one; null for any other schema. */
function findPlainRef(fields: Fields): string | null {
  const { $ref, allOf } = fields;
  if (typeof $ref === "string") return $ref.startsWith("#") ? $ref : null;
  const [only, ...others] = Array.isArray(allOf) ? allOf : [];
  const wrapped = others.length === 0 ? asFields(only)?.["$ref"] : undefined;
  const isPlain = Object.keys(fields).every((key) => key === "allOf" || !CONSTRAINTS.has(key));
  return typeof wrapped === "string" && wrapped.startsWith("#") && isPlain ? wrapped : null;
}

const CONSTRAINTS = new Set(["type", "enum", "const", "properties", "required", "items", "anyOf", "oneOf"]);

/** Returns a reference without the keywords next to it, except for definitions. */
function keepRef(fields: Fields, ref: string, position: Position): Record<string, unknown> {
  const kept: Record<string, unknown> = { $ref: ref };
  for (const key in fields) {
    if (key === "$defs" || key === "definitions") setField(kept, key, fields[key]);
    else if (CONSTRAINTS.has(key)) {
      loosenKeyword(
        position,
        key,
        "The provider does not allow anything next to a reference; it is left out.",
      );
    }
  }
  return kept;
}

/** Keywords that contain schemas: by name, in a list, or a single one. */
const CHILDREN: ReadonlyMap<string, "map" | "list" | "single"> = new Map([
  ["properties", "map"],
  ["$defs", "map"],
  ["definitions", "map"],
  ["anyOf", "list"],
  ["prefixItems", "list"],
  ["items", "single"],
  ["additionalProperties", "single"],
]);

function lowerChildren(node: Record<string, unknown>, position: Position): Record<string, unknown> {
  // Iterates over the schema's keywords, because most schemas have few of them.
  for (const key in node) {
    const kind = CHILDREN.get(key);
    if (kind === undefined) continue;
    const value = node[key];
    if (kind === "list") {
      if (Array.isArray(value)) setField(node, key, lowerList(value, stepInto(position, `.${key}`)));
      continue;
    }
    const fields = asFields(value);
    if (fields === null) continue;
    const inside = stepInto(position, `.${key}`);
    setField(node, key, kind === "map" ? lowerMap(fields, inside) : lowerNode(fields, inside));
  }
  return node;
}

/** Lowers the schemas of a list. `position` is that of the list. */
function lowerList(list: readonly unknown[], position: Position): Fields[] {
  requireBranches(list, position.path);
  return list.map((schema, at) => lowerNode(schema, { ...position, path: `${position.path}[${at}]` }));
}

/** Lowers the schemas of a map. `position` is that of the map. */
function lowerMap(map: Fields, position: Position): Fields {
  const lowered: Record<string, unknown> = {};
  for (const name of Object.keys(map)) {
    setMember(lowered, name, lowerNode(map[name], { ...position, path: `${position.path}.${name}` }));
  }
  return lowered;
}
