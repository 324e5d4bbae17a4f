import { STORING_FIELDS } from "../conversation/stored-data.ts";
import type { FormatTraits } from "../conversation/traits/format-traits.ts";
import { SAMPLING_PARAMETERS } from "../conversation/traits/sampling-parameters.ts";

/** Google's `generateContent`. */
export const TRAITS = {
  name: "gemini",
  streamType: "text/event-stream",
  tools: {
    // Adjacent assistant messages are one turn, which must end with its calls.
    calls: { results: "after-turn", hasUniqueIds: false },
    maxNameChars: null,
    // As in the code that Gemini 3 was trained on.
    calledPrefixes: ["default_api:", "default_api."],
  },
  contents: {
    losesFileNames: true,
    signsTexts: true,
    assistantImages: "all",
    // "it has an empty text parameter" (https://github.com/google-gemini/deprecated-generative-ai-python/issues/697, 2026-11-28).
    blankTexts: "spaces",
  },
  turns: {},
  parameters: {
    containers: [
      {
        member: "generationConfig",
        names: {
          topP: "top_p",
          topK: "top_k",
          stopSequences: "stop",
          presencePenalty: "presence_penalty",
          frequencyPenalty: "frequency_penalty",
          responseLogprobs: "logprobs",
          logprobs: "top_logprobs",
          candidateCount: "n",
        },
      },
    ],
    sampling: SAMPLING_PARAMETERS,
    efforts: ["none", "minimal", "low", "medium", "high"],
  },
  cacheMarks: null,
  storingFields: [...STORING_FIELDS, "labels", "cachedContent"],
  charges: { others: "free", fields: { serviceTier: "costs", service_tier: "costs" }, tools: {} },
} as const satisfies FormatTraits;
