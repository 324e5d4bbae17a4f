import { isDeepStrictEqual } from "node:util";
import { asFields, type Fields } from "../../../../base/json/fields.ts";
import { StrictToolFitter } from "../../../canonical/fit/fit-strict-tools.ts";
import type { Warn } from "../../../canonical/fit/warn.ts";
import type { CustomTool, FunctionTool, Tool, ToolChoice } from "../../../canonical/model/request.ts";
import { keptSpelling } from "../parts/extras.ts";
import { decodeTool } from "./decode-tools.ts";
import { NO_PARAMETERS, printTool } from "./print-tool.ts";

/**
 * Encodes the tools, as the client spelled them if it speaks this format. Tools that only another format has are left out with a
 * warning.
 */
export function encodeTools(tools: readonly Tool[], warn: Warn): Fields[] {
  const fitter = new StrictToolFitter(warn);
  return tools.flatMap((tool, index) => {
    if (tool.kind !== "native") return [encodeTool(tool, `tools[${index}]`, fitter)];
    if (tool.format === "openai-chat") return [tool.value];
    warn(`tools[${index}]`, `${tool.type} is a tool only the ${tool.format} format has; it was left out.`);
    return [];
  });
}

function encodeTool(tool: FunctionTool | CustomTool, field: string, fitter: StrictToolFitter): Fields {
  const raw = asFields(keptSpelling(tool)["tool"]);
  if (raw === null || !isDeepStrictEqual(decodeTool(raw), tool)) {
    return printTool(isForeign(tool) ? fitter.fit(tool, field) : tool);
  }
  const inner = asFields(raw["function"]);
  if (inner === null || asFields(inner["parameters"]) !== null) return raw;
  return { ...raw, function: { ...inner, parameters: NO_PARAMETERS } };
}

/** Returns whether a tool came in another format. Tools of this format have no extras if they are spelled as usual. */
function isForeign({ extras }: FunctionTool | CustomTool): boolean {
  return extras !== undefined && extras.format !== "openai-chat";
}

/** Returns whether this format can express any of the tools. */
export function hasTools(tools: readonly Tool[]): boolean {
  return tools.some((tool) => tool.kind !== "native" || tool.format === "openai-chat");
}

/** Encodes `tool_choice`; null if it is absent or there is no tool left to choose. */
export function encodeToolChoice(choice: ToolChoice, tools: readonly Tool[], warn: Warn): unknown {
  if (!hasTools(tools)) return null;
  const customs = new Set(tools.flatMap((tool) => (tool.kind === "custom" ? [tool.name] : [])));
  const nameTool = (name: string) => {
    const type = customs.has(name) ? "custom" : "function";
    return { type, [type]: { name } };
  };
  switch (choice.kind) {
    case "tool":
      return nameTool(choice.name);
    case "allowed": {
      const mode = choice.required ? "required" : "auto";
      return { type: "allowed_tools", allowed_tools: { mode, tools: choice.names.map(nameTool) } };
    }
    case "native":
      if (choice.format === "openai-chat") return choice.value;
      warn("tool_choice", `Only the ${choice.format} format has this; it was left out.`);
      return null;
    default:
      return choice.kind;
  }
}
