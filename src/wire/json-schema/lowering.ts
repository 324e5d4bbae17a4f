import { BOUNDS } from "../../base/bounds.ts";
import type { Warning } from "../conversation/warning.ts";
import type { Fields } from "../json/fields.ts";
import { type CountLimit, requireAtMost } from "../json/reject-excess.ts";
import type { DialectRules } from "./dialects.ts";

/** Levels of a schema that are looked at; what is deeper is left open. */
export const MAX_DEPTH = 48;
/** How often a reference is unfolded inside itself. */
export const MAX_UNFOLDINGS = 2;
/** Characters of JSON that the references of one schema may add. */
const MAX_UNFOLDED_CHARS = 500_000;
/** The same of all schemas of one request. */
const MAX_UNFOLDED_CHARS_TOGETHER = 2_000_000;
/** Warnings of one schema. */
const MAX_WARNINGS = 24;

/** What all schemas of one request have together. Changed as they are lowered. */
export interface SchemaBudget {
  unfoldedCharsLeft: number;
}

/** The budget of one request. */
export function createSchemaBudget(): SchemaBudget {
  return { unfoldedCharsLeft: MAX_UNFOLDED_CHARS_TOGETHER };
}

/** One schema being lowered. */
export interface Lowering {
  readonly rules: DialectRules;
  /** The schema as it came: references point into it. */
  readonly document: Fields;
  readonly loosened: Warning[];
  unfoldedCharsLeft: number;
}

/** References that were unfolded on the way to a place, the latest ones first. */
export interface Unfolded {
  readonly refs: ReadonlySet<string>;
  readonly before: Unfolded | null;
}

/** How often a reference was unfolded on the way. */
export function countUnfoldings(unfolded: Unfolded | null, ref: string): number {
  let count = 0;
  for (let at = unfolded; at !== null; at = at.before) if (at.refs.has(ref)) count++;
  return count;
}

/** Where in it. */
export interface Place {
  readonly path: string;
  readonly depth: number;
  /** Null where none were. */
  readonly unfolded: Unfolded | null;
}

export function startLowering(rules: DialectRules, document: Fields, budget: SchemaBudget): Lowering {
  const unfoldedCharsLeft = Math.min(MAX_UNFOLDED_CHARS, budget.unfoldedCharsLeft);
  return { rules, document, loosened: [], unfoldedCharsLeft };
}

/** A place one level down. */
export function stepInto(place: Place, step: string): Place {
  return { path: place.path + step, depth: place.depth + 1, unfolded: place.unfolded };
}

/** Names what was loosened. A schema that loses very much says only that. */
export function loosen(lowering: Lowering, field: string, message: string): void {
  const { loosened } = lowering;
  if (loosened.length > MAX_WARNINGS) return;
  if (loosened.length === MAX_WARNINGS) {
    loosened.push({ field, message: "This and more of the schema is looser for the provider." });
  } else loosened.push({ field, message });
}

const BRANCHES: CountLimit = {
  what: "branches",
  bound: BOUNDS.schemaBranches,
  remedy: "Send a simpler schema.",
};

/**
 * Bounds the branches of an `anyOf`, `oneOf` or `allOf`, and the places of a tuple.
 * @throws GatewayError `invalid_request`.
 */
export function requireBranches(list: readonly unknown[], path: string): void {
  requireAtMost(path, list.length, BRANCHES);
}
