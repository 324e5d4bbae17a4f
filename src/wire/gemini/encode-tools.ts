import { asFields, type Fields } from "../../base/json/fields.ts";
import type { CustomTool, FunctionTool, Tool, ToolChoice } from "../canonical/model/request.ts";
import { type GeminiEncoding, warn } from "./encoding.ts";
import { encodeFunctionName, type FunctionName } from "./function-name.ts";

/** Returns `tools` and `toolConfig`; no fields if there are no tools. */
export function encodeTools(
  tools: readonly Tool[],
  choice: ToolChoice | null,
  encoding: GeminiEncoding,
): Fields {
  const isOffered = choice?.kind === "allowed" && !choice.required ? allowOnly(choice.names) : null;
  const declarations: Fields[] = [];
  const native: Fields[] = [];
  for (const [at, tool] of tools.entries()) {
    if (isOffered?.(tool) === false) continue;
    const field = `tools[${at}]`;
    if (tool.kind === "function") {
      if (tool.strict === true)
        warn(encoding, `${field}.strict`, "The provider does not support strict schemas.");
      declarations.push(encodeFunction(tool, field, encoding));
    } else if (tool.kind === "custom") declarations.push(encodeCustom(tool, field, encoding));
    else if (tool.format === "gemini") native.push(tool.value);
    else warn(encoding, field, `The provider does not have ${tool.type}; it is left out.`);
  }
  const encoded = [...(declarations.length > 0 ? [{ functionDeclarations: declarations }] : []), ...native];
  if (encoded.length === 0) return {};
  const config = declarations.length > 0 && choice !== null ? encodeChoice(choice, tools, encoding) : null;
  return {
    tools: encoded,
    ...(config === null ? {} : { toolConfig: { functionCallingConfig: config } }),
  };
}

/**
 * Returns a test for the tools to offer. Gemini restricts calls by name only where a call is required, so tools that may not be
 * called are not offered.
 */
function allowOnly(names: readonly string[]): (tool: Tool) => boolean {
  const allowed = new Set(names);
  return (tool) => tool.kind === "native" || allowed.has(tool.name);
}

/**
 * Uses `parametersJsonSchema` instead of `parameters`. AI Studio (v1beta) and Vertex AI (v1) document it for standard JSON
 * Schema, while `parameters`, a subset of OpenAPI 3.0, rejects what real tools send: lists of types, `anyOf` next to other
 * keywords, references. Keywords that Gemini does not list as supported are still lowered.
 */
function encodeFunction(tool: FunctionTool, field: string, encoding: GeminiEncoding): Fields {
  const { description, parameters } = tool;
  return {
    name: encodeFunctionName(tool, `${field}.name`),
    ...(description === null ? {} : { description }),
    ...(parameters === null ? {} : encodeParameters(parameters, `${field}.parameters`, encoding)),
  };
}

/** A function without parameters is declared without a schema: Gemini has rejected objects without properties. */
function encodeParameters(parameters: Fields, field: string, encoding: GeminiEncoding): Fields {
  const { schema, loosened } = encoding.schemas.lower(parameters, "gemini", field);
  encoding.warnings.push(...loosened);
  const hasProperties = Object.keys(asFields(schema["properties"]) ?? {}).length > 0;
  return hasProperties || asFields(schema["additionalProperties"]) !== null
    ? { parametersJsonSchema: schema }
    : {};
}

function encodeCustom(tool: CustomTool, field: string, encoding: GeminiEncoding): Fields {
  warn(
    encoding,
    field,
    "The provider has no tools that take free text; it is offered as a function of one text, `input`.",
  );
  return {
    name: encodeFunctionName(tool, `${field}.name`),
    ...(tool.description === null ? {} : { description: tool.description }),
    parametersJsonSchema: { type: "object", properties: { input: { type: "string" } }, required: ["input"] },
  };
}

/** Indexes the tools by name; the first of several with the same name counts. */
function indexByName(tools: readonly Tool[]): ReadonlyMap<string, FunctionName> {
  const byName = new Map<string, FunctionName>();
  for (const tool of tools) {
    if (tool.kind !== "native" && !byName.has(tool.name)) byName.set(tool.name, tool);
  }
  return byName;
}

function encodeChoice(choice: ToolChoice, tools: readonly Tool[], encoding: GeminiEncoding): Fields | null {
  const encodeName = (name: string) => encodeFunctionName(known().get(name) ?? { name }, "tool_choice");
  const known = (): ReadonlyMap<string, FunctionName> => (byName ??= indexByName(tools));
  let byName: ReadonlyMap<string, FunctionName> | null = null;
  switch (choice.kind) {
    case "auto":
      return { mode: "AUTO" };
    case "none":
      return { mode: "NONE" };
    case "required":
      return { mode: "ANY" };
    case "tool":
      return { mode: "ANY", allowedFunctionNames: [encodeName(choice.name)] };
    case "allowed":
      return choice.required
        ? { mode: "ANY", allowedFunctionNames: choice.names.map(encodeName) }
        : { mode: "AUTO" };
    case "native":
      if (choice.format === "gemini") return asFields(choice.value);
      warn(encoding, "tool_choice", "The provider does not have this choice; the model chooses.");
      return null;
  }
}
