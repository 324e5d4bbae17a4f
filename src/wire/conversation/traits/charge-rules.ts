/**
 * What a value of a request field costs at a provider besides tokens that the endpoint has prices for. `free`: nothing. `costs`: more
 * than any price here says, so that it is not sent with a platform key. `Price`: the names of an endpoint's prices.
 */
export type FormatChargeRule<Price extends string = FormatPrice> = "free" | "costs" | ChargeRuleParts<Price>;

/** A rule for parts of a value. Of several members the first that applies decides: `price`, `upTo`, then the others. */
interface ChargeRuleParts<Price extends string> {
  /** Free where the endpoint has this price, by which it is then charged. */
  readonly price?: Price;
  /** What one request may cost at most, in US dollars, at a provider whose answers report their cost. */
  readonly upTo?: string;
  /** Any number costs nothing. */
  readonly numbers?: true;
  /** Values that cost nothing, beside those for which `ProviderRecord.factors` has a factor. */
  readonly values?: readonly (string | number | boolean)[];
  /** Members of an object; one without a rule costs. */
  readonly members?: Readonly<Record<string, FormatChargeRule<Price>>>;
  /** Members that the object must have, because the provider chooses a value that costs for one that is absent. */
  readonly needs?: readonly string[];
  /** Elements of an array by the member that names their type; one without a rule costs. */
  readonly items?: {
    readonly key: string;
    readonly rules: Readonly<Record<string, FormatChargeRule<Price>>>;
  };
}

/** The prices that rules of formats name. */
type FormatPrice = "search";

/** Rules for the fields and tools of a format at every provider. */
export interface FormatCharges {
  readonly fields: Readonly<Record<string, FormatChargeRule>>;
  /** By type of tool; a name that ends in `*` stands for all types with that beginning. */
  readonly tools: Readonly<Record<string, FormatChargeRule>>;
  /** What fields without a rule cost. The encoders of formats without a client API write only fields that cost nothing. */
  readonly others: "free" | "costs";
}

/** Adds the rule `free` for each name of a text with spaces between them. */
export function free(names: string): Record<string, FormatChargeRule> {
  return Object.fromEntries(
    names
      .split(/\s+/)
      .filter((name) => name !== "")
      .map((name) => [name, "free"]),
  );
}

/** The tiers at which OpenAI charges its usual prices; `auto` is what the operator's project is set to, which the answer reports. */
export const USUAL_TIERS: FormatChargeRule = {
  values: ["auto", "default", "standard", "standard_only", "on_demand"],
};

/** Fields that start a search or another service of some vendor of OpenAI's formats, which has no price unless the vendor's row says so. */
export const SERVICES: Readonly<Record<string, FormatChargeRule>> = {
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
export const OF_HOSTS = free(`
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
export const OF_OTHER_ENDPOINTS = free(`
  prompt suffix echo best_of
  input dimensions output_dimension output_dtype encoding_format input_type embedding_types truncate truncation task normalized
  late_chunking priority_mode text_type
  query documents top_n top_k return_documents return_text max_chunks_per_doc max_tokens_per_doc rank_fields instruction instruct
  size quality style background moderation output_format output_compression input_fidelity partial_images
  voice instructions response_format stream_format language_boost sample_rate
  file language timestamp_granularities timestamp_granularities[] include include[] chunking_strategy known_speaker_names
  known_speaker_names[] known_speaker_references known_speaker_references[] diarize context_bias context_bias[]
`);

/** Types of tools that the client runs, in any of OpenAI's formats. */
export const CLIENT_TOOLS = free("function custom");
