import { asFields, type Fields } from "../json/fields.ts";
import { setMember } from "./merge-schemas.ts";

/** What a branch says of one property; `branch` is its place among the branches. */
interface Said {
  readonly branch: number;
  readonly schema: unknown;
}

/** An object that is valid wherever one of the branches is. Linear in the branches together. */
export function unionObjects(branches: readonly (Fields | null)[]): Fields {
  const objects = branches.filter((branch) => branch !== null);
  const said = gatherProperties(objects);
  const silent = groupSilent(objects);
  const properties: Record<string, unknown> = {};
  for (const [key, own] of said) setMember(properties, key, unionOf(own, silent));
  const required = listRequiredByAll(objects);
  const isClosed = objects.length > 0 && objects.every(isClosedObject);
  return {
    properties,
    ...(required.length > 0 ? { required } : {}),
    ...(isClosed ? { additionalProperties: false } : {}),
  };
}

function gatherProperties(objects: readonly Fields[]): Map<string, Said[]> {
  const said = new Map<string, Said[]>();
  for (const [branch, object] of objects.entries()) {
    const properties = asFields(object["properties"]) ?? {};
    for (const key of Object.keys(properties)) {
      const known = said.get(key);
      const schema = properties[key];
      if (known === undefined) said.set(key, [{ branch, schema }]);
      else known.push({ branch, schema });
    }
  }
  return said;
}

/** Branches that say the same of properties which they do not name. */
interface Silent {
  readonly schema: unknown;
  /** See `keyOf`. */
  readonly key: unknown;
  /** Their places, ascending. */
  readonly branches: number[];
}

/** Different things that branches may say so; more of them are as good as anything. */
const MAX_SILENT = 8;

/** Branches that forbid what they do not name are left out. */
function groupSilent(objects: readonly Fields[]): readonly Silent[] {
  const groups = new Map<unknown, Silent>();
  for (const [branch, object] of objects.entries()) {
    if (isClosedObject(object)) continue;
    const schema = schemaOfOthers(object);
    const key = keyOf(schema);
    const known = groups.get(key);
    if (known === undefined) groups.set(key, { schema, key, branches: [branch] });
    else known.branches.push(branch);
  }
  if (groups.size <= MAX_SILENT) return [...groups.values()];
  const all = [...groups.values()].flatMap(({ branches }) => branches);
  const schema = {};
  return [{ schema, key: keyOf(schema), branches: all.sort((a, b) => a - b) }];
}

function schemaOfOthers({ additionalProperties, patternProperties }: Fields): unknown {
  if (patternProperties !== undefined || additionalProperties === true) return {};
  return additionalProperties ?? {};
}

function isClosedObject({ additionalProperties, patternProperties }: Fields): boolean {
  return additionalProperties === false && patternProperties === undefined;
}

/**
 * What the branches say of one property, in their order. One that says nothing of it stays as `{}`: any value holds, and
 * the others still tell what is meant. One that forbids it is left out.
 */
function unionOf(own: readonly Said[], silent: readonly Silent[]): unknown {
  const named = new Set(own.map(({ branch }) => branch));
  const all = own.filter(({ schema }) => schema !== false).map(keyed);
  for (const { schema, key, branches } of silent) {
    // At most one step more than there are branches that name it.
    const branch = branches.find((place) => !named.has(place));
    if (branch !== undefined) all.push({ branch, schema, key });
  }
  const different = new Map<unknown, unknown>();
  for (const { schema, key } of all.sort((a, b) => a.branch - b.branch)) {
    if (!different.has(key)) different.set(key, schema);
  }
  const schemas = [...different.values()];
  return schemas.length === 1 ? schemas[0] : { anyOf: schemas };
}

function keyed({ branch, schema }: Said): Said & { readonly key: unknown } {
  const said = schema === true ? {} : schema;
  return { branch, schema: said, key: keyOf(said) };
}

/** The same for schemas that say the same; those that go deeper are not compared, because that is dear. */
function keyOf(schema: unknown): unknown {
  return isFlat(schema) ? JSON.stringify(schema) : schema;
}

function isFlat(schema: unknown): boolean {
  const isPlain = (value: unknown) => typeof value !== "object" || value === null;
  return Object.values(asFields(schema) ?? {}).every((member) =>
    Array.isArray(member) ? member.every(isPlain) : isPlain(member),
  );
}

/** In the order of the first branch. */
function listRequiredByAll(objects: readonly Fields[]): unknown[] {
  const lists = objects.map(({ required }) => new Set<unknown>(Array.isArray(required) ? required : []));
  const counts = new Map<unknown, number>();
  for (const list of lists) for (const key of list) counts.set(key, (counts.get(key) ?? 0) + 1);
  return [...(lists[0] ?? [])].filter((key) => counts.get(key) === lists.length);
}
