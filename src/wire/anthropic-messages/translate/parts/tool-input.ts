import { asFields, type Fields } from "../../../../base/json/fields.ts";
import { parseArguments, parseInput } from "../../../../base/json/parse-json.ts";
import type { ToolCallPart } from "../../../canonical/model/parts.ts";

/**
 * Returns the arguments of a tool call as this API's `input`, which is always an object: `{}` for none. Arguments that are not a
 * JSON object, as models write now and then, are kept in `input.input`.
 */
export function readToolInput(call: CallArguments): Fields {
  const text = call.arguments.trim();
  if (text === "" || text === "null") return {};
  return asFields(parseArguments(call)) ?? wrapText(call.arguments);
}

/** A call's arguments, and its id for errors. */
type CallArguments = Pick<ToolCallPart, "id" | "arguments">;

/** Returns arguments that this format decoded: the JSON that came, object or not. */
export function readOwnToolInput(args: string): unknown {
  if (args === "") return {};
  try {
    return parseInput(args);
  } catch {
    return wrapText(args);
  }
}

/** Returns the input of a tool that takes free text, see `encodeTools`. */
export function wrapText(text: string): Fields {
  return { input: text };
}
