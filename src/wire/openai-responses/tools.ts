import type { CustomTool, FunctionTool, Tool, ToolChoice } from "../canonical/request.ts";
import type { Warning } from "../conversation/warning.ts";
import { asFields, type Fields, omit } from "../json/fields.ts";
import { lowerSchema } from "../json-schema/lower-schema.ts";
import { createSchemaBudget, type SchemaBudget } from "../json-schema/lowering.ts";
import { markSpelling, readSpelling } from "./extras.ts";
import { ownNameOf } from "./namespaces.ts";

/** Tools as the hub has them: those of a `namespace` stand one by one and name it. */
export function decodeTools(list: readonly unknown[]): Tool[] {
  return list
    .map(asFields)
    .filter((tool) => tool !== null)
    .flatMap((tool) => decodeNamespace(tool) ?? [decodeTool(tool) ?? toNative(tool)]);
}

function toNative(value: Fields): Tool {
  return { kind: "native", format: "openai-responses", type: String(value["type"]), value };
}

function decodeNamespace(tool: Fields): Tool[] | null {
  const { type, name, tools } = tool;
  if (type !== "namespace" || typeof name !== "string" || !Array.isArray(tools) || tools.length === 0)
    return null;
  const nested = tools.map((one) => decodeTool(asFields(one) ?? {}));
  if (nested.some((one) => one === null)) return null;
  const item = omit(tool, new Set(["type", "name", "tools"]));
  return (nested as (FunctionTool | CustomTool)[]).map((one, place) => ({
    ...one,
    namespace: name,
    extras: markSpelling({
      ...readSpelling(one),
      ...(place === 0 ? { item } : { continues: true as const }),
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

/** Tools as this format has them; natives of other formats are for the caller to name and leave out. */
export function encodeTools(tools: readonly Tool[], warnings: Warning[]): Fields[] {
  const encoded: Fields[] = [];
  const schemas = createSchemaBudget();
  let group: Group | null = null;
  for (const [at, given] of tools.entries()) {
    const tool = fitStrict(given, `tools[${at}]`, schemas, warnings);
    if (tool.kind === "native") {
      if (tool.format === "openai-responses") encoded.push(tool.value);
    } else if (tool.namespace === undefined) {
      encoded.push(encodeTool(tool));
    } else if (group !== null && joinsNamespace(group, tool)) {
      group.tools.push(encodeTool(tool));
      continue;
    } else {
      group = { name: tool.namespace, tools: [encodeTool(tool)] };
      encoded.push({ type: "namespace", description: "", ...readSpelling(tool)?.item, ...group });
      continue;
    }
    group = null;
  }
  return encoded;
}

/** A strict tool of another format with the schema that strictness takes here. */
function fitStrict(tool: Tool, field: string, schemas: SchemaBudget, warnings: Warning[]): Tool {
  const isForeign = tool.kind === "function" && tool.strict === true && readSpelling(tool) === null;
  if (!isForeign || tool.parameters === null) return tool;
  const { schema, loosened } = lowerSchema(tool.parameters, "openai-strict", `${field}.parameters`, schemas);
  warnings.push(...loosened);
  return { ...tool, parameters: schema };
}

/** A namespace while its tools come. */
interface Group {
  readonly name: string;
  readonly tools: Fields[];
}

function joinsNamespace(group: Group, tool: FunctionTool | CustomTool): boolean {
  const spelling = readSpelling(tool);
  return group.name === tool.namespace && (spelling === null || spelling.continues === true);
}

const NO_ARGUMENTS: Fields = { type: "object", properties: {} };

function encodeTool(tool: FunctionTool | CustomTool): Fields {
  const own = readSpelling(tool)?.part;
  const described = tool.description === null ? {} : { description: tool.description };
  if (tool.kind === "custom") {
    const format = tool.inputFormat === null ? {} : { format: tool.inputFormat };
    return { ...own, type: "custom", name: ownNameOf(tool), ...described, ...format };
  }
  return {
    ...own,
    type: "function",
    name: ownNameOf(tool),
    ...described,
    ...encodeParameters(tool, own),
    ...encodeStrict(tool, own),
  };
}

/** A tool without parameters takes none, which upstreams want to see as a schema. */
function encodeParameters({ parameters }: FunctionTool, own: Fields | undefined): Fields {
  if (own !== undefined && "parameters" in own && own["parameters"] !== null) return {};
  return { parameters: parameters ?? NO_ARGUMENTS };
}

/** Elsewhere nothing said means loose; here it means strict, and schemas that are not made for it are refused. */
function encodeStrict({ strict }: FunctionTool, own: Fields | undefined): Fields {
  if (strict !== null) return { strict };
  return own === undefined ? { strict: false } : {};
}

const WORDS = new Set<unknown>(["auto", "none", "required"]);

/** `tool_choice`. What names tools in a way the hub cannot is kept as it is. */
export function decodeToolChoice(value: unknown, tools: readonly Tool[]): ToolChoice {
  if (WORDS.has(value)) return { kind: value as "auto" | "none" | "required" };
  const fields = asFields(value) ?? {};
  const native: ToolChoice = { kind: "native", format: "openai-responses", value };
  const customs = listCustoms(tools);
  const named = readNamed(fields, customs);
  if (named !== null) return { kind: "tool", name: named };
  const { type, mode, tools: list } = fields;
  if (type !== "allowed_tools" || !Array.isArray(list) || Object.keys(fields).length !== 3) return native;
  if (mode !== "auto" && mode !== "required") return native;
  const names = list.map((entry) => readNamed(asFields(entry) ?? {}, customs));
  if (names.some((name) => name === null)) return native;
  return { kind: "allowed", names: names as string[], required: mode === "required" };
}

/** The tool that `{type, name}` names; null where it says more, or another kind than the tool has. */
function readNamed(fields: Fields, customs: ReadonlySet<string>): string | null {
  const { type, name } = fields;
  if (typeof name !== "string" || Object.keys(fields).length !== 2) return null;
  return type === kindOfTool(name, customs) ? name : null;
}

function kindOfTool(name: string, customs: ReadonlySet<string>): "function" | "custom" {
  return customs.has(name) ? "custom" : "function";
}

/** The names of tools that take free text. */
function listCustoms(tools: readonly Tool[]): ReadonlySet<string> {
  return new Set(tools.flatMap((tool) => (tool.kind === "custom" ? [tool.name] : [])));
}

/** The choice as this format says it; null where it is another format's own. */
export function encodeToolChoice(choice: ToolChoice, tools: readonly Tool[]): unknown {
  const customs = listCustoms(tools);
  const nameTool = (name: string) => ({ type: kindOfTool(name, customs), name });
  switch (choice.kind) {
    case "tool":
      return nameTool(choice.name);
    case "allowed":
      return {
        type: "allowed_tools",
        mode: choice.required ? "required" : "auto",
        tools: choice.names.map(nameTool),
      };
    case "native":
      return choice.format === "openai-responses" ? choice.value : null;
    default:
      return choice.kind;
  }
}
