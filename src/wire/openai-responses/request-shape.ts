import { allFields, fields, items, LEAF, type NodeIn, type NodeOf } from "../../base/json/scan.ts";
import { CHARGED_MEMBERS } from "../conversation/charges.ts";

const PART = allFields({ type: LEAF, text: LEAF, refusal: LEAF, image_url: LEAF, file_data: LEAF });

/** All members are found: ids and states among them must be told from the rest. */
const ITEM = allFields({
  type: LEAF,
  role: LEAF,
  id: LEAF,
  content: items(PART),
  summary: items(PART),
  call_id: LEAF,
  name: LEAF,
  arguments: LEAF,
  input: LEAF,
  output: items(PART),
  encrypted_content: LEAF,
  namespace: LEAF,
  tools: LEAF,
});

const TOOL = fields({
  type: LEAF,
  name: LEAF,
  description: LEAF,
  parameters: LEAF,
});

/** The fields of a Responses request that the gateway reads; all others are forwarded as they came. */
export const RESPONSES_REQUEST_SHAPE = allFields({
  model: LEAF,
  input: items(ITEM),
  instructions: LEAF,
  stream: LEAF,
  store: LEAF,
  previous_response_id: LEAF,
  conversation: LEAF,
  background: LEAF,
  max_output_tokens: LEAF,
  temperature: LEAF,
  top_p: LEAF,
  top_logprobs: LEAF,
  tools: items(TOOL),
  tool_choice: fields({ type: LEAF, name: LEAF, mode: LEAF }),
  parallel_tool_calls: LEAF,
  include: items(LEAF),
  reasoning: LEAF,
  truncation: LEAF,
  context_management: LEAF,
  text: fields({ format: fields({ type: LEAF }) }),
  metadata: LEAF,
  user: LEAF,
  safety_identifier: LEAF,
  prompt_cache_key: LEAF,
  prompt: LEAF,
  models: items(LEAF),
  provider: LEAF,
  session_id: LEAF,
  tags: LEAF,
  usage: LEAF,
  ...CHARGED_MEMBERS,
  preset: LEAF,
});

/** A scanned request, and its parts. */
export type ResponsesBody = NodeOf<typeof RESPONSES_REQUEST_SHAPE>;
export type ResponsesItem = NodeOf<typeof ITEM>;
export type ResponsesTool = NodeOf<typeof TOOL>;
export type ResponsesContent = NodeIn<ResponsesItem, "content">;
