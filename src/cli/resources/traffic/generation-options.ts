import { InvalidArgumentError } from "commander";
import { OUTCOMES } from "../../../core/usage/records/records.ts";
import { REJECTED } from "../../../core/usage/rejections/rejection.ts";
import type { OptionSpec } from "../../endpoint/command-spec.ts";
import { rangeOptions } from "../../endpoint/range-options.ts";

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
export const RANGE_OPTIONS = rangeOptions("requests");

/**
 * Reads the hash of a session.
 * @throws InvalidArgumentError
 */
function readSession(text: string): string {
  if (/^s_[\w-]{32}$/.test(text)) return text;
  throw new InvalidArgumentError("It must be the session_id of a request: s_ and 32 characters.");
}
