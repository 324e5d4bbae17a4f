/** Fields that ask for nothing in a request without tools. Most vendors reject them there. */
export const TOOL_FIELDS: ReadonlySet<string> = new Set(["tools", "tool_choice", "parallel_tool_calls"]);

/** Nothing is left out. */
const NO_FIELDS: ReadonlySet<string> = new Set();

/**
 * Returns the fields about tools that are not sent, because the request has no tools: `tools` that is empty, and the choice among them.
 * A choice that requires one was rejected before. `present` are those of `TOOL_FIELDS` that the request has and that are not null, and
 * whether each is an empty list.
 */
export function listUnusedToolFields(
  present: readonly (readonly [field: string, isEmpty: boolean])[],
): ReadonlySet<string> {
  if (present.length === 0 || present.some(([field, isEmpty]) => field === "tools" && !isEmpty))
    return NO_FIELDS;
  return new Set(present.map(([field]) => field));
}
