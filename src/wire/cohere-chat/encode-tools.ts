import { asFields, type Fields } from "../../base/json/fields.ts";
import type { ConversationRequest, FunctionTool, Tool, ToolChoice } from "../canonical/model/request.ts";
import type { Warning } from "../conversation/warning.ts";
import { SchemaLowerer } from "../json-schema/lower-schema.ts";

type Warn = (field: Warning["field"], message: string) => void;

const NO_ARGUMENTS: Fields = { type: "object", properties: {} };
const FREE_TEXT: Fields = {
  type: "object",
  properties: { input: { type: "string" } },
  required: ["input"],
};

/**
 * Encodes the tools and the tool choice; no fields without tools. Cohere cannot force one tool by name, so only the tools that
 * the choice allows are sent.
 */
export function encodeTools(
  { tools, toolChoice, parallelToolCalls }: ConversationRequest,
  warn: Warn,
): Fields {
  const strictness = encodeStrictness(tools, warn);
  const isStrict = strictness["strict_tools"] === true;
  const allowed = listAllowed(toolChoice);
  const schemas = new SchemaLowerer();
  const encoded = tools.flatMap((tool, at) =>
    isOffered(tool, allowed) ? encodeTool(tool, `tools[${at}]`, { isStrict, schemas, warn }) : [],
  );
  if (encoded.length === 0) return {};
  if (parallelToolCalls === false) warn("parallel_tool_calls", "This model may call several tools at once.");
  return { tools: encoded, ...strictness, ...encodeChoice(toolChoice, warn) };
}

/** Returns the names of the tools that a choice allows; null for all tools. */
function listAllowed(choice: ToolChoice | null): ReadonlySet<string> | null {
  if (choice?.kind === "tool") return new Set([choice.name]);
  return choice?.kind === "allowed" ? new Set(choice.names) : null;
}

function isOffered(tool: Tool, allowed: ReadonlySet<string> | null): boolean {
  return allowed === null || (tool.kind !== "native" && allowed.has(tool.name));
}

/** The state that the encoders of all tools share. */
interface Encoding {
  readonly isStrict: boolean;
  readonly schemas: SchemaLowerer;
  readonly warn: Warn;
}

function encodeTool(tool: Tool, field: string, encoding: Encoding): Fields[] {
  const { warn } = encoding;
  if (tool.kind === "native") {
    warn(field, `The tool "${tool.type}" was left out: another provider runs it.`);
    return [];
  }
  if (tool.kind === "custom") {
    warn(field, `"${tool.name}" takes free text; it was sent as a function with one string, "input".`);
  }
  const { name, description } = tool;
  const parameters =
    tool.kind === "custom" ? FREE_TEXT : encodeSchema(tool.parameters, `${field}.parameters`, encoding);
  return [{ type: "function", function: { name, ...(description ? { description } : {}), parameters } }];
}

/** Strict schemas support fewer keywords. */
function encodeSchema(parameters: Fields | null, field: string, encoding: Encoding): Fields {
  if (parameters === null) return NO_ARGUMENTS;
  const { isStrict, schemas, warn } = encoding;
  const subset = isStrict ? "cohere-output" : "cohere";
  const { schema, loosened } = schemas.lower(parameters, subset, field);
  for (const { field: path, message } of loosened) warn(path, message);
  return schema;
}

/** Returns `strict_tools`. Cohere is strict with all tools or with none, and only if each has a required parameter. */
function encodeStrictness(tools: readonly Tool[], warn: Warn): Fields {
  const functions = tools.filter((tool) => tool.kind === "function");
  if (!functions.some((tool) => tool.strict === true)) return {};
  if (functions.length === tools.length && functions.every(canBeStrict)) return { strict_tools: true };
  warn(
    "tools",
    "This provider supports strict only for all tools at once, and only with required parameters; strict was left out.",
  );
  return {};
}

function canBeStrict({ strict, parameters }: FunctionTool): boolean {
  const required = asFields(parameters)?.["required"];
  return strict === true && Array.isArray(required) && required.length > 0;
}

function encodeChoice(choice: ToolChoice | null, warn: Warn): Fields {
  switch (choice?.kind) {
    case "none":
      return { tool_choice: "NONE" };
    case "required":
    case "tool":
      return { tool_choice: "REQUIRED" };
    case "allowed":
      return choice.required ? { tool_choice: "REQUIRED" } : {};
    case "native":
      warn("tool_choice", "Another provider's choice of tools was left out; the model chooses.");
      return {};
    default:
      return {};
  }
}
