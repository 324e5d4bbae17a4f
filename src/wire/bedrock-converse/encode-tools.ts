import type { Fields } from "../../base/json/fields.ts";
import type {
  ConversationRequest,
  CustomTool,
  FunctionTool,
  Tool,
  ToolChoice,
} from "../canonical/model/request.ts";
import { encodeCachePoint } from "./encode-cache-point.ts";
import type { BedrockEncoding } from "./encoding.ts";

/** Tools as Converse takes them. */
interface EncodedTools {
  /** Null where there are none. */
  readonly toolConfig: Fields | null;
  /** Fields that only the model's own API has. */
  readonly modelFields: Fields;
}

const NO_TOOLS: EncodedTools = { toolConfig: null, modelFields: {} };
const ANYTHING: Fields = { type: "object", properties: {} };
const FREE_TEXT: Fields = {
  type: "object",
  properties: { input: { type: "string" } },
  required: ["input"],
};

/**
 * Encodes the tools and the tool choice. Converse demands tools for a conversation with tool calls, so if the client sent none,
 * the called tools are declared by name.
 */
export function encodeTools(request: ConversationRequest, encoding: BedrockEncoding): EncodedTools {
  const { toolChoice } = request;
  const called = listCalledTools(request);
  const allowed = toolChoice?.kind === "allowed" ? new Set(toolChoice.names) : null;
  const tools = request.tools.flatMap((tool, at) =>
    isOffered(tool, allowed) ? encodeTool(tool, at, encoding) : [],
  );
  const hasTools = tools.length > 0;
  if (toolChoice?.kind === "none" && hasTools) {
    if (called.length === 0) return NO_TOOLS;
    encoding.warn(
      "tool_choice",
      "Tools cannot be forbidden once one has been called; the model may call one.",
    );
  }
  if (!hasTools && called.length === 0) return NO_TOOLS;
  if (!hasTools) return { toolConfig: { tools: called.map(declareCalled) }, modelFields: {} };
  return withChoice(tools, request, encoding);
}

function listCalledTools(request: ConversationRequest): string[] {
  const parts = request.messages.flatMap((message) => message.parts);
  return [...new Set(parts.flatMap((part) => (part.kind === "tool-call" ? [part.name] : [])))];
}

function declareCalled(name: string): Fields {
  return { toolSpec: { name, description: "No longer offered.", inputSchema: { json: ANYTHING } } };
}

function isOffered(tool: Tool, allowed: ReadonlySet<string> | null): boolean {
  return allowed === null || tool.kind === "native" || allowed.has(tool.name);
}

function encodeTool(tool: Tool, at: number, encoding: BedrockEncoding): Fields[] {
  if (tool.kind === "native") {
    if (tool.format === "bedrock-converse") return [tool.value];
    encoding.warn(`tools[${at}]`, `The tool "${tool.type}" was left out: another provider runs it.`);
    return [];
  }
  const spec = {
    name: tool.name,
    ...(tool.description ? { description: tool.description } : {}),
    inputSchema: {
      json:
        tool.kind === "function"
          ? encodeSchema(tool.parameters, `tools[${at}].parameters`, encoding)
          : FREE_TEXT,
    },
  };
  warnOfTool(tool, at, encoding);
  // Nova takes cache points only in the system prompt and in messages.
  const mark = encoding.family === "claude" ? tool.cache : undefined;
  return [{ toolSpec: spec }, ...(mark === undefined ? [] : encodeCachePoint(mark, encoding))];
}

function warnOfTool(tool: FunctionTool | CustomTool, at: number, { warn }: BedrockEncoding): void {
  if (tool.kind === "custom") {
    warn(
      `tools[${at}]`,
      `"${tool.name}" takes free text; it was sent as a function with one string, "input".`,
    );
  } else if (tool.strict === true) {
    // Converse has the field, but some models behind it, such as Claude Sonnet 5, reject it.
    warn(
      `tools[${at}].function.strict`,
      "Not every model of this provider supports strict schemas; it was left out.",
    );
  }
}

function encodeSchema(parameters: Fields | null, field: string, { warn, schemas }: BedrockEncoding): Fields {
  if (parameters === null) return ANYTHING;
  const { schema, loosened } = schemas.lower(parameters, "bedrock", field);
  for (const { field: path, message } of loosened) warn(path, message);
  return schema;
}

function withChoice(tools: Fields[], request: ConversationRequest, encoding: BedrockEncoding): EncodedTools {
  const choice = encodeChoice(request.toolChoice, encoding);
  if (request.parallelToolCalls !== false) {
    return {
      toolConfig: { tools, ...(choice === null ? {} : { toolChoice: choice.converse }) },
      modelFields: {},
    };
  }
  if (encoding.family === "claude") {
    // Converse has no such field, and rejects its own tool choice together with the model's.
    const own = { ...(choice?.claude ?? { type: "auto" }), disable_parallel_tool_use: true };
    return { toolConfig: { tools }, modelFields: { tool_choice: own } };
  }
  encoding.warn("parallel_tool_calls", "This model may call several tools at once.");
  return {
    toolConfig: { tools, ...(choice === null ? {} : { toolChoice: choice.converse }) },
    modelFields: {},
  };
}

interface EncodedChoice {
  readonly converse: Fields;
  /** The tool choice in the form of Claude's own API. */
  readonly claude: Fields;
}

const ANY: EncodedChoice = { converse: { any: {} }, claude: { type: "any" } };

/** Returns null for `auto`, which some models do not accept explicitly. */
function encodeChoice(choice: ToolChoice | null, { warn }: BedrockEncoding): EncodedChoice | null {
  switch (choice?.kind) {
    case "required":
      return ANY;
    case "allowed":
      return choice.required ? ANY : null;
    case "tool":
      return { converse: { tool: { name: choice.name } }, claude: { type: "tool", name: choice.name } };
    case "native":
      warn("tool_choice", "Another provider's choice of tools was left out; the model chooses.");
      return null;
    default:
      return null;
  }
}

/** Returns whether the request forces the model to call a tool. */
export function forcesTool({ tools, toolChoice }: ConversationRequest): boolean {
  if (tools.length === 0 || toolChoice === null) return false;
  return (
    toolChoice.kind === "required" ||
    toolChoice.kind === "tool" ||
    (toolChoice.kind === "allowed" && toolChoice.required)
  );
}
