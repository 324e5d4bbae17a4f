import { isDeepStrictEqual } from "node:util";
import { asFields, asText, type Fields, omit } from "../../../../base/json/fields.ts";
import { readCacheMark } from "../../../canonical/model/parts.ts";
import type { CustomTool, FunctionTool, Tool, ToolChoice } from "../../../canonical/model/request.ts";
import { withExtras } from "../parts/extras.ts";
import { printTool } from "./print-tool.ts";

/** Decodes a tool. A kind that the canonical model does not have becomes a native tool. */
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

/** Fields of a tool that the canonical model has. */
const KNOWN: Readonly<Record<"function" | "custom", ReadonlySet<string>>> = {
  function: new Set(["type", "function"]),
  custom: new Set(["type", "custom"]),
};
const CACHE: ReadonlySet<string> = new Set(["cache_control"]);

/** Returns whether `printTool` would print exactly this tool. */
function isPlain(raw: Fields, tool: FunctionTool | CustomTool): boolean {
  if (tool.kind === "custom" || tool.parameters === null) return isDeepStrictEqual(printTool(tool), raw);
  const { description, strict } = tool;
  const usualFields = 2 + (description === null ? 0 : 1) + (strict === null ? 0 : 1);
  return Object.keys(raw).length === 2 && Object.keys(raw["function"] as Fields).length === usualFields;
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

/**
 * Decodes the input format of a custom tool. Here a grammar is an object of its own; the canonical model has its members next to
 * the type, as in Responses.
 */
function readInputFormat(format: Fields | null): Fields | null {
  const grammar = asFields(format?.["grammar"]);
  return grammar === null ? format : { type: "grammar", ...grammar };
}

/** Decodes `tool_choice` in all its forms; null if it is absent. */
export function decodeToolChoice(raw: unknown): ToolChoice | null {
  if (raw === "auto" || raw === "none" || raw === "required") return { kind: raw };
  // Mistral's word for `required`.
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
