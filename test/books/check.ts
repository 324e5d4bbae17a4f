import { reportCounts } from "../support/suite-program.ts";

/** A property that must hold, and where it does not. */
export interface Check {
  readonly property: string;
  /** The number of cases checked; 0 means that nothing was tested. */
  readonly cases: number;
  readonly broken: readonly string[];
}

/** Checks each case: `find` returns what is wrong with one, or `null`. */
export function check<T>(property: string, cases: Iterable<T>, find: (one: T) => string | null): Check {
  const all = [...cases];
  return { property, cases: all.length, broken: all.flatMap((one) => find(one) ?? []) };
}

/** Checks one case. `broken` lists what is wrong. */
export function checkOnce(property: string, broken: readonly string[]): Check {
  return { property, cases: 1, broken };
}

/** Printed cases of a violated property. */
const SHOWN = 10;

/** Prints the checks, `repeat` (the command that repeats the run) if one failed, and the count as the last line. Sets the exit code. */
export function printChecks(all: readonly Check[], repeat: string): void {
  const failed = all.filter(({ broken, cases }) => broken.length > 0 || cases === 0);
  for (const { property, cases, broken } of all) {
    console.log(`${broken.length === 0 && cases > 0 ? "ok  " : "FAIL"} ${property} (${cases})`);
    for (const line of broken.slice(0, SHOWN)) console.log(`       ${line}`);
    if (broken.length > SHOWN) console.log(`       and ${broken.length - SHOWN} more`);
    if (cases === 0) console.log("       nothing was tried");
  }
  if (failed.length > 0) console.log(`Repeat with: ${repeat}`);
  reportCounts(all.length - failed.length, failed.length);
}
