import { STORING_FIELDS } from "../conversation/stored-data.ts";
import { type FormatTraits, SAME_NAMES } from "../conversation/traits/format-traits.ts";
import { CHARGES } from "../openai-chat/charges.ts";

/** OpenAI's text completions, whose requests have prompts and no messages. */
export const TRAITS = {
  name: "openai-completions",
  streamType: "text/event-stream",
  tools: { calls: { results: "anywhere", hasUniqueIds: false }, maxNameChars: null },
  contents: {},
  turns: {},
  parameters: {
    containers: SAME_NAMES,
    sampling: ["frequency_penalty", "logprobs", "n", "presence_penalty", "seed", "stop"],
    hasHostFields: true,
  },
  cacheMarks: null,
  storingFields: STORING_FIELDS,
  charges: { ...CHARGES, tools: {} },
} as const satisfies FormatTraits;
