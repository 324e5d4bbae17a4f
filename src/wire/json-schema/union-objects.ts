import { asFields, type Fields } from "../../base/json/fields.ts";
import { setMember } from "./merge-schemas.ts";

/** The schema that a branch has for a property. `branch` is the index of the branch. */
interface BranchSchema {
  readonly branch: number;
  readonly schema: unknown;
}

/**
 * Returns an object schema that accepts every value that one of the branches accepts. Takes linear time in the total size of the branches.
 */
export function unionObjects(branches: readonly (Fields | null)[]): Fields {
  const objects = branches.filter((branch) => branch !== null);
  const byName = gatherProperties(objects);
  const others = groupOthers(objects);
  const properties: Record<string, unknown> = {};
  for (const [key, own] of byName) setMember(properties, key, unionOf(own, others));
  const required = listRequiredByAll(objects);
  const isClosed = objects.length > 0 && objects.every(isClosedObject);
  return {
    properties,
    ...(required.length > 0 ? { required } : {}),
    ...(isClosed ? { additionalProperties: false } : {}),
  };
}

function gatherProperties(objects: readonly Fields[]): Map<string, BranchSchema[]> {
  const byName = new Map<string, BranchSchema[]>();
  for (const [branch, object] of objects.entries()) {
    const properties = asFields(object["properties"]) ?? {};
    for (const key of Object.keys(properties)) {
      const known = byName.get(key);
      const schema = properties[key];
      if (known === undefined) byName.set(key, [{ branch, schema }]);
      else known.push({ branch, schema });
    }
  }
  return byName;
}

/** Branches with equal schemas for the properties that they do not name. */
interface OtherProperties {
  readonly schema: unknown;
  /** See `keyOf`. */
  readonly key: unknown;
  /** Their indexes, ascending. */
  readonly branches: number[];
}

/** The maximum number of different schemas for unnamed properties. With more of them, anything is accepted. */
const MAX_GROUPS = 8;

/** Groups the branches by their schema for unnamed properties. Branches that forbid those are left out. */
function groupOthers(objects: readonly Fields[]): readonly OtherProperties[] {
  const groups = new Map<unknown, OtherProperties>();
  for (const [branch, object] of objects.entries()) {
    if (isClosedObject(object)) continue;
    const schema = schemaOfOthers(object);
    const key = keyOf(schema);
    const known = groups.get(key);
    if (known === undefined) groups.set(key, { schema, key, branches: [branch] });
    else known.branches.push(branch);
  }
  if (groups.size <= MAX_GROUPS) return [...groups.values()];
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
 * Returns the schema of one property: the alternatives of all branches, in their order. A branch without the property adds `{}`, so
 * that any value is valid while the other alternatives still describe it. A branch that forbids the property adds nothing.
 */
function unionOf(own: readonly BranchSchema[], others: readonly OtherProperties[]): unknown {
  const named = new Set(own.map(({ branch }) => branch));
  const all = own.filter(({ schema }) => schema !== false).map(addKey);
  for (const { schema, key, branches } of others) {
    // Takes at most one step more than there are branches with the property.
    const branch = branches.find((index) => !named.has(index));
    if (branch !== undefined) all.push({ branch, schema, key });
  }
  const different = new Map<unknown, unknown>();
  for (const { schema, key } of all.sort((a, b) => a.branch - b.branch)) {
    if (!different.has(key)) different.set(key, schema);
  }
  const schemas = [...different.values()];
  return schemas.length === 1 ? schemas[0] : { anyOf: schemas };
}

function addKey({ branch, schema }: BranchSchema): BranchSchema & { readonly key: unknown } {
  const plain = schema === true ? {} : schema;
  return { branch, schema: plain, key: keyOf(plain) };
}

/** Returns a key that is equal for equal schemas. Nested schemas are only equal to themselves, because comparing them is expensive. */
function keyOf(schema: unknown): unknown {
  return isFlat(schema) ? JSON.stringify(schema) : schema;
}

function isFlat(schema: unknown): boolean {
  const isPlain = (value: unknown) => typeof value !== "object" || value === null;
  return Object.values(asFields(schema) ?? {}).every((member) =>
    Array.isArray(member) ? member.every(isPlain) : isPlain(member),
  );
}

/** Returns the names that all branches require, in the order of the first branch. */
function listRequiredByAll(objects: readonly Fields[]): unknown[] {
  const lists = objects.map(({ required }) => new Set<unknown>(Array.isArray(required) ? required : []));
  const counts = new Map<unknown, number>();
  for (const list of lists) for (const key of list) counts.set(key, (counts.get(key) ?? 0) + 1);
  return [...(lists[0] ?? [])].filter((key) => counts.get(key) === lists.length);
}
