/** The types of items that are calls of hosted tools end with it. */
const SUFFIX = "_call";

/** Returns whether items of a type are calls of a hosted tool, such as `tool_search_call`. */
export function isHostedCall(type: string): boolean {
  return type.endsWith(SUFFIX);
}

/** Returns the name of the tool that items of a hosted-call type call: `tool_search` for `tool_search_call`. */
export function nameHostedCall(type: string): string {
  return type.slice(0, -SUFFIX.length);
}
