import type { Tool } from "../../../canonical/model/request.ts";

/** Returns the tool type that names a tool in `tool_choice`; `customs` are the names of the custom tools. */
export function kindOfTool(name: string, customs: ReadonlySet<string>): "function" | "custom" {
  return customs.has(name) ? "custom" : "function";
}

/** Returns the names of the tools that take free text. */
export function listCustoms(tools: readonly Tool[]): ReadonlySet<string> {
  return new Set(tools.flatMap((tool) => (tool.kind === "custom" ? [tool.name] : [])));
}
