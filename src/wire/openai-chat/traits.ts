import { STORING_FIELDS } from "../conversation/stored-data.ts";
import { type FormatTraits, SAME_NAMES } from "../conversation/traits/format-traits.ts";
import { SAMPLING_PARAMETERS } from "../conversation/traits/sampling-parameters.ts";
import { CHARGES } from "./charges.ts";

/** The longest name of a tool, in characters (`FunctionObject.name` of https://github.com/openai/openai-openapi, 2026-11-28). Hosts check it. */
export const MAX_NAME_CHARS = 64;

/** The traits of OpenAI's chat completions, as most hosts implement them. */
export const TRAITS = {
  name: "openai-chat",
  streamType: "text/event-stream",
  tools: {
    // Hosts reject anything between a message with calls and its results.
    calls: { results: "after-message", hasUniqueIds: false },
    hasCustomTools: true,
    maxNameChars: MAX_NAME_CHARS,
  },
  contents: {
    takesNames: true,
    takesDetail: true,
    takesReasoning: true,
    losesEncryptedReasoning: true,
    assistantImages: "sent",
    nativePartsSpeak: true,
  },
  turns: {},
  parameters: { containers: SAME_NAMES, sampling: SAMPLING_PARAMETERS, hasHostFields: true },
  cacheMarks: "breakpoints",
  storingFields: STORING_FIELDS,
  charges: CHARGES,
} as const satisfies FormatTraits;
