import { rejectField } from "../../../../base/failures/errors.ts";
import { asFields, type Fields } from "../../../../base/json/fields.ts";
import type { Tool, ToolChoice } from "../../../canonical/model/request.ts";
import { takeCache } from "../parts/cache-mark.ts";
import { FORMAT, makeExtras } from "../parts/extras.ts";
import { type FieldTaker, takeFields } from "../parts/take-fields.ts";

/** Decodes `tools`. Tools with a type of their own are the vendor's and pass whole. */
export function decodeTools(tools: unknown): Tool[] {
  if (tools === undefined || tools === null) return [];
  if (!Array.isArray(tools)) return rejectField("tools", "must be an array of tools");
  return tools.map((tool, at) => decodeTool(asFields(tool), `tools[${at}]`));
}

function decodeTool(tool: Fields | null, field: string): Tool {
  if (tool === null) return rejectField(field, "must be an object with name and input_schema");
  const type = tool["type"] ?? "custom";
  if (typeof type !== "string")
    return rejectField(`${field}.type`, 'must be a string, "custom" for a tool of your own');
  if (type !== "custom") return { kind: "native", format: FORMAT, type, value: tool };
  const take = takeFields(tool);
  const name = take.text("name");
  if (!name) return rejectField(`${field}.name`, "must be a string that is not empty");
  const description = take.text("description");
  const parameters = take.fields("input_schema");
  const strict = take.flag("strict");
  const cache = takeCache(take);
  return { kind: "function", name, description, parameters, strict, ...cache, ...makeExtras(take.rest()) };
}

interface ToolChoiceReading {
  readonly toolChoice: ToolChoice | null;
  readonly parallelToolCalls: boolean | null;
  /** The other fields of `tool_choice`, which are written over the encoded ones. */
  readonly rest: Fields;
}

/** Takes `tool_choice`. */
export function takeToolChoice(take: FieldTaker): ToolChoiceReading {
  const raw = take.fields("tool_choice");
  if (raw === null) return { toolChoice: null, parallelToolCalls: null, rest: {} };
  const choice = takeFields(raw);
  const toolChoice = readChoice(choice, raw);
  if (toolChoice.kind === "native") return { toolChoice, parallelToolCalls: null, rest: {} };
  const disables = choice.peek("disable_parallel_tool_use");
  // A false means the same as none, so it stays.
  if (disables === true) choice.drop("disable_parallel_tool_use");
  const parallelToolCalls = typeof disables === "boolean" ? !disables : null;
  return { toolChoice, parallelToolCalls, rest: choice.rest() };
}

function readChoice(choice: FieldTaker, raw: Fields): ToolChoice {
  switch (choice.drop("type")) {
    case "auto":
      return { kind: "auto" };
    case "any":
      return { kind: "required" };
    case "none":
      return { kind: "none" };
    case "tool": {
      const name = choice.text("name");
      return name
        ? { kind: "tool", name }
        : rejectField("tool_choice.name", "must be the name of one of the tools");
    }
    default:
      return { kind: "native", format: FORMAT, value: raw };
  }
}
