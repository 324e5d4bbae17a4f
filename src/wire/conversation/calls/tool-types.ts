import { rejectField } from "../../../base/failures/errors.ts";

/** Types of tools that the client runs, in OpenAI's formats. */
const OF_CLIENTS = ["function", "custom"];

/**
 * Types of tools of chat hosts. Sources, all of 2026-11-28: https://platform.moonshot.ai/docs/guide/use-web-search (`builtin_function`),
 * https://docs.z.ai/api-reference/llm/chat-completion (`web_search`, `retrieval`, and `code_interpreter`, `drawing_tool`, `web_browser`
 * of earlier models), https://console.groq.com/docs/tool-use/built-in-tools (`browser_search`, `code_interpreter`), and gpt-oss, whose
 * own tools are `browser` and `python` (https://github.com/openai/gpt-oss).
 */
const OF_CHAT_HOSTS = [
  "builtin_function",
  "web_search",
  "retrieval",
  "code_interpreter",
  "drawing_tool",
  "web_browser",
  "browser_search",
  "browser",
  "python",
  "mcp",
  "file_search",
  "image_generation",
];

/**
 * Types of tools of Responses hosts: `Tool` of https://github.com/openai/openai-openapi, `x_search` and `collections_search` of
 * https://docs.x.ai/docs/guides/tools/overview, `web_extractor` of Model Studio (2026-11-28).
 */
const OF_RESPONSES_HOSTS = [
  ...OF_CHAT_HOSTS,
  "namespace",
  "tool_search",
  "local_shell",
  "shell",
  "apply_patch",
  "computer",
  "computer_use",
  "computer_use_preview",
  "programmatic_tool_calling",
  "web_search_preview",
  "x_search",
  "collections_search",
  "web_extractor",
];

/** Types of tools of the Messages format that have no date: `Tool` of https://platform.claude.com/docs/en/api/messages (2026-11-28). */
const OF_MESSAGES_HOSTS = [
  "function",
  "custom",
  "mcp_toolset",
  "tool_search_tool_regex",
  "tool_search_tool_bm25",
  "web_search",
  "web_fetch",
  "code_execution",
];

/** The types of tools that a client API knows. */
type ToolTypes = ReadonlySet<string>;

export const CHAT_TOOL_TYPES: ToolTypes = new Set([...OF_CLIENTS, ...OF_CHAT_HOSTS]);
export const RESPONSES_TOOL_TYPES: ToolTypes = new Set([...OF_CLIENTS, ...OF_RESPONSES_HOSTS]);
export const MESSAGES_TOOL_TYPES: ToolTypes = new Set(OF_MESSAGES_HOSTS);

/** The end of the name of a version, `web_search_20250305` or `web_search_2025_08_26`, or what precedes a host's own name, `openrouter:`. */
const VERSIONED = /_(\d{8}|\d{4}_\d{2}_\d{2})$|^[a-z][\w-]*:/;

/** Whether a provider may have a type of tool. Versions, and types with the name of their host before a colon, are always known. */
export function isToolType(type: string, known: ToolTypes): boolean {
  return known.has(type) || VERSIONED.test(type);
}

/**
 * Checks the type of a tool or a choice.
 * @throws GatewayError `invalid_request` that names the field, for a type that no vendor has: its tool would be lost.
 */
export function checkToolType(type: string, known: ToolTypes, field: string): void {
  if (isToolType(type, known)) return;
  const usual = known.has("namespace") || known.has("builtin_function") ? "function" : "custom";
  rejectField(field, `must be a type of tool that a provider knows, such as "${usual}"`);
}
