import { asFields, type Fields } from "../json/fields.ts";
import { measureChars } from "../json/measure-chars.ts";
import {
  countUnfoldings,
  type Lowering,
  loosen,
  MAX_DEPTH,
  MAX_UNFOLDINGS,
  type Place,
  requireBranches,
  type Unfolded,
} from "./lowering.ts";
import { mergeSchemas } from "./merge-schemas.ts";
import { resolveRef } from "./resolve-ref.ts";

/** A schema without `$ref` and `allOf`, and the references that went into it. */
export interface FlatSchema {
  readonly schema: Record<string, unknown>;
  readonly unfolded: Unfolded | null;
}

/** Unfolds a schema's references and merges its `allOf` into it. */
export function flattenSchema(schema: Fields, place: Place, lowering: Lowering): FlatSchema {
  if (schema["$ref"] === undefined && schema["allOf"] === undefined) {
    return { schema: renameTuple(schema), unfolded: place.unfolded };
  }
  const gathering: Gathering = { parts: [], refs: new Set(), place, lowering };
  gatherParts(schema, gathering, 0);
  const { schema: merged, lost } = mergeSchemas(gathering.parts);
  for (const key of lost) {
    loosen(lowering, `${place.path}.allOf`, `Of several \`${key}\` only the first is sent.`);
  }
  const { refs } = gathering;
  return { schema: merged, unfolded: refs.size === 0 ? place.unfolded : { refs, before: place.unfolded } };
}

interface Gathering {
  readonly parts: Fields[];
  readonly refs: Set<string>;
  readonly place: Place;
  readonly lowering: Lowering;
}

/** What stands beside a reference comes first: its description is meant for this place. */
function gatherParts(schema: Fields, gathering: Gathering, depth: number): void {
  const { $ref, allOf, ...own } = schema;
  if (Object.keys(own).length > 0) gathering.parts.push(renameTuple(own));
  if (depth > MAX_DEPTH) {
    leaveOpen(gathering, "is nested too deep and left open");
    return;
  }
  if (typeof $ref === "string") {
    const target = unfoldRef($ref, gathering);
    if (target !== null) gatherParts(target, gathering, depth + 1);
  }
  if (!Array.isArray(allOf)) return;
  requireBranches(allOf, `${gathering.place.path}.allOf`);
  for (const branch of allOf) {
    const fields = asFields(branch);
    if (fields !== null) gatherParts(fields, gathering, depth + 1);
    else if (branch === false) leaveOpen(gathering, "cannot be forbidden and is left open");
  }
}

function unfoldRef(ref: string, gathering: Gathering): Fields | null {
  const { lowering, place, refs } = gathering;
  // Joined with itself it says nothing more.
  if (refs.has(ref)) return null;
  const target = resolveRef(lowering.document, ref);
  if (target === null) {
    leaveOpen(gathering, "refers to what is not in the schema and is left open");
    return null;
  }
  if (countUnfoldings(place.unfolded, ref) >= MAX_UNFOLDINGS) {
    leaveOpen(gathering, "is recursive and left open from here on");
    return pickHead(target);
  }
  if (lowering.unfoldedCharsLeft > 0) {
    lowering.unfoldedCharsLeft -= measureChars(target, lowering.unfoldedCharsLeft);
  }
  if (lowering.unfoldedCharsLeft < 0) {
    leaveOpen(gathering, "unfolds to too much and is left open");
    return null;
  }
  refs.add(ref);
  return target;
}

/** What can be said of a schema that is not unfolded. */
function pickHead({ type, title, description }: Fields): Fields {
  return {
    ...(type === undefined ? {} : { type }),
    ...(title === undefined ? {} : { title }),
    ...(description === undefined ? {} : { description }),
  };
}

function leaveOpen({ lowering, place }: Gathering, what: string): void {
  loosen(lowering, place.path, `The schema ${what}.`);
}

/** A tuple as older drafts spell it, in the newer spelling. */
function renameTuple(schema: Fields): Record<string, unknown> {
  if (!Array.isArray(schema["items"])) return { ...schema };
  const { items, additionalItems, ...rest } = schema;
  return {
    ...rest,
    prefixItems: items,
    ...(additionalItems === undefined ? {} : { items: additionalItems }),
  };
}
