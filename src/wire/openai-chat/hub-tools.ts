import { isDeepStrictEqual } from "node:util";
import type { CustomTool, FunctionTool, Tool, ToolChoice } from "../canonical/request.ts";
import { asFields, asText, type Fields, omit } from "../json/fields.ts";
import { lowerSchema } from "../json-schema/lower-schema.ts";
import { createSchemaBudget, type SchemaBudget } from "../json-schema/lowering.ts";
import { readCacheMark } from "./decode-part.ts";
import type { Warn } from "./encode-part.ts";
import { keptFields, keptSpelling, withExtras } from "./extras.ts";

/** What a tool without `parameters` takes; some vendors want to see it. */
const NO_PARAMETERS: Fields = { type: "object", properties: {} };

/** Reads a tool. A kind that the hub has no name for stays whole as a native one. */
export function decodeTool(raw: Fields): Tool {
  const type = asText(raw["type"]) ?? "unknown";
  const tool = type === "function" ? readFunction(raw) : type === "custom" ? readCustom(raw) : null;
  if (tool === null) return { kind: "native", format: "openai-chat", type, value: raw };
  const cache = readCacheMark(raw["cache_control"]);
  const marked = cache === undefined ? tool : { ...tool, cache };
  const known = KNOWN[tool.kind];
  const unknown = omit(raw, cache === undefined ? known : known.union(CACHE));
  return withExtras(marked, unknown, isPlain(raw, marked) ? {} : { tool: raw });
}

/** Fields of a tool that have a place in the hub. */
const KNOWN: Readonly<Record<"function" | "custom", ReadonlySet<string>>> = {
  function: new Set(["type", "function"]),
  custom: new Set(["type", "custom"]),
};
const CACHE: ReadonlySet<string> = new Set(["cache_control"]);

/** Whether `printTool` would spell it so: nothing in it but what the tool says. */
function isPlain(raw: Fields, tool: FunctionTool | CustomTool): boolean {
  if (tool.kind === "custom" || tool.parameters === null) return isDeepStrictEqual(printTool(tool), raw);
  const { description, strict } = tool;
  const said = 2 + (description === null ? 0 : 1) + (strict === null ? 0 : 1);
  return Object.keys(raw).length === 2 && Object.keys(raw["function"] as Fields).length === said;
}

function readFunction(raw: Fields): FunctionTool | null {
  const inner = asFields(raw["function"]);
  const name = asText(inner?.["name"]);
  if (inner === null || name === null) return null;
  const strict = inner["strict"];
  return {
    kind: "function",
    name,
    description: asText(inner["description"]),
    parameters: asFields(inner["parameters"]),
    strict: typeof strict === "boolean" ? strict : null,
  };
}

function readCustom(raw: Fields): CustomTool | null {
  const inner = asFields(raw["custom"]);
  const name = asText(inner?.["name"]);
  if (inner === null || name === null) return null;
  return {
    kind: "custom",
    name,
    description: asText(inner["description"]),
    inputFormat: readInputFormat(asFields(inner["format"])),
  };
}

/** A grammar stands in an object of its own here, and beside its type in Responses, whose form the hub has. */
function readInputFormat(format: Fields | null): Fields | null {
  const grammar = asFields(format?.["grammar"]);
  return grammar === null ? format : { type: "grammar", ...grammar };
}

function spellInputFormat(format: Fields): Fields {
  const { type, ...grammar } = format;
  return type === "grammar" ? { type, grammar } : format;
}

/** The tools as this format has them: as they came, where they came in it. Those of other formats alone are left out. */
export function encodeTools(tools: readonly Tool[], warn: Warn): Fields[] {
  const schemas = createSchemaBudget();
  return tools.flatMap((tool, place) => {
    if (tool.kind !== "native") return [encodeTool(tool, `tools[${place}]`, schemas, warn)];
    if (tool.format === "openai-chat") return [tool.value];
    warn(`tools[${place}]`, `${tool.type} is a tool only the ${tool.format} format has; it was left out.`);
    return [];
  });
}

function encodeTool(
  tool: FunctionTool | CustomTool,
  field: string,
  schemas: SchemaBudget,
  warn: Warn,
): Fields {
  const raw = asFields(keptSpelling(tool)["tool"]);
  if (raw === null || !isDeepStrictEqual(decodeTool(raw), tool)) {
    return printTool(isForeign(tool) ? fitStrictTool(tool, field, schemas, warn) : tool);
  }
  const inner = asFields(raw["function"]);
  if (inner === null || asFields(inner["parameters"]) !== null) return raw;
  return { ...raw, function: { ...inner, parameters: NO_PARAMETERS } };
}

/** Tools of this format that are spelled as usual have no extras. */
function isForeign({ extras }: FunctionTool | CustomTool): boolean {
  return extras !== undefined && extras.format !== "openai-chat";
}

/** A strict tool of another format with the schema that strictness takes here. */
function fitStrictTool(
  tool: FunctionTool | CustomTool,
  field: string,
  schemas: SchemaBudget,
  warn: Warn,
): FunctionTool | CustomTool {
  if (tool.kind === "custom" || tool.strict !== true || tool.parameters === null) return tool;
  const { schema, loosened } = lowerSchema(tool.parameters, "openai-strict", `${field}.parameters`, schemas);
  for (const { field: place, message } of loosened) warn(place, message);
  return { ...tool, parameters: schema };
}

function printTool(tool: FunctionTool | CustomTool): Fields {
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

/** Reads `tool_choice` in all its forms; null where it says nothing. */
export function readToolChoice(raw: unknown): ToolChoice | null {
  if (raw === "auto" || raw === "none" || raw === "required") return { kind: raw };
  // Mistral's word.
  if (raw === "any") return { kind: "required" };
  if (raw === undefined || raw === null) return null;
  const choice = asFields(raw);
  const name = readToolName(choice);
  if (name !== null) return { kind: "tool", name, ...listCustoms([choice]) };
  const allowed = choice?.["type"] === "allowed_tools" ? asFields(choice["allowed_tools"]) : null;
  const tools = Array.isArray(allowed?.["tools"]) ? allowed["tools"].map(asFields) : [null];
  const names = tools.map(readToolName);
  if (names.includes(null)) return { kind: "native", format: "openai-chat", value: raw };
  const required = allowed?.["mode"] === "required";
  return { kind: "allowed", names: names as string[], required, ...listCustoms(tools) };
}

function listCustoms(tools: readonly (Fields | null)[]): { readonly customs?: readonly string[] } {
  const customs = tools.filter((tool) => tool?.["type"] === "custom").map((tool) => readToolName(tool) ?? "");
  return customs.length === 0 ? {} : { customs };
}

function readToolName(tool: Fields | null): string | null {
  const type = tool?.["type"];
  if (type !== "function" && type !== "custom") return null;
  return asText(asFields(tool?.[type])?.["name"]);
}

/** Whether any of the tools has a place in this format. */
export function hasTools(tools: readonly Tool[]): boolean {
  return tools.some((tool) => tool.kind !== "native" || tool.format === "openai-chat");
}

/** `tool_choice`; null where there is nothing to say, or nothing to choose from. */
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
      warn("tool_choice", `This is something only the ${choice.format} format has; it was left out.`);
      return null;
    default:
      return choice.kind;
  }
}
