import { STORING_FIELDS } from "../conversation/stored-data.ts";
import type { FormatTraits } from "../conversation/traits/format-traits.ts";

/** Amazon Bedrock's Converse. */
export const TRAITS = {
  name: "bedrock-converse",
  streamType: "application/vnd.amazon.eventstream",
  tools: {
    // Adjacent assistant messages are one turn, which must end with its calls.
    calls: { results: "after-turn", hasUniqueIds: true, ids: "anthropic" },
    maxNameChars: null,
  },
  contents: {
    takesReasoning: true,
    // "The text field in the ContentBlock object is blank" (https://github.com/continuedev/continue/issues/9767).
    blankTexts: "none",
  },
  turns: {},
  parameters: {
    containers: [
      { member: "inferenceConfig", names: { topP: "top_p", stopSequences: "stop" } },
      { member: "additionalModelRequestFields", names: {} },
    ],
    sampling: ["stop"],
  },
  cacheMarks: "blocks",
  storingFields: [...STORING_FIELDS, "requestMetadata"],
  charges: {
    others: "free",
    fields: { serviceTier: { members: { type: { values: ["default"] } } } },
    tools: {},
  },
} as const satisfies FormatTraits;
