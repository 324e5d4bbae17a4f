import { InvalidArgumentError } from "commander";
import type { OptionSpec } from "./command-spec.ts";

/** Returns the options of a range of time for a list of `what`. */
export function rangeOptions(what: string): readonly OptionSpec[] {
  return [
    {
      flags: "--from <time>",
      help: `Only ${what} at or after this time, such as 2027-01-31T12:00:00Z`,
      field: "from",
      read: readTime,
    },
    { flags: "--to <time>", help: `Only ${what} before this time`, field: "to", read: readTime },
  ];
}

const TIME = /^\d{4}-\d\d-\d\d(?:T\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d))?$/;

/**
 * Reads a time, or a day (UTC). Returns it as RFC 3339.
 * @throws InvalidArgumentError
 */
function readTime(text: string): string {
  const ms = TIME.test(text) ? Date.parse(text) : Number.NaN;
  if (ms >= 0) return new Date(ms).toISOString();
  throw new InvalidArgumentError(
    "It must be a time such as 2027-01-31T12:00:00Z, or a day such as 2027-01-31.",
  );
}
