import type { FinishReason } from "./answer.ts";

/** Finish reasons in OpenAI's terms, which records use for every client API. */
export const FINISH_WORDS: Readonly<Record<FinishReason, string>> = {
  stop: "stop",
  "stop-sequence": "stop",
  length: "length",
  "tool-calls": "tool_calls",
  "content-filter": "content_filter",
  refusal: "content_filter",
  pause: "stop",
};
