import { asFields, type Fields, omit } from "../../../../base/json/fields.ts";
import type { CustomTool, FunctionTool, Tool, ToolChoice } from "../../../canonical/model/request.ts";
import { markSpelling, readSpelling } from "../parts/extras.ts";
import { kindOfTool, listCustoms } from "./tool-kinds.ts";

/** Decodes tools. The tools of a `namespace` become single tools that name it. */
export function decodeTools(list: readonly unknown[]): Tool[] {
  return list
    .map(asFields)
    .filter((tool) => tool !== null)
    .flatMap((tool) => decodeNamespace(tool) ?? [decodeTool(tool) ?? toNative(tool)]);
}

function toNative(value: Fields): Tool {
  const type = String(value["type"]);
  const native = { kind: "native", format: "openai-responses", type, value } as const;
  return type === "namespace" ? { ...native, isNamespace: true } : native;
}

function decodeNamespace(tool: Fields): Tool[] | null {
  const { type, name, tools } = tool;
  if (type !== "namespace" || typeof name !== "string" || !Array.isArray(tools) || tools.length === 0)
    return null;
  const nested = tools.map((one) => decodeTool(asFields(one) ?? {}));
  if (nested.some((one) => one === null)) return null;
  const item = omit(tool, new Set(["type", "name", "tools"]));
  return (nested as (FunctionTool | CustomTool)[]).map((one, index) => ({
    ...one,
    namespace: name,
    extras: markSpelling({
      ...readSpelling(one),
      ...(index === 0 ? { item } : { continues: true as const }),
    }),
  }));
}

function decodeTool(tool: Fields): FunctionTool | CustomTool | null {
  const { type, name } = tool;
  if (typeof name !== "string") return null;
  if (type === "function") return decodeFunction(tool, name);
  return type === "custom" ? decodeCustom(tool, name) : null;
}

function decodeFunction(tool: Fields, name: string): FunctionTool {
  const description = typeof tool["description"] === "string" ? tool["description"] : null;
  const parameters = asFields(tool["parameters"]);
  const strict = typeof tool["strict"] === "boolean" ? tool["strict"] : null;
  const known = new Set(["type", "name"]);
  if (description !== null) known.add("description");
  if (parameters !== null) known.add("parameters");
  if (strict !== null) known.add("strict");
  const extras = markSpelling({ part: omit(tool, known) });
  return { kind: "function", name, description, parameters, strict, extras };
}

function decodeCustom(tool: Fields, name: string): CustomTool {
  const description = typeof tool["description"] === "string" ? tool["description"] : null;
  const inputFormat = asFields(tool["format"]);
  const known = new Set(["type", "name"]);
  if (description !== null) known.add("description");
  if (inputFormat !== null) known.add("format");
  return {
    kind: "custom",
    name,
    description,
    inputFormat,
    extras: markSpelling({ part: omit(tool, known) }),
  };
}

const WORDS = new Set<unknown>(["auto", "none", "required"]);

/** Decodes `tool_choice`. A choice that the canonical model cannot express is kept as it is. */
export function decodeToolChoice(value: unknown, tools: readonly Tool[]): ToolChoice {
  if (WORDS.has(value)) return { kind: value as "auto" | "none" | "required" };
  const fields = asFields(value) ?? {};
  const native: ToolChoice = { kind: "native", format: "openai-responses", value };
  const customs = listCustoms(tools);
  const named = readNamed(fields, customs);
  if (named !== null) return { kind: "tool", name: named };
  // Open Responses lets clients leave out the mode.
  const { type, mode = "auto", tools: list, ...others } = fields;
  if (type !== "allowed_tools" || !Array.isArray(list) || Object.keys(others).length > 0) return native;
  if (mode === "none") return { kind: "none" };
  if (mode !== "auto" && mode !== "required") return native;
  const names = list.map((entry) => readNamed(asFields(entry) ?? {}, customs));
  if (names.some((name) => name === null)) return native;
  return { kind: "allowed", names: names as string[], required: mode === "required" };
}

/** Returns the tool that `{type, name}` names; null if it has other fields, or a type that the tool does not have. */
function readNamed(fields: Fields, customs: ReadonlySet<string>): string | null {
  const { type, name } = fields;
  if (typeof name !== "string" || Object.keys(fields).length !== 2) return null;
  return type === kindOfTool(name, customs) ? name : null;
}
