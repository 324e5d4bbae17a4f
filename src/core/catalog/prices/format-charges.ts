import type { ProviderFormat } from "../../../wire/conversation/format-name.ts";
import type { ChargeRule, ChargeRules } from "../records/records.ts";

/** Rules for the fields and tools of a format at every provider. */
export interface FormatCharges extends Required<Pick<ChargeRules, "fields" | "tools">> {
  /** What fields without a rule cost. The encoders of formats without a client API write only fields that cost nothing. */
  readonly others: "free" | "costs";
}

/** Adds the rule `free` for each name of a text with spaces between them. */
function free(names: string): Record<string, ChargeRule> {
  return Object.fromEntries(
    names
      .split(/\s+/)
      .filter((name) => name !== "")
      .map((name) => [name, "free"]),
  );
}

/** The tiers at which OpenAI charges its usual prices; `auto` is what the operator's project is set to, which the answer reports. */
const USUAL_TIERS: ChargeRule = { values: ["auto", "default", "standard", "standard_only", "on_demand"] };

/** Fields that start a search or another service of some vendor of OpenAI's formats, which has no price unless the vendor's row says so. */
const SERVICES: Readonly<Record<string, ChargeRule>> = {
  web_search_options: "costs",
  search_parameters: "costs",
  enable_search: "costs",
  search_options: "costs",
  plugins: "costs",
  compound_custom: "costs",
  speed: { values: ["standard"] },
  inference_geo: { values: ["global"] },
};

/** Sampling and templates as vLLM, SGLang, TGI and the hosts that run them have them: they change which tokens come, not their price. */
const OF_HOSTS = free(`
  top_k top_a min_p typical_p tfs mirostat mirostat_tau mirostat_eta repetition_penalty no_repeat_ngram_size length_penalty min_tokens
  ignore_eos eos bad_words stop_token_ids skip_special_tokens spaces_between_special_tokens include_stop_str_in_output do_sample
  dynamic_temperature xtc_threshold xtc_probability dry_multiplier dry_base dry_allowed_length
  chat_template chat_template_kwargs chat_template_args add_generation_prompt continue_final_message add_special_tokens
  enable_thinking thinking thinking_budget thinking_mode thinking_config disable_reasoning disable_thinking preserve_thinking
  clear_thinking separate_reasoning reasoning_split reasoning_format reasoning_budget reasoning_history include_reasoning
  guided_json guided_regex guided_choice guided_grammar guided_decoding_backend structured_outputs grammar json_schema regex ebnf
  prompt_truncate_len context_length_exceeded_behavior truncate_prompt_tokens return_token_ids return_tokens_as_token_ids
  prompt_logprobs top_logprob logprob_start_len perf_metrics_in_response raw_output echo_last documents document_ids
  safe_prompt random_seed prompt_mode prefix prompt_cache_isolation_key prompt_cache_max_len cache_control
  tool_stream vl_high_resolution_images mm_processor_kwargs incremental_output result_format translation_options
  citation_options parallel_tool_call request_id user_id
`);

/** Completions, and what OpenAI's endpoints for other answers have: they are charged by tokens, characters, seconds or images. */
const OF_OTHER_ENDPOINTS = free(`
  prompt suffix echo best_of
  input dimensions output_dimension output_dtype encoding_format input_type embedding_types truncate truncation task normalized
  late_chunking priority_mode text_type
  query documents top_n top_k return_documents return_text max_chunks_per_doc max_tokens_per_doc rank_fields instruction instruct
  size quality style background moderation output_format output_compression input_fidelity partial_images
  voice instructions response_format stream_format language_boost sample_rate
  file language timestamp_granularities timestamp_granularities[] include include[] chunking_strategy known_speaker_names
  known_speaker_names[] known_speaker_references known_speaker_references[] diarize context_bias context_bias[]
`);

const CHAT_FIELDS: Readonly<Record<string, ChargeRule>> = {
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

/** Types of tools that the client runs, in any of OpenAI's formats. */
const CLIENT_TOOLS = free("function custom");

const OF_CHAT: FormatCharges = {
  others: "costs",
  fields: { ...OF_OTHER_ENDPOINTS, ...CHAT_FIELDS },
  tools: CLIENT_TOOLS,
};

/** Rules of each format. Sources: the vendors' references and price pages, which docs/pricing.md names for each unit. */
export const FORMAT_CHARGES: Readonly<Record<ProviderFormat, FormatCharges>> = {
  "openai-chat": OF_CHAT,
  "openai-completions": { ...OF_CHAT, tools: {} },
  "openai-responses": {
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
  },
  "anthropic-messages": {
    others: "costs",
    fields: {
      ...OF_HOSTS,
      ...SERVICES,
      ...free(`
        model messages system max_tokens metadata stop_sequences stream temperature top_p top_k thinking tools tool_choice output_config
        output_format context_management mcp_servers cache_control prompt_cache_key fallbacks fallback thread anthropic_version
        anthropic_beta betas diagnostics
      `),
      // A priority tier is capacity that was bought; its tokens cost no more.
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
  },
  gemini: { others: "free", fields: { serviceTier: "costs", service_tier: "costs" }, tools: {} },
  "bedrock-converse": {
    others: "free",
    fields: { serviceTier: { members: { type: { values: ["default"] } } } },
    tools: {},
  },
  "cohere-chat": {
    others: "costs",
    fields: {
      ...OF_OTHER_ENDPOINTS,
      ...free(`
        model messages stream tools documents citation_options response_format safety_mode max_tokens stop_sequences temperature seed
        frequency_penalty presence_penalty k p logprobs tool_choice strict_tools thinking raw_prompting priority texts inputs images
      `),
    },
    tools: CLIENT_TOOLS,
  },
};
