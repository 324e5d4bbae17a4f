import type { Fields } from "../../base/json/fields.ts";
import { type CountLimit, requireAtMost } from "../../base/json/reject-excess.ts";
import { BOUNDS } from "../../base/numbers/bounds.ts";
import type { Warning } from "../conversation/warning.ts";
import type { SubsetRules } from "./subsets.ts";

/** The number of levels of a schema that are read. Deeper schemas are replaced by ones that accept anything. */
export const MAX_DEPTH = 48;
/** How often a reference is inlined within itself. */
export const MAX_RECURSION = 2;
/** The maximum number of warnings about one schema. */
const MAX_WARNINGS = 24;

/** One schema while it is lowered. */
export interface Lowering {
  readonly rules: SubsetRules;
  /** The client's schema, to which references are resolved. */
  readonly document: Fields;
  /** Warnings about loosened constraints. */
  readonly loosened: Warning[];
  /** The number of characters of JSON that references may still add. */
  inlinedCharsLeft: number;
}

/** A position in a schema that is lowered. */
export interface Position {
  readonly lowering: Lowering;
  /** The path in the client's request. */
  readonly path: string;
  readonly depth: number;
  /** The references that were inlined on the way; null if none were. */
  readonly inlined: InlinedRefs | null;
}

/** The references that were inlined on the way to a position, the latest ones first. */
export interface InlinedRefs {
  readonly refs: ReadonlySet<string>;
  readonly before: InlinedRefs | null;
}

/** Returns how often a reference was inlined on the way. */
export function countInlined(inlined: InlinedRefs | null, ref: string): number {
  let count = 0;
  for (let at = inlined; at !== null; at = at.before) if (at.refs.has(ref)) count++;
  return count;
}

/** Returns a position one level down. */
export function stepInto(position: Position, step: string): Position {
  const { lowering, path, depth, inlined } = position;
  return { lowering, path: path + step, depth: depth + 1, inlined };
}

/** Adds a warning about the schema at a position. After too many warnings, one last warning stands for all others. */
export function loosen({ lowering, path }: Position, message: string): void {
  addWarning(lowering.loosened, path, message);
}

/** Adds a warning about a keyword of the schema at a position. */
export function loosenKeyword({ lowering, path }: Position, keyword: string, message: string): void {
  addWarning(lowering.loosened, `${path}.${keyword}`, message);
}

function addWarning(loosened: Warning[], field: string, message: string): void {
  if (loosened.length > MAX_WARNINGS) return;
  if (loosened.length === MAX_WARNINGS) {
    loosened.push({ field, message: "This and other parts of the schema are looser for the provider." });
  } else loosened.push({ field, message });
}

const BRANCHES: CountLimit = {
  what: "branches",
  bound: BOUNDS.schemaBranches,
  remedy: "Send a simpler schema.",
};

/**
 * Limits the branches of an `anyOf`, `oneOf` or `allOf`, and the elements of a tuple.
 * @throws GatewayError `invalid_request`.
 */
export function requireBranches(list: readonly unknown[], path: string): void {
  requireAtMost(path, list.length, BRANCHES);
}
