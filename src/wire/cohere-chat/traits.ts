import { STORING_FIELDS } from "../conversation/stored-data.ts";
import type { FormatTraits } from "../conversation/traits/format-traits.ts";
import { CHARGES } from "./charges.ts";

/** Cohere's chat API, version 2. */
export const TRAITS = {
  name: "cohere-chat",
  streamType: "text/event-stream",
  tools: {
    // Cohere rejects anything between a message with calls and its results.
    calls: { results: "after-message", hasUniqueIds: false },
    maxNameChars: null,
  },
  // It takes no message without a token.
  contents: { takesDetail: true, takesReasoning: true, blankTexts: "none" },
  turns: {},
  parameters: {
    containers: [{ member: null, names: { p: "top_p", k: "top_k", stop_sequences: "stop" } }],
    sampling: ["frequency_penalty", "logprobs", "presence_penalty", "seed", "stop"],
  },
  cacheMarks: null,
  storingFields: STORING_FIELDS,
  charges: CHARGES,
} as const satisfies FormatTraits;
