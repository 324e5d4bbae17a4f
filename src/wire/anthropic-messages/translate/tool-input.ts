import type { ToolCallPart } from "../../canonical/parts.ts";
import { asFields, type Fields } from "../../json/fields.ts";
import { parseArguments } from "../../json/parse-json.ts";

/**
 * A tool call's arguments as this API's `input`, an object always: none are `{}`, and what is no JSON object, as models
 * write it now and then, stands in `input.input` so that nothing is lost.
 */
export function readToolInput(call: CalledWith): Fields {
  const text = call.arguments.trim();
  if (text === "" || text === "null") return {};
  return asFields(parseArguments(call)) ?? wrapText(call.arguments);
}

/** A call's arguments as text, and its id for errors. */
type CalledWith = Pick<ToolCallPart, "id" | "arguments">;

/** The same for arguments that this format read: whatever JSON came, object or not, goes out again. */
export function readOwnToolInput(args: string): unknown {
  if (args === "") return {};
  try {
    return JSON.parse(args);
  } catch {
    return wrapText(args);
  }
}

/** The input of a tool that takes free text, see `encodeTools`. */
export function wrapText(text: string): Fields {
  return { input: text };
}
