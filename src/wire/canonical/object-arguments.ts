import { tryParseFields } from "../json/fields.ts";

/**
 * A function call's arguments as JSON of an object, which many hosts parse: unchanged where they are, else as
 * `wrapArguments` has them.
 */
export function objectArguments(args: string): string {
  return tryParseFields(args) === null ? wrapArguments(args) : args;
}

/** Arguments that are no JSON of an object as one: none are `{}`, and what a model wrote wrongly stands in `arguments`, for it to see. */
export function wrapArguments(args: string): string {
  const trimmed = args.trim();
  return trimmed === "" || trimmed === "null" ? "{}" : JSON.stringify({ arguments: args });
}
