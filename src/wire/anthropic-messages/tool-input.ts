import { asFields, type Fields } from "../json/fields.ts";

/**
 * A tool call's arguments as this API's `input`, an object always: none are `{}`, and what is no JSON object, as models
 * write it now and then, stands in `input.input` so that nothing is lost.
 */
export function readToolInput(args: string): Fields {
  if (args.trim() === "" || args.trim() === "null") return {};
  try {
    return asFields(JSON.parse(args)) ?? wrapText(args);
  } catch {
    return wrapText(args);
  }
}

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
