import { STORING_FIELDS } from "../conversation/stored-data.ts";
import type { FormatTraits } from "../conversation/traits/format-traits.ts";
import { CHARGES } from "./charges.ts";

/** The entry of `include` that asks for the probabilities of tokens. */
export const LOGPROBS = "message.output_text.logprobs";

/** OpenAI's Responses API. */
export const TRAITS = {
  name: "openai-responses",
  streamType: "text/event-stream",
  tools: {
    // Calls and results are paired by id at any position.
    calls: { results: "anywhere", hasUniqueIds: true },
    hasCustomTools: true,
    hasNamespaces: true,
    // `FunctionToolParam.name` of https://github.com/openai/openai-openapi, 2026-11-28.
    maxNameChars: 128,
  },
  contents: { takesDetail: true, assistantImages: "all" },
  turns: {},
  parameters: {
    containers: [
      { member: null, names: {}, entry: { parameter: "logprobs", field: "include", entry: LOGPROBS } },
    ],
    sampling: ["logprobs", "top_logprobs"],
    lacksTopK: true,
    // OpenAI rejects less, and so do the hosts that follow it (https://github.com/vectorize-io/hindsight/issues/58,
    // https://github.com/earendil-works/pi/issues/6265, 2026-11-28).
    taken: { max_output_tokens: { min: 16 } },
  },
  cacheMarks: "breakpoints",
  // `store` is always false.
  storingFields: STORING_FIELDS.filter((name) => name !== "store"),
  charges: CHARGES,
} as const satisfies FormatTraits;
