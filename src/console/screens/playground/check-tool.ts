import { isObject, type Tool } from "../../conversation/conversation.ts";

const NAME = /^[\w-]{1,64}$/;

/** A tool as it is edited: its schema is text. */
export interface ToolDraft {
  readonly name: string;
  readonly description: string;
  readonly schema: string;
}

/** What is wrong with a draft; null if nothing is. */
export interface ToolProblem {
  readonly field: "name" | "schema";
  readonly message: string;
}

/** Reads a draft as a tool, or says what is wrong with it. `others` are the names of the other tools. */
export function checkTool(
  draft: ToolDraft,
  others: readonly string[] = [],
): { readonly tool: Tool } | { readonly problem: ToolProblem } {
  const name = draft.name.trim();
  if (!NAME.test(name))
    return {
      problem: { field: "name", message: "Use 1 to 64 letters, digits, underscores and hyphens." },
    };
  if (others.includes(name)) return { problem: { field: "name", message: "Another tool has this name." } };
  try {
    const parameters: unknown = JSON.parse(draft.schema);
    if (!isObject(parameters))
      return { problem: { field: "schema", message: "The schema must be a JSON object." } };
    return { tool: { name, description: draft.description.trim(), parameters } };
  } catch (error) {
    return { problem: { field: "schema", message: `The schema is not JSON: ${(error as Error).message}` } };
  }
}

/** Returns a tool as a draft. */
export function draftTool({ name, description, parameters }: Tool): ToolDraft {
  return { name, description, schema: JSON.stringify(parameters, null, 2) };
}
