import {
  CLIENT_TOOLS,
  type FormatCharges,
  free,
  OF_HOSTS,
  SERVICES,
  USUAL_TIERS,
} from "../conversation/traits/charge-rules.ts";

/** What fields and tools of responses cost. docs/pricing.md names the sources of each unit. */
export const CHARGES: FormatCharges = {
  others: "costs",
  fields: {
    ...OF_HOSTS,
    ...SERVICES,
    ...free(`
      model input instructions stream stream_options store background previous_response_id conversation include max_output_tokens
      max_tool_calls metadata parallel_tool_calls prompt_cache_key prompt_cache_retention prompt_cache_options reasoning
      safety_identifier temperature text tool_choice tools top_logprobs top_p truncation context_management user verbosity
      max_tokens seed stop presence_penalty frequency_penalty client_metadata
    `),
    service_tier: USUAL_TIERS,
  },
  tools: {
    ...CLIENT_TOOLS,
    ...free(
      "namespace tool_search local_shell apply_patch mcp computer computer_use_preview computer_use programmatic_tool_calling",
    ),
    // The client runs it, unless it is given a container of the vendor.
    shell: {
      members: {
        ...free("type name description allowed_callers"),
        environment: { members: { type: { values: ["local"] }, ...free("skills") } },
      },
    },
    web_search: { price: "search" },
    "web_search_2*": { price: "search" },
    // Searches of models that do not reason have another price with this earlier tool than those of all others.
    "web_search_preview*": "costs",
  },
};
