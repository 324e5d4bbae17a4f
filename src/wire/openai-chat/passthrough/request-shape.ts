import { allFields, fields, items, LEAF, type Shape } from "../../json/scan.ts";

const PART = fields({ type: LEAF, text: LEAF, image_url: fields({ url: LEAF, detail: LEAF }) });

const TOOL_CALL = fields({ id: LEAF, type: LEAF, function: fields({ name: LEAF, arguments: LEAF }) });

const MESSAGE = fields({
  role: LEAF,
  name: LEAF,
  content: items(PART),
  reasoning: LEAF,
  reasoning_content: LEAF,
  reasoning_details: items(LEAF),
  refusal: LEAF,
  audio: LEAF,
  tool_calls: items(TOOL_CALL),
  tool_call_id: LEAF,
  function_call: fields({ name: LEAF, arguments: LEAF }),
});

const TOOL = fields({ type: LEAF, function: fields({ name: LEAF, description: LEAF, parameters: LEAF }) });

/** The fields of a chat completion request that the gateway reads; everything else is forwarded unchanged. */
export const CHAT_REQUEST_SHAPE: Shape = allFields({
  model: LEAF,
  messages: items(MESSAGE),
  stream: LEAF,
  stream_options: fields({ include_usage: LEAF }),
  reasoning: fields({ effort: LEAF, enabled: LEAF }),
  max_tokens: LEAF,
  max_completion_tokens: LEAF,
  temperature: LEAF,
  top_p: LEAF,
  stop: items(LEAF),
  frequency_penalty: LEAF,
  presence_penalty: LEAF,
  tools: items(TOOL),
  functions: items(fields({ name: LEAF })),
  function_call: LEAF,
  tool_choice: fields({ type: LEAF, function: fields({ name: LEAF }) }),
  response_format: fields({ type: LEAF }),
  user: LEAF,
  safety_identifier: LEAF,
  prompt_cache_key: LEAF,
  seed: LEAF,
  random_seed: LEAF,
  n: LEAF,
  models: items(LEAF),
  provider: LEAF,
  session_id: LEAF,
  tags: LEAF,
  usage: LEAF,
});
