import {
  CLIENT_TOOLS,
  type FormatChargeRule,
  type FormatCharges,
  free,
  OF_HOSTS,
  OF_OTHER_ENDPOINTS,
  SERVICES,
  USUAL_TIERS,
} from "../conversation/traits/charge-rules.ts";

const FIELDS: Readonly<Record<string, FormatChargeRule>> = {
  ...OF_HOSTS,
  ...SERVICES,
  ...free(`
    model messages audio frequency_penalty function_call functions logit_bias logprobs max_completion_tokens max_tokens metadata
    modalities n parallel_tool_calls prediction presence_penalty prompt_cache_key prompt_cache_retention prompt_cache_options
    reasoning reasoning_effort response_format safety_identifier seed stop store stream stream_options temperature tool_choice tools
    top_logprobs top_p user verbosity description
  `),
  service_tier: USUAL_TIERS,
  // Speech has a number here.
  speed: { numbers: true, values: ["standard"] },
};

/** What fields and tools of chats, and of OpenAI's other endpoints, cost. docs/pricing.md names the sources of each unit. */
export const CHARGES: FormatCharges = {
  others: "costs",
  fields: { ...OF_OTHER_ENDPOINTS, ...FIELDS },
  tools: CLIENT_TOOLS,
};
