/** Fields that ask for nothing in a request without tools. Most vendors reject them there. */
const TOOL_FIELDS = ["tools", "tool_choice", "parallel_tool_calls"] as const;

/** A tool field that a request has. */
type FieldReader = (field: string) => "absent" | "empty" | "filled";

/** Nothing is left out. */
const NO_FIELDS: ReadonlySet<string> = new Set();

/**
 * Returns the fields about tools that are not sent, because the request has no tools: `tools` that is empty, and the choice among them.
 * A choice that requires one was rejected before.
 */
export function listUnusedToolFields(read: FieldReader): ReadonlySet<string> {
  if (read("tools") === "filled" || TOOL_FIELDS.every((field) => read(field) === "absent")) return NO_FIELDS;
  return new Set(TOOL_FIELDS.filter((field) => read(field) !== "absent"));
}
