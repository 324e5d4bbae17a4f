/**
 * The parameters of the chat API that decide what a model answers. Without one of them the answer is another one than was asked for; without
 * a hint for a cache, a mark or the id of a user it is the same.
 */
export const ANSWER_PARAMETERS: ReadonlySet<string> = new Set([
  "frequency_penalty",
  "logit_bias",
  "logprobs",
  "min_p",
  "n",
  "parallel_tool_calls",
  "presence_penalty",
  "reasoning",
  "reasoning_effort",
  "repetition_penalty",
  "response_format",
  "seed",
  "stop",
  "structured_outputs",
  "temperature",
  "tool_choice",
  "tools",
  "top_k",
  "top_logprobs",
  "top_p",
  "verbosity",
]);
