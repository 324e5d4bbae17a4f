import type { Fields } from "../../../../base/json/fields.ts";
import { StrictToolFitter } from "../../../canonical/fit/fit-strict-tools.ts";
import type { Warn } from "../../../canonical/fit/warn.ts";
import type { CustomTool, FunctionTool, Tool, ToolChoice } from "../../../canonical/model/request.ts";
import { readSpelling } from "../parts/extras.ts";
import { ownNameOf } from "../parts/namespaces.ts";
import { kindOfTool, listCustoms } from "./tool-kinds.ts";

/** Encodes tools. Native tools of other formats are left out; the caller warns of them. */
export function encodeTools(tools: readonly Tool[], warn: Warn): Fields[] {
  const encoded: Fields[] = [];
  const fitter = new StrictToolFitter(warn);
  let group: Group | null = null;
  for (const [at, given] of tools.entries()) {
    const tool = isForeign(given) ? fitter.fit(given, `tools[${at}]`) : given;
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

/** Returns whether a tool came in another format. */
function isForeign(tool: Tool): boolean {
  return tool.kind !== "native" && readSpelling(tool) === null;
}

/** A namespace while its tools are collected. */
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

/** Encodes the parameters; a tool without parameters gets an empty schema, which upstreams demand. */
function encodeParameters({ parameters }: FunctionTool, own: Fields | undefined): Fields {
  if (own !== undefined && "parameters" in own && own["parameters"] !== null) return {};
  return { parameters: parameters ?? NO_ARGUMENTS };
}

/** Encodes `strict`. In other formats the default is loose; here it is strict, and schemas that do not fit are rejected. */
function encodeStrict({ strict }: FunctionTool, own: Fields | undefined): Fields {
  if (strict !== null) return { strict };
  return own === undefined ? { strict: false } : {};
}

/** Encodes the tool choice; null if it is another format's own. */
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
