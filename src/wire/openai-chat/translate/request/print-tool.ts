import type { Fields } from "../../../../base/json/fields.ts";
import type { CustomTool, FunctionTool } from "../../../canonical/model/request.ts";
import { keptFields } from "../parts/extras.ts";

/** The parameters of a function without any; some vendors require the schema. */
export const NO_PARAMETERS: Fields = { type: "object", properties: {} };

/** Returns a tool in the spelling that most hosts know. */
export function printTool(tool: FunctionTool | CustomTool): Fields {
  const { name, description } = tool;
  const named = { name, ...(description === null ? {} : { description }) };
  if (tool.kind === "custom") {
    const format = tool.inputFormat === null ? {} : { format: spellInputFormat(tool.inputFormat) };
    return { type: "custom", custom: { ...named, ...format }, ...keptFields(tool) };
  }
  const strict = tool.strict === null ? {} : { strict: tool.strict };
  const parameters = tool.parameters ?? NO_PARAMETERS;
  return { type: "function", function: { ...named, parameters, ...strict }, ...keptFields(tool) };
}

function spellInputFormat(format: Fields): Fields {
  const { type, ...grammar } = format;
  return type === "grammar" ? { type, grammar } : format;
}
