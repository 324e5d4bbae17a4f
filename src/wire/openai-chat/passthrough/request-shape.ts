import { allFields, fields, items, LEAF, marked, type NodeOf } from "../../../base/json/scan.ts";
import { CHARGED_MEMBERS } from "../../conversation/charges.ts";

/** Marks of values that most requests do not have. Without a mark, the value need not be searched for. */
export const MARKS = {
  /** The deprecated `functions` and `function_call`, but not the role of their results. */
  functions: 1,
  /** Tools, a choice among them, or calls, but not the role of their results. */
  tools: 2,
  /** Contents in parts. */
  parts: 4,
  /** Fields that choose providers and models. */
  routing: 8,
  /** Fields that identify conversation and user, and tags. */
  hints: 16,
} as const;

const FUNCTION_CALL = marked(MARKS.functions, fields({ name: LEAF, arguments: LEAF }));
const ROUTING = marked(MARKS.routing);
const HINT = marked(MARKS.hints);

const PART = marked(
  MARKS.parts,
  allFields({
    type: LEAF,
    text: LEAF,
    image_url: fields({ url: LEAF, detail: LEAF }),
    video_url: fields({ url: LEAF }),
    file: fields({ file_data: LEAF }),
  }),
);

const TOOL_CALL = allFields({
  id: LEAF,
  type: LEAF,
  function: allFields({ name: LEAF, arguments: LEAF }),
  custom: allFields({ name: LEAF, input: LEAF }),
});

/** All members of messages and tools are found: only those with no others are written in another format without decoding them. */
const MESSAGE = allFields({
  role: LEAF,
  name: LEAF,
  content: items(PART),
  reasoning: LEAF,
  reasoning_content: LEAF,
  reasoning_details: items(LEAF),
  refusal: LEAF,
  audio: LEAF,
  tool_calls: marked(MARKS.tools, items(TOOL_CALL)),
  tool_call_id: LEAF,
  function_call: FUNCTION_CALL,
});

const TOOL = allFields({
  type: LEAF,
  function: allFields({ name: LEAF, description: LEAF, parameters: LEAF }),
});

/** The fields of a chat completion request that the gateway reads; everything else is forwarded unchanged. */
export const CHAT_REQUEST_SHAPE = allFields({
  model: LEAF,
  messages: items(MESSAGE),
  stream: LEAF,
  stream_options: fields({ include_usage: LEAF }),
  reasoning: fields({ effort: LEAF, enabled: LEAF }),
  reasoning_effort: LEAF,
  max_tokens: LEAF,
  max_completion_tokens: LEAF,
  temperature: LEAF,
  top_p: LEAF,
  stop: items(LEAF),
  frequency_penalty: LEAF,
  presence_penalty: LEAF,
  tools: marked(MARKS.tools, items(TOOL)),
  functions: marked(MARKS.functions, items(fields({ name: LEAF }))),
  function_call: marked(MARKS.functions),
  tool_choice: marked(MARKS.tools, allFields({ type: LEAF, name: LEAF, function: fields({ name: LEAF }) })),
  response_format: fields({ type: LEAF }),
  user: HINT,
  safety_identifier: HINT,
  prompt_cache_key: HINT,
  seed: LEAF,
  random_seed: LEAF,
  n: LEAF,
  models: marked(MARKS.routing, items(LEAF)),
  provider: ROUTING,
  preset: ROUTING,
  session_id: HINT,
  tags: HINT,
  usage: LEAF,
  ...CHARGED_MEMBERS,
});

/** A scanned request, and its parts. */
export type ChatBody = NodeOf<typeof CHAT_REQUEST_SHAPE>;
export type ChatMessage = NodeOf<typeof MESSAGE>;
export type ChatPart = NodeOf<typeof PART>;
export type ChatCall = NodeOf<typeof TOOL_CALL>;
export type ChatTool = NodeOf<typeof TOOL>;
