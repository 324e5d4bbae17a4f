import type { Warning } from "../../conversation/warning.ts";

/** Warns the client of something that the target cannot express; see `Warning`. */
export type Warn = (field: string, message: string, isGrave?: true) => void;

/** Returns a function that adds warnings to a list. */
export function warnInto(warnings: Warning[]): Warn {
  return (field, message, isGrave) => void warnings.push({ field, message, ...(isGrave ? { isGrave } : {}) });
}

/** Drops warnings, for what is encoded for another purpose than a request. */
export const ignoreWarnings: Warn = () => {};
