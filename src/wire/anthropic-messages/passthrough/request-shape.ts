import { allFields, fields, items, LEAF, type NodeOf } from "../../../base/json/scan.ts";
import { CHARGED_MEMBERS } from "../../conversation/charges.ts";

/** A part of a tool result. Search results have texts of their own. */
const RESULT_PART = allFields({
  type: LEAF,
  text: LEAF,
  source: fields({ type: LEAF, media_type: LEAF }),
  content: items(fields({ text: LEAF })),
});

/** A content block. All its members are found, because cache marks among them must be told from the rest. `source` is scanned for documents that are text. */
const BLOCK = allFields({
  type: LEAF,
  text: LEAF,
  thinking: LEAF,
  id: LEAF,
  name: LEAF,
  input: LEAF,
  tool_use_id: LEAF,
  content: items(RESULT_PART),
  signature: LEAF,
  source: fields({ type: LEAF, data: LEAF, media_type: LEAF }),
});

const TOOL = fields({ type: LEAF, name: LEAF, description: LEAF, input_schema: LEAF });

const MESSAGE = fields({ role: LEAF, content: items(BLOCK) });

/** The fields of a Messages request that the gateway reads; all others are forwarded as they came. */
export const MESSAGES_REQUEST_SHAPE = allFields({
  model: LEAF,
  messages: items(MESSAGE),
  system: items(allFields({ type: LEAF, text: LEAF })),
  stream: LEAF,
  max_tokens: LEAF,
  temperature: LEAF,
  top_p: LEAF,
  top_k: LEAF,
  stop_sequences: items(LEAF),
  tools: items(TOOL),
  tool_choice: fields({ type: LEAF, name: LEAF }),
  thinking: fields({ type: LEAF, budget_tokens: LEAF }),
  output_config: fields({ format: LEAF, effort: LEAF }),
  context_management: LEAF,
  metadata: fields({ user_id: LEAF }),
  prompt_cache_key: LEAF,
  thread: LEAF,
  mcp_servers: LEAF,
  output_format: LEAF,
  preset: LEAF,
  models: items(LEAF),
  provider: LEAF,
  session_id: LEAF,
  tags: LEAF,
  usage: LEAF,
  ...CHARGED_MEMBERS,
});

/** A scanned request, and its parts. */
export type MessagesBody = NodeOf<typeof MESSAGES_REQUEST_SHAPE>;
export type MessagesMessage = NodeOf<typeof MESSAGE>;
export type MessagesBlock = NodeOf<typeof BLOCK>;
export type MessagesTool = NodeOf<typeof TOOL>;
