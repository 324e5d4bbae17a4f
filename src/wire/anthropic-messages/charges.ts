import {
  type FormatCharges,
  free,
  OF_HOSTS,
  SERVICES,
  USUAL_TIERS,
} from "../conversation/traits/charge-rules.ts";

/** What fields and tools of messages cost. docs/pricing.md names the sources of each unit. */
export const CHARGES: FormatCharges = {
  others: "costs",
  fields: {
    ...OF_HOSTS,
    ...SERVICES,
    ...free(`
      model messages system max_tokens metadata stop_sequences stream temperature top_p top_k thinking tools tool_choice output_config
      output_format context_management mcp_servers cache_control prompt_cache_key fallbacks fallback thread anthropic_version
      anthropic_beta betas diagnostics
    `),
    // The priority tier is prepaid capacity; its tokens cost no more.
    service_tier: USUAL_TIERS,
  },
  tools: {
    ...free(
      "function custom mcp_toolset bash_* text_editor_* computer_* memory_* tool_search_tool_* web_fetch_*",
    ),
    "web_search_*": { price: "search" },
    // Consulted models are charged at their own prices.
    "advisor_*": "free",
  },
};
