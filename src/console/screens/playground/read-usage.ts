import { type Json, numberOf, objectOf } from "./json.ts";

/** Token usage and cost of an answer. */
export interface AnswerUsage {
  readonly promptTokens: number;
  readonly completionTokens: number;
  readonly cachedTokens: number;
  readonly reasoningTokens: number;
  /** US dollars that the account was charged; null if the answer does not say. */
  readonly cost: number | null;
  readonly isEstimated: boolean;
}

const costOf = ({ cost, estimated }: Json) => ({
  cost: typeof cost === "number" ? cost : null,
  isEstimated: estimated === true,
});

/** Reads the usage of a chat completion. */
export function readChatUsage(usage: Json): AnswerUsage {
  return {
    promptTokens: numberOf(usage["prompt_tokens"]),
    completionTokens: numberOf(usage["completion_tokens"]),
    cachedTokens: numberOf(objectOf(usage["prompt_tokens_details"])["cached_tokens"]),
    reasoningTokens: numberOf(objectOf(usage["completion_tokens_details"])["reasoning_tokens"]),
    ...costOf(usage),
  };
}

/** Reads the usage of a response. */
export function readResponsesUsage(usage: Json): AnswerUsage {
  return {
    promptTokens: numberOf(usage["input_tokens"]),
    completionTokens: numberOf(usage["output_tokens"]),
    cachedTokens: numberOf(objectOf(usage["input_tokens_details"])["cached_tokens"]),
    reasoningTokens: numberOf(objectOf(usage["output_tokens_details"])["reasoning_tokens"]),
    ...costOf(usage),
  };
}

/** Reads the usage of a message. The Messages API counts cached tokens separately from other prompt tokens. */
export function readMessagesUsage(usage: Json): AnswerUsage {
  const cached = numberOf(usage["cache_read_input_tokens"]);
  const written = numberOf(usage["cache_creation_input_tokens"]);
  return {
    promptTokens: numberOf(usage["input_tokens"]) + cached + written,
    completionTokens: numberOf(usage["output_tokens"]),
    cachedTokens: cached,
    reasoningTokens: numberOf(objectOf(usage["output_tokens_details"])["thinking_tokens"]),
    ...costOf(usage),
  };
}
