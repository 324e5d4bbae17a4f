/** Fields of a chunk or answer that the gateway writes itself. */
export const OWN_ANSWER_FIELDS: ReadonlySet<string> = new Set([
  "id",
  "object",
  "created",
  "model",
  "choices",
  "usage",
  "error",
]);

/** Fields of a choice that the gateway writes itself, streamed or not. */
export const OWN_CHOICE_FIELDS: ReadonlySet<string> = new Set([
  "index",
  "delta",
  "message",
  "finish_reason",
  "usage",
]);

/** Fields of a message that the gateway writes itself. */
export const OWN_MESSAGE_FIELDS: ReadonlySet<string> = new Set([
  "role",
  "content",
  "reasoning",
  "reasoning_content",
  "reasoning_details",
  "tool_calls",
  "function_call",
]);
