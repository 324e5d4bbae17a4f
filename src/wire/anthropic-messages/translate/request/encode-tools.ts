import type { Fields } from "../../../../base/json/fields.ts";
import type { Warn } from "../../../canonical/fit/warn.ts";
import type {
  ConversationRequest,
  CustomTool,
  FunctionTool,
  Tool,
  ToolChoice,
} from "../../../canonical/model/request.ts";
import { encodeCache } from "../parts/cache-mark.ts";
import { FORMAT, isOwn, keptFields } from "../parts/extras.ts";

type ToolFields = Pick<ConversationRequest, "tools" | "toolChoice">;

/** Encodes the tools. If only some are allowed, the others are left out, which has the same effect. */
export function encodeTools({ tools, toolChoice }: ToolFields, warn: Warn): Fields[] {
  const allowed = toolChoice?.kind === "allowed" ? new Set(toolChoice.names) : null;
  if (tools.some((tool) => tool.kind === "function" && tool.strict === true && !isOwn(tool))) {
    warn("tools", "This model does not support strict schemas; the tools were sent without strict.");
  }
  return tools
    .filter((tool) => allowed === null || (tool.kind !== "native" && allowed.has(tool.name)))
    .map((tool) => encodeTool(tool, warn))
    .filter((tool) => tool !== null);
}

function encodeTool(tool: Tool, warn: Warn): Fields | null {
  if (tool.kind === "function") return encodeFunction(tool);
  if (tool.kind === "custom") return encodeCustom(tool, warn);
  if (tool.format === FORMAT) return tool.value;
  warn("tools", `This model's provider does not know the tool ${tool.type}; it was left out.`);
  return null;
}

function encodeFunction(tool: FunctionTool): Fields {
  const own = isOwn(tool);
  return {
    name: tool.name,
    ...(tool.description === null ? {} : { description: tool.description }),
    ...(own && tool.parameters === null ? {} : { input_schema: own ? tool.parameters : encodeSchema(tool) }),
    ...(own && tool.strict !== null ? { strict: tool.strict } : {}),
    ...encodeCache(tool),
    ...keptFields(tool),
  };
}

/** This API demands the schema of an object. */
function encodeSchema({ parameters }: FunctionTool): Fields {
  return parameters === null ? { type: "object", properties: {} } : { type: "object", ...parameters };
}

/** Encodes a tool that takes free text as one that takes an object with the text in `input`. */
function encodeCustom(tool: CustomTool, warn: Warn): Fields {
  if (tool.inputFormat !== null && tool.inputFormat["type"] !== "text") {
    warn(
      "tools",
      `The grammar of ${tool.name} is not enforced here; the tool's description shows it to the model.`,
    );
  }
  return {
    name: tool.name,
    ...describeCustom(tool),
    input_schema: {
      type: "object",
      properties: { input: { type: "string" } },
      required: ["input"],
      additionalProperties: false,
    },
    ...encodeCache(tool),
  };
}

function describeCustom({ description, inputFormat }: CustomTool): Fields {
  const definition = inputFormat?.["definition"];
  const grammar = typeof definition === "string" ? `The input must match this grammar:\n${definition}` : null;
  const lines = [description, grammar].filter((line) => line !== null);
  return lines.length === 0 ? {} : { description: lines.join("\n\n") };
}

/** Returns whether a tool must be called, which this API does not allow while the model thinks. */
export function isForced(choice: ToolChoice | null): boolean {
  if (choice?.kind === "allowed") return choice.required;
  return choice?.kind === "required" || choice?.kind === "tool";
}

/** Encodes `tool_choice`; null if none is sent. `rest` is written over it. */
export function encodeToolChoice(
  { toolChoice, parallelToolCalls }: Pick<ConversationRequest, "toolChoice" | "parallelToolCalls">,
  rest: Fields,
  warn: Warn,
): Fields | null {
  const choice = encodeChoice(toolChoice, warn) ?? (parallelToolCalls === false ? { type: "auto" } : null);
  if (choice === null) return null;
  const isOne = parallelToolCalls === false && choice["type"] !== "none";
  return { ...choice, ...(isOne ? { disable_parallel_tool_use: true } : {}), ...rest };
}

function encodeChoice(choice: ToolChoice | null, warn: Warn): Fields | null {
  switch (choice?.kind) {
    case undefined:
      return null;
    case "auto":
      return { type: "auto" };
    case "none":
      return { type: "none" };
    case "required":
      return { type: "any" };
    case "tool":
      return { type: "tool", name: choice.name };
    case "allowed":
      return { type: choice.required ? "any" : "auto" };
    case "native":
      if (choice.format === FORMAT) return choice.value as Fields;
      warn("tool_choice", "This model's provider does not know it; it was left out.");
      return null;
  }
}
