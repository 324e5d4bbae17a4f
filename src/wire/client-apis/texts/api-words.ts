/**
 * The words of the client APIs: names of members, and values of enumerations. They are the same for every caller, so guardrails need not
 * look for texts in them. Whatever is not here is checked: a word that is missing costs a search, and nothing passes.
 */
export const API_WORDS: ReadonlySet<string> = new Set(
  `
  model messages role content name type text stream stream_options include_usage include_obfuscation max_tokens max_completion_tokens
  max_output_tokens max_tool_calls temperature top_p top_k top_a min_p n best_of echo stop stop_sequences frequency_penalty
  presence_penalty repetition_penalty seed random_seed logit_bias logprobs top_logprobs user safety_identifier prompt_cache_key
  prompt_cache_retention service_tier store metadata user_id session_id account_id device_id tags preset provider models usage modalities
  verbosity reasoning reasoning_effort effort enabled enable_thinking thinking_budget budget_tokens exclude max summary generate_summary
  display prediction response_format json_schema schema strict audio voice format speed audio_url input_audio data web_search_options
  search_context_size user_location approximate city country region timezone search_parameters plugins transforms route tools tool_choice
  function functions function_call parameters description required parallel_tool_calls disable_parallel_tool_use allowed_tools mode custom
  grammar definition syntax
  system developer assistant tool latest_reminder user instructions input previous_response_id conversation background truncation
  include item_reference prompt prompt_id variables suffix version id object created status phase
  image_url url detail video_url file filename file_data file_id file_url image_data media_type mime_type source document documents title
  context citations cache_control ttl ephemeral
  tool_calls tool_call tool_call_id call_id arguments refusal annotations url_citation start_index end_index start end
  reasoning_content reasoning_details reasoning_text thinking signature thought_signature extra_content google thought encrypted
  encrypted_content encrypted_index index redacted_thinking adaptive
  input_schema input_examples eager_input_streaming defer_loading allowed_callers max_uses allowed_domains blocked_domains
  max_content_tokens display_width_px display_height_px display_number max_characters
  tool_use tool_use_id tool_result is_error server_tool_use mcp_tool_use mcp_tool_result web_search_tool_result web_fetch_tool_result
  code_execution_tool_result tool_reference search_result container container_id container_upload skills mcp_servers context_management
  edits trigger keep clear_at_least clear_tool_inputs exclude_tools compaction output_config output_format task_budget inference_geo
  namespace mcp server_label server_url server_description require_approval connector_id headers authorization authorization_token
  tool_configuration mcp_call mcp_list_tools mcp_approval_request mcp_approval_response approval_request_id approve
  message output output_text input_text input_image input_file summary_text function_call_output custom_tool_call custom_tool_call_output
  computer_call computer_call_output web_search_call file_search_call image_generation_call code_interpreter_call local_shell_call
  local_shell_call_output shell_call shell_call_output apply_patch_call apply_patch_call_output acknowledged_safety_checks
  pending_safety_checks safety_checks action query queries results vector_store_ids max_num_results filters ranking_options
  ranker score_threshold background quality size output_compression moderation partial_images input_fidelity style
  input_image_mask encoding_format dimensions input_type texts images top_n return_documents max_chunks_per_doc max_tokens_per_doc
  rank_fields language response_format timestamp_granularities stream_format chunking_strategy known_speaker_names
  known_speaker_references aspect_ratio resolution image_config
  none auto any all low medium high minimal xhigh off on original concise detailed summarized omitted default flex priority scale
  standard standard_only json json_object verbose_json diarized_json srt vtt float base64 url b64_json lark regex
  web_search web_search_preview file_search code_interpreter computer computer_use_preview image_generation local_shell shell apply_patch
  web_fetch code_execution bash memory text_editor tool_search direct
  completed in_progress incomplete failed calling searching
  image video input_video web file-parser
  mp3 opus aac flac wav pcm pcm16 ogg m4a webm png jpeg jpg webp gif pdf
  image/png image/jpeg image/webp image/gif application/pdf text/plain audio/mpeg audio/wav
  5m 1h in-memory 24h
  reasoning.text reasoning.summary reasoning.encrypted anthropic-claude-v1 openai-responses-v1 google-gemini-v1 xai-responses-v1
  anthropic-messages openai-chat unknown
  search_document search_query classification clustering search_result_location char_location page_location content_block_location
  web_search_result_location web_search_result cited_text document_index document_title search_result_index start_block_index
  end_block_index start_char_index end_char_index start_page_number end_page_number
  page_age retrieved_at caller tool_name tool_references
  $schema $id $ref $defs $anchor $comment definitions properties patternProperties additionalProperties unevaluatedProperties
  propertyNames propertyOrdering items prefixItems additionalItems unevaluatedItems contains minContains maxContains minItems maxItems
  uniqueItems minProperties maxProperties minLength maxLength pattern minimum maximum exclusiveMinimum exclusiveMaximum multipleOf enum
  const examples example nullable deprecated readOnly writeOnly allOf anyOf oneOf not if then else dependentRequired dependentSchemas
  dependencies contentEncoding contentMediaType
  string number integer boolean array null date-time date time duration email hostname ipv4 ipv6 uri uri-reference uuid binary
  int32 int64 double
  `
    .trim()
    .split(/\s+/),
);

/** Members of which a string is one of an enumeration. */
export const ENUM_MEMBERS: ReadonlySet<string> = new Set([
  ...[
    "type",
    "role",
    "status",
    "phase",
    "format",
    "detail",
    "media_type",
    "mime_type",
    "ttl",
    "effort",
    "summary",
  ],
  ...[
    "reasoning_effort",
    "verbosity",
    "service_tier",
    "tool_choice",
    "function_call",
    "mode",
    "truncation",
    "syntax",
  ],
  ...[
    "quality",
    "size",
    "background",
    "moderation",
    "style",
    "output_format",
    "input_fidelity",
    "response_format",
  ],
  ...[
    "encoding_format",
    "input_type",
    "stream_format",
    "modalities",
    "include",
    "display",
    "search_context_size",
  ],
  ...[
    "prompt_cache_retention",
    "timestamp_granularities",
    "timestamp_granularities[]",
    "allowed_callers",
    "$schema",
  ],
]);
