import { tryParseFields } from "../../../base/json/fields.ts";

/**
 * Returns a function call's arguments as the JSON of an object, which many hosts require. Other arguments are wrapped by `wrapArguments`.
 */
export function objectArguments(args: string): string {
  return tryParseFields(args) === null ? wrapArguments(args) : args;
}

/**
 * Returns the JSON of an object for arguments that are not: `{}` for none, else an object with the model's text in `arguments`, so
 * that the model sees it.
 */
export function wrapArguments(args: string): string {
  const trimmed = args.trim();
  return trimmed === "" || trimmed === "null" ? "{}" : JSON.stringify({ arguments: args });
}
