import type { FinishReason } from "./answer.ts";

/** Why an answer ended, in OpenAI's words (specification 2.4); records use them for every client API. */
export const FINISH_WORDS: Readonly<Record<FinishReason, string>> = {
  stop: "stop",
  "stop-sequence": "stop",
  length: "length",
  "tool-calls": "tool_calls",
  "content-filter": "content_filter",
  refusal: "content_filter",
  pause: "stop",
};
