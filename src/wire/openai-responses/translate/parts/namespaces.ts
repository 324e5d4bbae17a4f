import type { ToolCallPart } from "../../../canonical/model/parts.ts";
import type { CustomTool, FunctionTool, Message, Tool } from "../../../canonical/model/request.ts";
import { markSpelling, readSpelling } from "./extras.ts";

/*
 * Names are unique within a namespace in this format, and among all tools elsewhere. If two tools have the same name, those in a
 * namespace get a canonical name of both, and their own names again on the way back.
 */

type NamedTool = FunctionTool | CustomTool;

/** Returns the tools under unique names. */
export function separateTools(tools: readonly Tool[]): readonly Tool[] {
  const shared = findShared(tools);
  return shared.size === 0
    ? tools
    : tools.map((tool) => (tool.kind === "native" ? tool : separate(tool, shared)));
}

/** Returns a conversation with calls under the names that `separateTools` gave their tools. */
export function separateCalls(messages: readonly Message[], tools: readonly Tool[]): readonly Message[] {
  const shared = findShared(tools);
  if (shared.size === 0) return messages;
  return messages.map((message) => ({
    ...message,
    parts: message.parts.map((part) => (part.kind === "tool-call" ? separate(part, shared) : part)),
  }));
}

function findShared(tools: readonly Tool[]): ReadonlySet<string> {
  const seen = new Set<string>();
  const shared = new Set<string>();
  for (const tool of tools) {
    if (tool.kind === "native") continue;
    if (seen.has(tool.name)) shared.add(tool.name);
    seen.add(tool.name);
  }
  return shared;
}

function separate<T extends NamedTool | ToolCallPart>(one: T, shared: ReadonlySet<string>): T {
  const { name, namespace } = one;
  if (namespace === undefined || !shared.has(name)) return one;
  const extras = markSpelling({ ...readSpelling(one), name });
  return { ...one, name: `${namespace}__${name}`, extras };
}

/** Returns the name of a tool or a call in this format: its own in its namespace, if it has one at this host. */
export function ownNameOf(one: NamedTool | ToolCallPart): string {
  return one.namespace === undefined ? one.name : (readSpelling(one)?.name ?? one.name);
}

/** A tool's namespace, and its own name in it. */
export interface ToolHome {
  readonly name: string;
  readonly namespace: string;
}

/** Indexes the namespaces of tools by their canonical names, so that calls return to their namespace under their own names. */
export function indexHomes(tools: readonly Tool[]): ReadonlyMap<string, ToolHome> {
  const homes = new Map<string, ToolHome>();
  const seen = new Set<string>();
  for (const tool of tools) {
    // The first of several tools with the same name counts.
    if (tool.kind === "native" || seen.has(tool.name)) continue;
    seen.add(tool.name);
    if (tool.namespace !== undefined)
      homes.set(tool.name, { name: ownNameOf(tool), namespace: tool.namespace });
  }
  return homes;
}
