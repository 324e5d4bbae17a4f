import { asFields, type Fields } from "../../base/json/fields.ts";
import { measureChars } from "../../base/json/measure-chars.ts";
import {
  countInlined,
  type InlinedRefs,
  loosen,
  loosenKeyword,
  MAX_DEPTH,
  MAX_RECURSION,
  type Position,
  requireBranches,
} from "./lowering.ts";
import { mergeSchemas } from "./merge-schemas.ts";
import { resolveRef } from "./resolve-ref.ts";

/** A schema without `$ref` and `allOf`, and the references that were inlined on the way to it. */
interface FlatSchema {
  readonly schema: Record<string, unknown>;
  readonly inlined: InlinedRefs | null;
}

/** Inlines a schema's references and merges its `allOf` into it. */
export function flattenSchema(schema: Fields, position: Position): FlatSchema {
  const { inlined: before } = position;
  if (schema["$ref"] === undefined && schema["allOf"] === undefined) {
    return { schema: renameTuple(schema), inlined: before };
  }
  const gathering: Gathering = { parts: [], refs: new Set(), position };
  gatherParts(schema, gathering, 0);
  const { schema: merged, lost } = mergeSchemas(gathering.parts);
  for (const key of lost) loosenKeyword(position, "allOf", `Of several \`${key}\` only the first is sent.`);
  const { refs } = gathering;
  return { schema: merged, inlined: refs.size === 0 ? before : { refs, before } };
}

/** The schemas that must all hold at a position, and the references among them. */
interface Gathering {
  readonly parts: Fields[];
  readonly refs: Set<string>;
  readonly position: Position;
}

/** The keywords next to a reference come first, because their description is meant for this position. */
function gatherParts(schema: Fields, gathering: Gathering, depth: number): void {
  const { $ref, allOf, ...own } = schema;
  if (Object.keys(own).length > 0) gathering.parts.push(renameTuple(own));
  if (depth > MAX_DEPTH) {
    warnLoosened(gathering, "is nested too deep and left open");
    return;
  }
  if (typeof $ref === "string") {
    const target = inlineRef($ref, gathering);
    if (target !== null) gatherParts(target, gathering, depth + 1);
  }
  if (!Array.isArray(allOf)) return;
  requireBranches(allOf, `${gathering.position.path}.allOf`);
  for (const branch of allOf) {
    const fields = asFields(branch);
    if (fields !== null) gatherParts(fields, gathering, depth + 1);
    else if (branch === false) warnLoosened(gathering, "cannot be forbidden and is left open");
  }
}

/** Returns the target of a reference, or its replacement; null if it is dropped. */
function inlineRef(ref: string, gathering: Gathering): Fields | null {
  const { position, refs } = gathering;
  const { lowering } = position;
  // A second copy of the same schema adds nothing.
  if (refs.has(ref)) return null;
  const target = resolveRef(lowering.document, ref);
  if (target === null) {
    warnLoosened(gathering, "refers to what is not in the schema and is left open");
    return null;
  }
  if (countInlined(position.inlined, ref) >= MAX_RECURSION) {
    warnLoosened(gathering, "is recursive and left open from here on");
    return pickHead(target);
  }
  if (lowering.inlinedCharsLeft > 0) {
    lowering.inlinedCharsLeft -= measureChars(target, lowering.inlinedCharsLeft);
  }
  if (lowering.inlinedCharsLeft < 0) {
    warnLoosened(gathering, "unfolds to too much and is left open");
    return null;
  }
  refs.add(ref);
  return target;
}

/** Returns the type and annotations of a schema that is not inlined. */
function pickHead({ type, title, description }: Fields): Fields {
  return {
    ...(type === undefined ? {} : { type }),
    ...(title === undefined ? {} : { title }),
    ...(description === undefined ? {} : { description }),
  };
}

function warnLoosened({ position }: Gathering, what: string): void {
  loosen(position, `The schema ${what}.`);
}

/** Converts a tuple from the spelling of older drafts to `prefixItems`. */
function renameTuple(schema: Fields): Record<string, unknown> {
  if (!Array.isArray(schema["items"])) return { ...schema };
  const { items, additionalItems, ...rest } = schema;
  return {
    ...rest,
    prefixItems: items,
    ...(additionalItems === undefined ? {} : { items: additionalItems }),
  };
}
