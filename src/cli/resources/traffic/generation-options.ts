import { InvalidArgumentError } from "commander";
import { OUTCOMES } from "../../../core/usage/records/records.ts";
import { REJECTED } from "../../../core/usage/rejections/rejection.ts";
import type { OptionSpec } from "../../endpoint/command-spec.ts";

/** Returns the options of a filter that do not derive from its fields. */
const optionsFor = (outcomes: readonly string[]): readonly OptionSpec[] => [
  {
    flags: "--session <id>",
    help: "Only requests of this session (s_…, the session_id of a request)",
    field: "session_id",
    read: readSession,
  },
  {
    flags: "--outcome <outcome>",
    help: "Only requests with this outcome",
    field: "outcome",
    choices: outcomes,
  },
];

/** The options of a filter of generations that do not derive from its fields. */
export const FILTER_OPTIONS = optionsFor(OUTCOMES);

/** The same for the live feed, which also has rejected requests. */
export const STREAM_OPTIONS = optionsFor([...OUTCOMES, REJECTED]);

/** The options of a range of time. */
export const RANGE_OPTIONS: readonly OptionSpec[] = [
  {
    flags: "--from <time>",
    help: "Only requests at or after this time, such as 2027-01-31T12:00:00Z",
    field: "from",
    read: readTime,
  },
  { flags: "--to <time>", help: "Only requests before this time", field: "to", read: readTime },
];

/**
 * Reads the hash of a session.
 * @throws InvalidArgumentError
 */
function readSession(text: string): string {
  if (/^s_[\w-]{32}$/.test(text)) return text;
  throw new InvalidArgumentError("It must be the session_id of a request: s_ and 32 characters.");
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
