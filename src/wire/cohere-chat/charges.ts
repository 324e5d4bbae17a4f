import {
  CLIENT_TOOLS,
  type FormatCharges,
  free,
  OF_OTHER_ENDPOINTS,
} from "../conversation/traits/charge-rules.ts";

/** What fields and tools of Cohere's chats, embeddings and reranking cost. docs/pricing.md names the sources of each unit. */
export const CHARGES: FormatCharges = {
  others: "costs",
  fields: {
    ...OF_OTHER_ENDPOINTS,
    ...free(`
      model messages stream tools documents citation_options response_format safety_mode max_tokens stop_sequences temperature seed
      frequency_penalty presence_penalty k p logprobs tool_choice strict_tools thinking raw_prompting priority texts inputs images
    `),
  },
  tools: CLIENT_TOOLS,
};
