import { asFields, type Fields } from "../../base/json/fields.ts";

/**
 * The fields that each response has, with the value of a request that does not set them. Clients validate that they are there
 * (github.com/openresponses/openresponses, `ResponseResource`, commit 1e33c10 of 2026; openai-node 6.49).
 */
const DEFAULTS: Fields = {
  completed_at: null,
  error: null,
  incomplete_details: null,
  instructions: null,
  previous_response_id: null,
  tools: [],
  tool_choice: "auto",
  truncation: "disabled",
  parallel_tool_calls: true,
  text: { format: { type: "text" } },
  temperature: 1,
  top_p: 1,
  presence_penalty: 0,
  frequency_penalty: 0,
  top_logprobs: 0,
  reasoning: null,
  user: null,
  usage: null,
  max_output_tokens: null,
  max_tool_calls: null,
  background: false,
  service_tier: "default",
  metadata: {},
  safety_identifier: null,
  prompt_cache_key: null,
};

/** Returns the required fields that a response lacks: those that are absent, and those that are null if that is not allowed. */
export function listMissing(response: Fields): Record<string, unknown> {
  const missing: Record<string, unknown> = {};
  for (const name in DEFAULTS) {
    const value = response[name];
    // biome-ignore lint/plugin: one of DEFAULTS.
    if (value === undefined || (value === null && DEFAULTS[name] !== null)) missing[name] = DEFAULTS[name];
  }
  const { tools } = response;
  if (Array.isArray(tools) && tools.some(lacksField)) missing["tools"] = tools.map(completeTool);
  return missing;
}

/** Returns an echoed tool with the fields that clients require of a function; others as they are. */
export function completeTool(tool: unknown): unknown {
  const fields = asFields(tool);
  return fields !== null && lacksField(fields)
    ? { ...fields, description: null, parameters: null, strict: null, ...dropAbsent(fields) }
    : tool;
}

function lacksField(tool: unknown): boolean {
  const fields = asFields(tool);
  return fields?.["type"] === "function" && TOOL_FIELDS.some((name) => fields[name] === undefined);
}

function dropAbsent(fields: Fields): Fields {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));
}

const TOOL_FIELDS = ["description", "parameters", "strict"] as const;
