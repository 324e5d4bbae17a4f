import type { Warning } from "../canonical/format.ts";
import type { Fields } from "../json/fields.ts";
import type { DialectRules } from "./dialects.ts";

/** Levels of a schema that are looked at; what is deeper is left open. */
export const MAX_DEPTH = 48;
/** How often a reference is unfolded inside itself. */
export const MAX_UNFOLDINGS = 2;
/** Characters of JSON that references may add. */
const MAX_UNFOLDED_CHARS = 500_000;
/** Warnings of one schema. */
const MAX_WARNINGS = 24;

/** One schema being lowered. */
export interface Lowering {
  readonly rules: DialectRules;
  /** The schema as it came: references point into it. */
  readonly document: Fields;
  readonly loosened: Warning[];
  unfoldedCharsLeft: number;
}

/** Where in it. */
export interface Place {
  readonly path: string;
  readonly depth: number;
  /** References unfolded around here, and how often. */
  readonly unfolded: ReadonlyMap<string, number>;
}

export function startLowering(rules: DialectRules, document: Fields): Lowering {
  return { rules, document, loosened: [], unfoldedCharsLeft: MAX_UNFOLDED_CHARS };
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
