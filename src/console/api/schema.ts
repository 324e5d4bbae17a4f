/** The types of the API. Generated from the OpenAPI document by `npm run console:types`; do not edit. */

/** The named schemas. */
export interface Schemas {
  AccountBalance: {
    account: { id: string; name: string; kind: "organization" | "user" };
    balance: number;
    balance_nanodollars: number;
    held: number;
    held_nanodollars: number;
    overdraft: number | null;
    closed_at: string | null;
  };
  AuditEntry: {
    place: number;
    at: string;
    key_id: string | null;
    user_id: string | null;
    action: string;
    account_id: string | null;
    target: string | null;
    request_id: string | null;
    changes: Record<string, unknown>;
    previous_hash: string;
    hash: string;
  };
  Budget: {
    id: string;
    account_id: string;
    name: string;
    subject: "account" | "key" | "member" | "end_user" | "tag";
    key_id: string | null;
    user_id: string | null;
    end_user: string | null;
    tag: string | null;
    limit: number;
    period: "total" | "day" | "week" | "month" | "rolling";
    days: number | null;
    action: "block" | "warn";
    warn_at: number;
    set_by: "operator" | "account";
    created_at: string;
    spent: number | null;
    remaining: number | null;
    state: "ok" | "warning" | "reached";
    resets_at: string | null;
    top: { value: string; spent: number; remaining: number; state: "ok" | "warning" | "reached" }[];
  };
  CandidateReason:
    | "only"
    | "order"
    | "probe"
    | "last_resort"
    | "warm_cache"
    | "lossy"
    | "degraded"
    | "price"
    | "latency"
    | "throughput";
  CatalogChange: {
    id: string;
    model: string;
    provider: string;
    model_name: string;
    jumps: {
      kind: string;
      before: string | null;
      after: string | null;
      min_prompt_tokens: number | null;
      from: string | null;
    }[];
    before: Schemas["PriceTerms"];
    after: Schemas["PriceTerms"];
    seen_at: string;
  };
  CatalogModel: {
    id: string;
    name: string;
    author: string;
    released: string | null;
    context_length: number;
    max_output_tokens: number | null;
    input_modalities: string[];
    output_modalities: string[];
    supported_parameters: string[];
    pricing: {
      prompt: string;
      completion: string;
      input_cache_read?: string;
      input_cache_write?: string;
      request?: string;
      image?: string;
      image_output?: string;
      web_search?: string;
      audio?: string;
      audio_output?: string;
      internal_reasoning?: string;
      character?: string;
      audio_second?: string;
      generated_image?: string;
    } | null;
    is_free: boolean;
    is_served: boolean;
    not_served_because: "no_provider_key" | "no_price" | "withdrawn" | "policy" | null;
    providers: string[];
    served_by: string[];
    tiers: string[];
    expires: string | null;
  };
  CatalogModelDetails: {
    id: string;
    name: string;
    author: string;
    released: string | null;
    context_length: number;
    max_output_tokens: number | null;
    input_modalities: string[];
    output_modalities: string[];
    supported_parameters: string[];
    pricing: {
      prompt: string;
      completion: string;
      input_cache_read?: string;
      input_cache_write?: string;
      request?: string;
      image?: string;
      image_output?: string;
      web_search?: string;
      audio?: string;
      audio_output?: string;
      internal_reasoning?: string;
      character?: string;
      audio_second?: string;
      generated_image?: string;
    } | null;
    is_free: boolean;
    is_served: boolean;
    not_served_because: "no_provider_key" | "no_price" | "withdrawn" | "policy" | null;
    providers: string[];
    served_by: string[];
    tiers: string[];
    expires: string | null;
    description: string | null;
    tokenizer: string | null;
    endpoints: {
      provider: string;
      provider_name: string;
      upstream_model: string;
      is_configured: boolean;
      context_length: number;
      max_output_tokens: number | null;
      supported_parameters: string[];
      takes: Schemas["TakenParameter"][];
      status: "ok" | "degraded" | "down" | "unknown";
      uptime: number | null;
      latency_ms: { p50: number; p90: number; p99: number } | null;
      throughput: { p50: number; p90: number; p99: number } | null;
      requests: number;
      expires: string | null;
      prices: {
        from: string | null;
        until: string | null;
        min_prompt_tokens: number;
        is_current: boolean;
        pricing: {
          prompt: string;
          completion: string;
          input_cache_read?: string;
          input_cache_write?: string;
          request?: string;
          image?: string;
          image_output?: string;
          web_search?: string;
          audio?: string;
          audio_output?: string;
          internal_reasoning?: string;
          character?: string;
          audio_second?: string;
          generated_image?: string;
        };
      }[];
    }[];
  };
  CatalogStatus: {
    source: string;
    models: number;
    refresh_hours: number;
    price_factor: number;
    grace_days: number;
    attempted_at: string | null;
    refreshed_at: string | null;
    problem: string | null;
    waiting: number;
    rejected: number;
    missing: { model: string; since: string; expiration_date: string | null }[];
    difference: string[];
  };
  ChatCompletion: {
    object: "chat.completion";
    id: string;
    created: number;
    model: string;
    gateway_metadata?: Schemas["GatewayMetadata"];
    choices: {
      index: number;
      message: {
        role: "assistant";
        content: string | null;
        tool_calls?: Schemas["ToolCall"][];
        reasoning?: string | null;
      };
      finish_reason: string | null;
    }[];
    usage: Schemas["Usage"];
  };
  ChatCompletionChunk: {
    object: "chat.completion.chunk";
    id: string;
    created: number;
    model: string;
    gateway_metadata?: Schemas["GatewayMetadata"];
    choices: {
      index: number;
      delta: {
        role?: "assistant";
        content?: string | null;
        tool_calls?: Record<string, unknown>[];
        reasoning?: string | null;
      };
      finish_reason?: string | null;
    }[];
    usage?: Schemas["Usage"] | null;
  };
  ChatCompletionRequest: {
    model: string;
    messages: Schemas["Message"][];
    stream?: boolean | null;
    stream_options?: Record<string, unknown> | null;
    max_tokens?: number | null;
    max_completion_tokens?: number | null;
    temperature?: number | null;
    top_p?: number | null;
    stop?: string | string[] | null;
    frequency_penalty?: number | null;
    presence_penalty?: number | null;
    tools?: Schemas["Tool"][] | null;
    tool_choice?: "none" | "auto" | "required" | "any" | { type?: string | null } | null;
    functions?: Record<string, unknown>[] | null;
    function_call?: string | Record<string, unknown> | null;
    response_format?: { type: string } | null;
    n?: number | null;
    user?: string | null;
    safety_identifier?: string | null;
    prompt_cache_key?: string | null;
    seed?: number | null;
    models?: string[] | null;
    provider?: Schemas["ProviderPreferences"] | null;
    preset?: string | null;
    session_id?: string | null;
    tags?: string[] | null;
  };
  CompletionChunk: {
    object: "text_completion";
    id: string;
    created: number;
    model: string;
    gateway_metadata?: Schemas["GatewayMetadata"];
    choices: {
      text: string;
      index: number;
      logprobs: Record<string, unknown> | null;
      reasoning?: string;
      finish_reason: string | null;
    }[];
    usage?: Schemas["Usage"] | null;
  };
  CompletionRequest: {
    model: string;
    prompt: string | string[] | number[] | number[][];
    suffix?: string | null;
    echo?: boolean | null;
    logprobs?: number | boolean | null;
    best_of?: number | null;
    n?: number | null;
    max_tokens?: number | null;
    temperature?: number | null;
    top_p?: number | null;
    stop?: string | string[] | null;
    frequency_penalty?: number | null;
    presence_penalty?: number | null;
    seed?: number | null;
    user?: string | null;
    stream?: boolean | null;
    stream_options?: Record<string, unknown> | null;
    models?: string[] | null;
    provider?: Schemas["ProviderPreferences"] | null;
    preset?: string | null;
    session_id?: string | null;
    tags?: string[] | null;
  };
  CompletionResponse: {
    object: "text_completion";
    id: string;
    created: number;
    model: string;
    gateway_metadata?: Schemas["GatewayMetadata"];
    choices: {
      text: string;
      index: number;
      logprobs: Record<string, unknown> | null;
      reasoning?: string;
      finish_reason: string | null;
    }[];
    usage: Schemas["Usage"];
  };
  ConfigChange: { name: string; before: unknown; after: unknown; is_secret: boolean; needs_restart: boolean };
  ConsoleSession: {
    id: string;
    key: { id: string; name: string };
    account: { id: string; name: string };
    user: { id: string; name: string } | null;
    role: "operator" | "owner" | "admin" | "billing" | "member" | null;
    user_agent: string | null;
    created_at: string;
    last_used_at: string;
    expires_at: string;
    is_current: boolean;
  };
  ContentPart:
    | { type: "text"; text: string }
    | { type: "image_url"; image_url: { url: string; detail?: string | null } }
    | { type: string };
  CountTokensRequest: {
    model: string;
    messages: { role: "user" | "assistant" | "system"; content: string | { type: string }[] }[];
    system?: string | Record<string, unknown>[] | null;
    tools?: Record<string, unknown>[] | null;
    tool_choice?: Record<string, unknown> | null;
    thinking?: Record<string, unknown> | null;
    provider?: Schemas["ProviderPreferences"] | null;
  };
  CountTokensResponse: { input_tokens: number; estimated?: true };
  DayOfUsage: {
    date: string;
    requests: number;
    errors: number;
    tokens_prompt: number;
    tokens_completion: number;
    tokens_cached: number;
    tokens_cache_write: number;
    tokens_reasoning: number;
    cost: number;
    cost_nanodollars: number;
    cache_saved: number;
    cache_saved_nanodollars: number;
    upstream_cost: number;
    upstream_cost_nanodollars: number;
  };
  EmbeddingsRequest: {
    model: string;
    input: string | string[] | number[] | number[][];
    dimensions?: number | null;
    encoding_format?: "float" | "base64" | null;
    input_type?: string | null;
    user?: string | null;
    models?: string[] | null;
    provider?: Schemas["ProviderPreferences"] | null;
    preset?: string | null;
    session_id?: string | null;
    tags?: string[] | null;
  };
  EmbeddingsResponse: {
    object: "list";
    data: { object: "embedding"; index: number; embedding: number[] | string }[];
    model: string;
    usage: Schemas["Usage"];
  };
  Error: {
    error: {
      message: string;
      code: number;
      type: Schemas["ErrorType"];
      metadata: { code: Schemas["ErrorType"]; field?: string; limit_source?: string };
    };
    error_type: Schemas["ErrorType"];
  };
  ErrorType:
    | "invalid_request"
    | "invalid_model"
    | "context_length_exceeded"
    | "authentication"
    | "insufficient_credits"
    | "model_not_allowed"
    | "permission_denied"
    | "content_blocked"
    | "not_found"
    | "method_not_allowed"
    | "client_timeout"
    | "conflict"
    | "payload_too_large"
    | "unsupported_media_type"
    | "upgrade_required"
    | "rate_limit_exceeded"
    | "internal"
    | "upstream_error"
    | "unavailable";
  ExclusionReason:
    | "policy"
    | "data_collection"
    | "zero_retention"
    | "provider_rules"
    | "lacks_feature"
    | "lacks_parameter"
    | "max_price"
    | "window"
    | "own_key_unusable"
    | "circuit_open"
    | "key_refused"
    | "out_of_credit"
    | "rate_limited"
    | "overloaded"
    | "drained"
    | "free_limit"
    | "model_limit"
    | "no_fallbacks";
  FimRequest: {
    model: string;
    prompt: string;
    suffix?: string | null;
    max_tokens?: number | null;
    temperature?: number | null;
    top_p?: number | null;
    stop?: string | string[] | null;
    stream?: boolean | null;
    models?: string[] | null;
    provider?: Schemas["ProviderPreferences"] | null;
    preset?: string | null;
    session_id?: string | null;
    tags?: string[] | null;
  };
  ForwardedUsage: {
    cost: number;
    cost_details: {
      upstream_inference_cost: number;
      upstream_inference_prompt_cost: number;
      upstream_inference_completions_cost: number;
    };
    is_byok: boolean;
    estimated?: boolean;
  };
  Gateway: {
    id: string;
    state: "live" | "gone";
    host: string;
    version: string;
    data_dir: string;
    epoch: number;
    leased: number;
    started_at: string;
    seen_at: string;
  };
  GatewayMetadata: { warnings?: { field: string; message: string }[]; repairs?: Record<string, unknown> };
  Generation: {
    id: string;
    request_id: string;
    session_id: string | null;
    tags: string[];
    api: string;
    requested_model: string;
    named_routes: {
      name: string;
      kind: "alias" | "group" | "preset";
      version: number | null;
      scope: "gateway" | "account";
      to: string;
      draw?: { by: "session" | "request"; order: { model: string; weight: number }[] };
    }[];
    shadow_of: string | null;
    model: string | null;
    provider_name: string | null;
    streamed: boolean;
    outcome: "open" | "completed" | "failed" | "cancelled" | "interrupted";
    cancelled: boolean;
    status: number | null;
    error_type: string | null;
    finish_reason: string | null;
    native_finish_reason: string | null;
    replay_of: string | null;
    created_at: string;
    latency: number | null;
    generation_time: number | null;
    tokens_prompt: number;
    tokens_completion: number;
    tokens_cached: number;
    tokens_cache_write: number;
    tokens_cache_write_1h: number;
    tokens_reasoning: number;
    tokens_audio_prompt: number;
    tokens_audio_completion: number;
    tokens_image_completion: number;
    images_prompt: number;
    web_searches: number;
    search_context: string | null;
    units: {
      characters: number;
      audio_seconds: number;
      generated_images: number;
      image_size: string | null;
      image_quality: string | null;
    } | null;
    estimated: boolean;
    total_cost: number;
    total_cost_nanodollars: number;
    cache_discount: number;
    upstream_inference_cost: number;
    is_byok: boolean;
    prices: Record<string, unknown> | null;
    pricing: {
      model?: string;
      kind: string;
      tokens?: number;
      count?: number;
      price: string;
      cost_nanodollars: string;
    }[];
    list_prices: Record<string, unknown> | null;
    margin_nanodollars: number | null;
    repairs: {
      duplicate_calls_removed: number;
      orphan_results_removed: number;
      placeholders_added: number;
      ids_mapped: number;
    } | null;
    warnings: { field: string; message: string | null }[];
    cache_marks: ("shared" | "turns")[];
    advisors: {
      model: string;
      tokens_prompt: number;
      tokens_completion: number;
      tokens_cached: number;
      tokens_cache_write: number;
      upstream_inference_cost: number;
    }[];
    plan: {
      provider_name: string;
      model: string;
      is_candidate: boolean;
      reason: Schemas["CandidateReason"] | Schemas["ExclusionReason"];
      until?: string;
      upstream_format?: string;
    }[];
    attempts: {
      provider_name: string;
      upstream_model: string;
      upstream_format: string | null;
      is_byok: boolean;
      started_at: string;
      duration_ms: number | null;
      upstream_status: number | null;
      error_type: string | null;
      upstream_code: string | null;
      upstream_message: string | null;
    }[];
    api_type: "completions" | "embeddings" | "rerank" | "image" | "tts" | "stt" | null;
    usage: number;
    num_media_prompt: number;
    native_tokens_prompt: number | null;
    native_tokens_completion: number | null;
    native_tokens_cached: number | null;
    native_tokens_reasoning: number | null;
    native_tokens_completion_images: number | null;
    app_id: null;
    data_region: "global";
    external_user: null;
    http_referer: null;
    moderation_latency: null;
    num_fetches: null;
    num_input_audio_prompt: null;
    num_media_completion: null;
    num_search_results: null;
    origin: "";
    preset_id: null;
    provider_responses: null;
    router: null;
    service_tier: null;
    upstream_id: null;
    user_agent: null;
    web_search_engine: null;
    workspace_id: null;
  };
  GenerationDetails: {
    id: string;
    request_id: string;
    session_id: string | null;
    tags: string[];
    api: string;
    requested_model: string;
    named_routes: {
      name: string;
      kind: "alias" | "group" | "preset";
      version: number | null;
      scope: "gateway" | "account";
      to: string;
      draw?: { by: "session" | "request"; order: { model: string; weight: number }[] };
    }[];
    shadow_of: string | null;
    model: string | null;
    provider_name: string | null;
    streamed: boolean;
    outcome: "open" | "completed" | "failed" | "cancelled" | "interrupted";
    cancelled: boolean;
    status: number | null;
    error_type: string | null;
    finish_reason: string | null;
    native_finish_reason: string | null;
    replay_of: string | null;
    created_at: string;
    latency: number | null;
    generation_time: number | null;
    tokens_prompt: number;
    tokens_completion: number;
    tokens_cached: number;
    tokens_cache_write: number;
    tokens_cache_write_1h: number;
    tokens_reasoning: number;
    tokens_audio_prompt: number;
    tokens_audio_completion: number;
    tokens_image_completion: number;
    images_prompt: number;
    web_searches: number;
    search_context: string | null;
    units: {
      characters: number;
      audio_seconds: number;
      generated_images: number;
      image_size: string | null;
      image_quality: string | null;
    } | null;
    estimated: boolean;
    total_cost: number;
    total_cost_nanodollars: number;
    cache_discount: number;
    upstream_inference_cost: number;
    is_byok: boolean;
    prices: Record<string, unknown> | null;
    pricing: {
      model?: string;
      kind: string;
      tokens?: number;
      count?: number;
      price: string;
      cost_nanodollars: string;
    }[];
    list_prices: Record<string, unknown> | null;
    margin_nanodollars: number | null;
    repairs: {
      duplicate_calls_removed: number;
      orphan_results_removed: number;
      placeholders_added: number;
      ids_mapped: number;
    } | null;
    warnings: { field: string; message: string | null }[];
    cache_marks: ("shared" | "turns")[];
    advisors: {
      model: string;
      tokens_prompt: number;
      tokens_completion: number;
      tokens_cached: number;
      tokens_cache_write: number;
      upstream_inference_cost: number;
    }[];
    plan: {
      provider_name: string;
      model: string;
      is_candidate: boolean;
      reason: Schemas["CandidateReason"] | Schemas["ExclusionReason"];
      until?: string;
      upstream_format?: string;
    }[];
    attempts: {
      provider_name: string;
      upstream_model: string;
      upstream_format: string | null;
      is_byok: boolean;
      started_at: string;
      duration_ms: number | null;
      upstream_status: number | null;
      error_type: string | null;
      upstream_code: string | null;
      upstream_message: string | null;
    }[];
    account: { id: string; name: string | null } | null;
    key: { id: string; name: string | null } | null;
    user: { id: string; name: string | null } | null;
    first_token_at: string | null;
    finished_at: string | null;
    duration: number | null;
    held_nanodollars: number;
    has_bodies: boolean;
    transfers: Schemas["LedgerEntry"][];
  };
  GenerationLine: {
    id: string;
    request_id: string;
    created_at: string;
    account_id: string | null;
    account_name: string | null;
    key_id: string | null;
    key_name: string | null;
    user_id: string | null;
    user_name: string | null;
    session_id: string | null;
    tags: string[];
    api: string;
    requested_model: string;
    model: string | null;
    provider_name: string | null;
    streamed: boolean;
    outcome: "open" | "completed" | "failed" | "cancelled" | "interrupted";
    status: number | null;
    error_type: string | null;
    finish_reason: string | null;
    latency: number | null;
    duration: number | null;
    attempts: number;
    tokens_prompt: number;
    tokens_completion: number;
    tokens_cached: number;
    total_cost: number;
    total_cost_nanodollars: number;
    is_byok: boolean;
  };
  Identity: { issuer: string; subject: string; user_id: string; created_at: string };
  ImagesRequest: {
    model: string;
    prompt: string;
    n?: number | null;
    size?: string | null;
    quality?: string | null;
    stream?: boolean | null;
    models?: string[] | null;
    provider?: Schemas["ProviderPreferences"] | null;
    preset?: string | null;
    session_id?: string | null;
    tags?: string[] | null;
  };
  ImagesResponse: { data: { b64_json?: string; url?: string }[]; usage: Schemas["ForwardedUsage"] };
  Key: {
    id: string;
    name: string;
    kind: "inference" | "management";
    hint: string;
    account_id: string;
    user_id: string | null;
    spend_limit: number | null;
    spend_limit_period: "total" | "day" | "week" | "month";
    models: string[] | null;
    rate_limit: Schemas["RateLimit"];
    prompt_log: number | null;
    cache: number | null;
    rate_limit_set_by: "operator" | "account" | null;
    created_at: string;
    expires_at: string | null;
    last_used_at: string | null;
    revoked_at: string | null;
  };
  LedgerEntry: {
    id: string;
    number: number;
    kind: "usage" | "grant" | "purchase" | "refund" | "expiry" | "correction";
    account_id: string;
    amount: number;
    amount_nanodollars: number;
    generation_id: string | null;
    note: string | null;
    created_at: string;
    expires_at: string | null;
  };
  Member: {
    organization_id: string;
    user_id: string;
    role: "owner" | "admin" | "billing" | "member";
    daily_limit: number | null;
    created_at: string;
  };
  Message: {
    role: "system" | "developer" | "user" | "assistant" | "tool" | "function";
    content?: string | Schemas["ContentPart"][] | null;
    tool_calls?: Schemas["ToolCall"][] | null;
    tool_call_id?: string | null;
    function_call?: Record<string, unknown> | null;
  };
  MessagesError: {
    type: "error";
    error: { type: string; message: string; code: number; metadata: { code: Schemas["ErrorType"] } };
    request_id?: string;
  };
  MessagesRequest: {
    model: string;
    messages: { role: "user" | "assistant" | "system"; content: string | { type: string }[] }[];
    system?: string | Record<string, unknown>[] | null;
    tools?: Record<string, unknown>[] | null;
    tool_choice?: Record<string, unknown> | null;
    thinking?: Record<string, unknown> | null;
    provider?: Schemas["ProviderPreferences"] | null;
    max_tokens?: number | null;
    stream?: boolean | null;
    temperature?: number | null;
    top_p?: number | null;
    top_k?: number | null;
    stop_sequences?: string[] | null;
    metadata?: { user_id?: string | null } | null;
    models?: string[] | null;
    preset?: string | null;
    session_id?: string | null;
    tags?: string[] | null;
  };
  MessagesResponse: {
    id: string;
    type: "message";
    role: "assistant";
    model: string;
    content: { type: string }[];
    stop_reason: string | null;
    stop_sequence?: string | null;
    usage: { input_tokens: number; output_tokens: number };
    gateway_metadata?: Schemas["GatewayMetadata"];
  };
  Model: {
    id: string;
    object: "model";
    created: number;
    owned_by: string;
    name: string;
    description: string;
    canonical_slug: string;
    context_length: number;
    pricing: Schemas["Pricing"];
    architecture: {
      input_modalities: string[];
      output_modalities: string[];
      tokenizer: string;
      modality: string;
    };
    top_provider: { context_length: number; max_completion_tokens: number | null; is_moderated: boolean };
    supported_parameters: string[];
    isFree: boolean;
    is_price_unknown?: true;
    expiration_date: string | null;
    links: { details: string };
    default_parameters: null;
    per_request_limits: null;
    supported_voices: null;
    resolves_to?: { when: string; models: string[] }[];
    alias_of?: string;
  };
  ModerationsRequest: {
    model?: string | null;
    input: string | (string | Record<string, unknown>)[];
    models?: string[] | null;
    provider?: Schemas["ProviderPreferences"] | null;
    preset?: string | null;
    session_id?: string | null;
    tags?: string[] | null;
  };
  ModerationsResponse: {
    id: string;
    model: string;
    results: Record<string, unknown>[];
    usage: Schemas["ForwardedUsage"];
  };
  NamedRoute: {
    name: string;
    account_id: string | null;
    definition:
      | { kind: "alias"; target: string; replaces_model?: boolean; description?: string }
      | {
          kind: "group";
          targets: { model: string; weight: number; shadow?: { model: string; share: number } }[];
          sticky?: "session" | "request";
          replaces_model?: boolean;
          description?: string;
        }
      | {
          kind: "preset";
          model?: string;
          models?: string[];
          provider?: {
            order?: string[];
            only?: string[];
            ignore?: string[];
            allow_fallbacks?: boolean;
            own_keys_only?: boolean;
            data_collection?: "allow" | "deny";
            zdr?: boolean;
            require_parameters?: boolean;
            max_price?: {
              prompt?: number | string;
              completion?: number | string;
              request?: number | string;
              image?: number | string;
            };
            sort?: "price" | "throughput" | "latency";
            prompt_caching?: "auto" | "off";
          };
          parameters?: {
            temperature?: number;
            top_p?: number;
            max_tokens?: number;
            stop?: string[];
            seed?: number;
            frequency_penalty?: number;
            presence_penalty?: number;
            reasoning_effort?: "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max";
          };
          system?: string;
          description?: string;
        };
    source: "database" | "file";
    file: string | null;
    line: number | null;
    version: number | null;
    updated_at: string | null;
    is_used: boolean;
    resolves_to: string[];
    unknown_models: string[];
  };
  NamedRouteInput:
    | { kind: "alias"; target: string; replaces_model?: boolean; description?: string }
    | {
        kind: "group";
        targets: { model: string; weight: number; shadow?: { model: string; share: number } }[];
        sticky?: "session" | "request";
        replaces_model?: boolean;
        description?: string;
      }
    | {
        kind: "preset";
        model?: string;
        models?: string[];
        provider?: {
          order?: string[];
          only?: string[];
          ignore?: string[];
          allow_fallbacks?: boolean;
          own_keys_only?: boolean;
          data_collection?: "allow" | "deny";
          zdr?: boolean;
          require_parameters?: boolean;
          max_price?: {
            prompt?: number | string;
            completion?: number | string;
            request?: number | string;
            image?: number | string;
          };
          sort?: "price" | "throughput" | "latency";
          prompt_caching?: "auto" | "off";
        };
        parameters?: {
          temperature?: number;
          top_p?: number;
          max_tokens?: number;
          stop?: string[];
          seed?: number;
          frequency_penalty?: number;
          presence_penalty?: number;
          reasoning_effort?: "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max";
        };
        system?: string;
        description?: string;
      };
  Organization: {
    id: string;
    name: string;
    external_id: string | null;
    overdraft: number | null;
    monthly_limit: number | null;
    policy: Schemas["Policy"];
    rate_limit: Schemas["RateLimit"];
    plan: string | null;
    created_at: string;
    closed_at: string | null;
  };
  Policy: {
    allowed_models: string[] | null;
    denied_models: string[];
    allowed_providers: string[] | null;
    denied_providers: string[];
    deny_data_collection: boolean;
    zero_retention: boolean;
    own_keys_only: boolean;
    prompt_caching: "auto" | "off";
  };
  PolicyChange: {
    allowed_models?: string[] | null;
    denied_models?: string[];
    allowed_providers?: string[] | null;
    denied_providers?: string[];
    deny_data_collection?: boolean;
    zero_retention?: boolean;
    own_keys_only?: boolean;
    prompt_caching?: "auto" | "off";
  };
  PriceTerms: {
    prices: Record<string, string> | null;
    price_tiers: { min_prompt_tokens: number }[];
    price_changes: {
      from: string;
      prices: Record<string, string>;
      price_tiers: { min_prompt_tokens: number }[];
    }[];
  };
  Pricing: {
    prompt: string;
    completion: string;
    input_cache_read?: string;
    input_cache_write?: string;
    request?: string;
    image?: string;
    image_output?: string;
    web_search?: string;
    audio?: string;
    audio_output?: string;
    internal_reasoning?: string;
    character?: string;
    audio_second?: string;
    generated_image?: string;
    overrides?: {
      min_prompt_tokens: number;
      prompt: string;
      completion: string;
      input_cache_read?: string;
      input_cache_write?: string;
      request?: string;
      image?: string;
      image_output?: string;
      web_search?: string;
      audio?: string;
      audio_output?: string;
      internal_reasoning?: string;
      character?: string;
      audio_second?: string;
      generated_image?: string;
    }[];
  };
  Provider: {
    slug: string;
    name: string;
    displayName: string;
    privacy_policy_url: string | null;
    terms_of_service_url: string | null;
    status_page_url: string | null;
    headquarters: string | null;
    datacenters: string[] | null;
    byokEnabled: boolean;
    models: number;
  };
  ProviderHealth: {
    provider: string;
    name: string;
    state: "ok" | "degraded" | "down" | "unknown" | "no_key";
    requests: number;
    errors: number;
    latency_ms: { p50: number; p90: number; p99: number } | null;
    throughput: { p50: number; p90: number; p99: number } | null;
    circuit: "closed" | "open" | "half_open";
    drain: { since: string; until: string | null; note: string | null } | null;
    keys: {
      id: string;
      state: "ok" | "key_refused" | "out_of_credit" | "rate_limited";
      until: string | null;
      models: { model: string; state: "key_refused" | "out_of_credit" | "rate_limited"; until: string }[];
    }[];
    warm: number;
    endpoints: {
      model: string;
      upstream_model: string | null;
      state: "ok" | "degraded" | "down" | "unknown";
      requests: number;
      uptime: number | null;
      latency_ms: { p50: number; p90: number; p99: number } | null;
      throughput: { p50: number; p90: number; p99: number } | null;
      circuit: "closed" | "open" | "half_open";
      overloaded_until: string | null;
      drain: { since: string; until: string | null; note: string | null } | null;
    }[];
    refused_parameters: {
      model: string;
      upstream_model: string;
      format: string;
      parameter: string;
      byok_key_id: string | null;
      is_applied: boolean;
      since: string;
      until: string;
    }[];
    last_failures: {
      at: string;
      model: string;
      upstream_model: string;
      error_type: string;
      status: number | null;
      message: string;
      generation_id: string;
      is_byok: boolean;
    }[];
  };
  ProviderKey: {
    id: string;
    account_id: string;
    provider: string;
    last_four: string;
    name: string;
    order: number;
    enabled: boolean;
    models: string[] | null;
    members: string[] | null;
    readable: boolean;
    created_at: string;
    updated_at: string;
    last_used_at: string | null;
    last_error: { message: string; at: string } | null;
  };
  ProviderPreferences: {
    order?: string[] | null;
    only?: string[] | null;
    ignore?: string[] | null;
    allow_fallbacks?: boolean | null;
    own_keys_only?: boolean | null;
    data_collection?: "allow" | "deny" | null;
    zdr?: boolean | null;
    require_parameters?: boolean | null;
    max_price?: {
      prompt?: number | string;
      completion?: number | string;
      request?: number | string;
      image?: number | string;
    } | null;
    sort?: "price" | "throughput" | "latency" | { by: string } | null;
    prompt_caching?: "auto" | "off" | null;
  };
  RateLimit: {
    requests_per_minute: number | null;
    tokens_per_minute: number | null;
    concurrent: number | null;
  };
  RateLimitChange: {
    requests_per_minute?: number | null;
    tokens_per_minute?: number | null;
    concurrent?: number | null;
  };
  RefusedGeneration: {
    id: string;
    request_id: string;
    created_at: string;
    account_id: string | null;
    account_name: string | null;
    key_id: string | null;
    key_name: string | null;
    user_id: string | null;
    user_name: string | null;
    session_id: string | null;
    tags: string[];
    api: string;
    requested_model: string;
    model: string | null;
    provider_name: string | null;
    streamed: boolean;
    outcome: "open" | "completed" | "failed" | "cancelled" | "interrupted";
    status: number | null;
    error_type: string | null;
    finish_reason: string | null;
    latency: number | null;
    duration: number | null;
    attempts: number;
    tokens_prompt: number;
    tokens_completion: number;
    tokens_cached: number;
    total_cost: number;
    total_cost_nanodollars: number;
    is_byok: boolean;
    rule: string;
    reason: string;
  };
  RerankRequest: {
    model: string;
    query: string;
    documents: (string | Record<string, unknown>)[];
    top_n?: number | null;
    models?: string[] | null;
    provider?: Schemas["ProviderPreferences"] | null;
    preset?: string | null;
    session_id?: string | null;
    tags?: string[] | null;
  };
  RerankResponse: {
    results?: { index: number; relevance_score: number }[];
    usage: Schemas["ForwardedUsage"];
  };
  Response: {
    id: string;
    object: "response";
    created_at: number;
    status: string;
    model: string;
    output: Record<string, unknown>[];
    usage?: { input_tokens: number; output_tokens: number; total_tokens: number } | null;
    gateway_metadata?: Schemas["GatewayMetadata"];
  };
  ResponsesError: {
    error: { message: string; type: string; code: string | null; status: number; param?: string | null };
  };
  ResponsesRequest: {
    model: string;
    input: string | Record<string, unknown>[];
    instructions?: string | null;
    stream?: boolean | null;
    max_output_tokens?: number | null;
    temperature?: number | null;
    top_p?: number | null;
    top_logprobs?: number | null;
    tools?: Record<string, unknown>[] | null;
    tool_choice?: string | Record<string, unknown> | null;
    parallel_tool_calls?: boolean | null;
    reasoning?: Record<string, unknown> | null;
    text?: Record<string, unknown> | null;
    include?: string[] | null;
    metadata?: Record<string, unknown> | null;
    user?: string | null;
    prompt_cache_key?: string | null;
    store?: false | null;
    models?: string[] | null;
    provider?: Schemas["ProviderPreferences"] | null;
    preset?: string | null;
    session_id?: string | null;
    tags?: string[] | null;
  };
  RouteExplanation: {
    requested_model: string;
    named_routes: {
      name: string;
      kind: "alias" | "group" | "preset";
      version: number | null;
      scope: "gateway" | "account";
      to: string;
      draw?: { by: "session" | "request"; order: { model: string; weight: number }[] };
    }[];
    tier: { id: string; when: string; models: string[] } | null;
    prompt_tokens: number;
    candidates: {
      would_be_asked: boolean;
      provider: string;
      model: string;
      upstream_model: string;
      upstream_format: string | null;
      changes: { field: string; message: string }[] | null;
      error: { type: Schemas["ErrorType"]; message: string } | null;
      takes: Schemas["TakenParameter"][];
      is_byok: boolean;
      reason: Schemas["CandidateReason"];
      estimated_cost: number;
      health: {
        circuit: "closed" | "open" | "half_open";
        success: number;
        latency_ms: number | null;
        tokens_per_second: number | null;
      };
    }[];
    left_out: {
      provider: string;
      model: string;
      is_byok?: boolean;
      reason: Schemas["ExclusionReason"];
      about?: string;
      retry_after?: number;
      until?: string;
    }[];
    warm_until: string | null;
    warnings: { field: string; message: string }[];
    error: { type: Schemas["ErrorType"]; message: string } | null;
  };
  Setting: {
    name: string;
    value: unknown;
    source: "default" | "file" | "environment" | "database";
    file: string | null;
    line: number | null;
    variable: string | null;
    references: string[];
    is_secret: boolean;
    needs_restart: boolean;
    awaits_restart: boolean;
    description: string;
  };
  SpeechRequest: {
    model: string;
    input: string;
    voice: string | Record<string, unknown>;
    instructions?: string | null;
    response_format?: string | null;
    stream_format?: "audio" | "sse" | null;
    models?: string[] | null;
    provider?: Schemas["ProviderPreferences"] | null;
    preset?: string | null;
    session_id?: string | null;
    tags?: string[] | null;
  };
  TakenParameter: {
    parameter: string;
    taken: "yes" | "no" | "some";
    values?: (string | number | boolean | null)[];
    min?: number;
    max?: number;
    list?: true;
    while_reasoning?: true;
    not_with?: { parameter: string; values?: (string | number | boolean | null)[] };
    source: "format" | "provider" | "model" | "family" | "configuration";
  };
  Tier: {
    id: string;
    name: string;
    description: string;
    released?: string;
    rule:
      | {
          by: "header";
          header: string;
          cases: {
            values: string[];
            pick: {
              models: string[];
              reasoning?: "enabled" | "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max";
              verbosity?: "low" | "medium" | "high";
            };
          }[];
          else: {
            models: string[];
            reasoning?: "enabled" | "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max";
            verbosity?: "low" | "medium" | "high";
          };
        }
      | {
          by: "api";
          cases: Record<
            string,
            {
              models: string[];
              reasoning?: "enabled" | "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max";
              verbosity?: "low" | "medium" | "high";
            }
          >;
          else: {
            models: string[];
            reasoning?: "enabled" | "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max";
            verbosity?: "low" | "medium" | "high";
          };
        }
      | {
          by: "balance";
          paid: {
            models: string[];
            reasoning?: "enabled" | "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max";
            verbosity?: "low" | "medium" | "high";
          };
          else: {
            models: string[];
            reasoning?: "enabled" | "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max";
            verbosity?: "low" | "medium" | "high";
          };
        }
      | { by: "free"; except: string[]; last: string[] };
    source: "catalog" | "database" | "file";
    file: string | null;
    line: number | null;
    updated_at: string | null;
    replaces: ("catalog" | "database" | "file")[];
    resolves_to: { when: string; models: string[] }[];
    unknown_models: string[];
  };
  TierInput: {
    name: string;
    description?: string;
    released?: string;
    rule:
      | {
          by: "header";
          header: string;
          cases: {
            values: string[];
            pick: {
              models: string[];
              reasoning?: "enabled" | "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max";
              verbosity?: "low" | "medium" | "high";
            };
          }[];
          else: {
            models: string[];
            reasoning?: "enabled" | "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max";
            verbosity?: "low" | "medium" | "high";
          };
        }
      | {
          by: "api";
          cases: Record<
            string,
            {
              models: string[];
              reasoning?: "enabled" | "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max";
              verbosity?: "low" | "medium" | "high";
            }
          >;
          else: {
            models: string[];
            reasoning?: "enabled" | "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max";
            verbosity?: "low" | "medium" | "high";
          };
        }
      | {
          by: "balance";
          paid: {
            models: string[];
            reasoning?: "enabled" | "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max";
            verbosity?: "low" | "medium" | "high";
          };
          else: {
            models: string[];
            reasoning?: "enabled" | "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max";
            verbosity?: "low" | "medium" | "high";
          };
        }
      | { by: "free"; except?: string[]; last?: string[] };
  };
  Tool: {
    type?: string | null;
    function?: { name: string; description?: string | null; parameters?: Record<string, unknown> | null };
  };
  ToolCall: { id: string; type: "function"; function: { name: string; arguments: string } };
  TranscriptionRequest: {
    file: string;
    model: string;
    language?: string;
    prompt?: string;
    response_format?: string;
    stream?: string;
    models?: string;
    provider?: string;
  };
  TranscriptionResponse: { text: string; usage: Schemas["ForwardedUsage"] };
  Usage: {
    prompt_tokens: number;
    completion_tokens?: number;
    total_tokens: number;
    server_tool_use?: { web_search_requests?: number };
    cost?: number;
    cost_details?: {
      upstream_inference_cost?: number | null;
      upstream_inference_prompt_cost?: number;
      upstream_inference_completions_cost?: number;
    };
    is_byok?: boolean;
    estimated?: boolean;
  };
  UsageLine: {
    hour?: string | null;
    day?: string | null;
    model?: string | null;
    provider?: string | null;
    key?: string | null;
    key_name?: string | null;
    user?: string | null;
    user_name?: string | null;
    account?: string | null;
    account_name?: string | null;
    outcome?: string | null;
    tag?: string | null;
    requests: number;
    errors: number;
    tokens_prompt: number;
    tokens_completion: number;
    tokens_cached: number;
    tokens_cache_write: number;
    tokens_reasoning: number;
    cost: number;
    cost_nanodollars: number;
    cache_saved: number;
    cache_saved_nanodollars: number;
    upstream_cost: number;
    upstream_cost_nanodollars: number;
    provider_cost: number | null;
    provider_cost_nanodollars: number | null;
    margin: number | null;
    margin_nanodollars: number | null;
    latency_ms: { p50: number; p90: number; p99: number } | null;
    duration_ms: { p50: number; p90: number; p99: number } | null;
  };
  User: {
    id: string;
    name: string;
    email: string | null;
    external_id: string | null;
    overdraft: number | null;
    policy: Schemas["Policy"];
    rate_limit: Schemas["RateLimit"];
    plan: string | null;
    created_at: string;
    closed_at: string | null;
  };
}

/** The operations by method and path. */
export interface Operations {
  "DELETE /api/admin/accounts/{id}/provider-keys/{key_id}": {
    params: { id: string; key_id: string };
    query: object;
    body: null;
    response: { data: { id: string; deleted: true } };
  };
  "DELETE /api/admin/budgets/{id}": {
    params: { id: string };
    query: object;
    body: null;
    response: { data: { id: string; deleted: true } };
  };
  "DELETE /api/admin/health/{provider}/drain": {
    params: { provider: string };
    query: { model?: string };
    body: null;
    response: { gateway_id: string; data: Schemas["ProviderHealth"] };
  };
  "DELETE /api/admin/keys/{id}": {
    params: { id: string };
    query: object;
    body: null;
    response: { data: Schemas["Key"] };
  };
  "DELETE /api/admin/named-routes/{name}": {
    params: { name: string };
    query: { account_id?: string };
    body: null;
    response: { data: { name: string; deleted: true } };
  };
  "DELETE /api/admin/organizations/{id}/members/{user_id}": {
    params: { id: string; user_id: string };
    query: object;
    body: null;
    response: { data: { organization_id: string; user_id: string } };
  };
  "DELETE /api/admin/sessions/{id}": {
    params: { id: string };
    query: object;
    body: null;
    response: { data: { id: string; ended: true } };
  };
  "DELETE /api/admin/tiers/{id}": {
    params: { id: string };
    query: object;
    body: null;
    response: { data: { id: string; deleted: true } };
  };
  "DELETE /api/admin/users/{id}/identities/{subject}": {
    params: { id: string; subject: string };
    query: { issuer?: string };
    body: null;
    response: { data: { issuer: string; subject: string; user_id: string } };
  };
  "DELETE /api/console/session": {
    params: object;
    query: object;
    body: null;
    response: { signed_out: true; sign_out_url: string | null };
  };
  "GET /": {
    params: object;
    query: object;
    body: null;
    response: {
      object: "gateway";
      base_path: string;
      console?: string;
      docs: string;
      openapi: string;
      models: string;
      health: string;
      readiness: string;
    };
  };
  "GET /api/admin/accounts/{id}/balance": {
    params: { id: string };
    query: object;
    body: null;
    response: {
      data: {
        account_id: string;
        balance: number;
        balance_nanodollars: number;
        held: number;
        held_nanodollars: number;
        available: number | null;
        available_nanodollars: number | null;
        overdraft: number | null;
        total_granted: number;
        total_purchased: number;
        total_used: number;
        total_credits: number;
        total_usage: number;
        grants: { id: string; left: number; left_nanodollars: number; expires_at: string }[];
      };
    };
  };
  "GET /api/admin/accounts/{id}/ledger": {
    params: { id: string };
    query: {
      kind?: "usage" | "grant" | "purchase" | "refund" | "expiry" | "correction";
      from?: string;
      to?: string;
      limit?: number;
      after?: string;
    };
    body: null;
    response: { data: Schemas["LedgerEntry"][]; next: string | null };
  };
  "GET /api/admin/accounts/{id}/provider-keys": {
    params: { id: string };
    query: { limit?: number; after?: string };
    body: null;
    response: { data: Schemas["ProviderKey"][]; next: string | null };
  };
  "GET /api/admin/audit": {
    params: object;
    query: { limit?: number; after?: number; account_id?: string };
    body: null;
    response: { data: Schemas["AuditEntry"][]; next: string | null };
  };
  "GET /api/admin/audit/verify": {
    params: object;
    query: object;
    body: null;
    response: {
      data: {
        holds: boolean;
        entries: number;
        last_hash: string;
        broken_at: number | null;
        problem: string | null;
      };
    };
  };
  "GET /api/admin/balances": {
    params: object;
    query: { kind?: "organization" | "user"; limit?: number; after?: string };
    body: null;
    response: { data: Schemas["AccountBalance"][]; next: string | null };
  };
  "GET /api/admin/budgets": {
    params: object;
    query: { limit?: number; after?: string; account_id?: string };
    body: null;
    response: { data: Schemas["Budget"][]; next: string | null };
  };
  "GET /api/admin/budgets/{id}": {
    params: { id: string };
    query: object;
    body: null;
    response: { data: Schemas["Budget"] };
  };
  "GET /api/admin/catalog": {
    params: object;
    query: object;
    body: null;
    response: { data: Schemas["CatalogStatus"] };
  };
  "GET /api/admin/catalog/changes": {
    params: object;
    query: { status?: "waiting" | "rejected" };
    body: null;
    response: { data: Schemas["CatalogChange"][] };
  };
  "GET /api/admin/gateways": {
    params: object;
    query: object;
    body: null;
    response: { data: Schemas["Gateway"][] };
  };
  "GET /api/admin/generations": {
    params: object;
    query: {
      limit?: number;
      after?: string;
      from?: string;
      to?: string;
      account_id?: string;
      key_id?: string;
      user_id?: string;
      session_id?: string;
      tag?: string;
      model?: string;
      provider?: string;
      outcome?: "open" | "completed" | "failed" | "cancelled" | "interrupted";
      error_type?: string;
      id?: string;
    };
    body: null;
    response: { data: Schemas["GenerationLine"][]; next: string | null };
  };
  "GET /api/admin/generations/histogram": {
    params: object;
    query: {
      from?: string;
      to?: string;
      account_id?: string;
      key_id?: string;
      user_id?: string;
      session_id?: string;
      tag?: string;
      model?: string;
      provider?: string;
      outcome?: "open" | "completed" | "failed" | "cancelled" | "interrupted";
      error_type?: string;
      buckets?: number;
    };
    body: null;
    response: {
      from: string;
      to: string;
      bucket_ms: number;
      is_exact: boolean;
      buckets: { at: string; completed: number; failed: number; cancelled: number; open: number }[];
    };
  };
  "GET /api/admin/generations/stream": {
    params: object;
    query: {
      account_id?: string;
      key_id?: string;
      user_id?: string;
      session_id?: string;
      tag?: string;
      model?: string;
      provider?: string;
      outcome?: "open" | "completed" | "failed" | "cancelled" | "interrupted";
      error_type?: string;
    };
    body: null;
    response: unknown;
  };
  "GET /api/admin/generations/{id}": {
    params: { id: string };
    query: object;
    body: null;
    response: { data: Schemas["GenerationDetails"] };
  };
  "GET /api/admin/generations/{id}/bodies": {
    params: { id: string };
    query: object;
    body: null;
    response: {
      data: {
        id: string;
        account_id: string;
        key_id: string;
        created_at: string;
        expires_at: string;
        request: string;
        request_truncated: boolean;
        response: string | null;
        response_truncated: boolean;
      };
    };
  };
  "GET /api/admin/health": {
    params: object;
    query: object;
    body: null;
    response: { gateway_id: string; data: Schemas["ProviderHealth"][] };
  };
  "GET /api/admin/holds": {
    params: object;
    query: object;
    body: null;
    response: { data: { id: string; account_id: string; amount: number; amount_nanodollars: number }[] };
  };
  "GET /api/admin/identities": {
    params: object;
    query: object;
    body: null;
    response: { data: Schemas["Identity"][] };
  };
  "GET /api/admin/keys": {
    params: object;
    query: { limit?: number; after?: string; account_id?: string; user_id?: string; name?: string };
    body: null;
    response: { data: Schemas["Key"][]; next: string | null };
  };
  "GET /api/admin/keys/{id}": {
    params: { id: string };
    query: object;
    body: null;
    response: {
      data: {
        id: string;
        name: string;
        kind: "inference" | "management";
        hint: string;
        account_id: string;
        user_id: string | null;
        spend_limit: number | null;
        spend_limit_period: "total" | "day" | "week" | "month";
        models: string[] | null;
        rate_limit: Schemas["RateLimit"];
        prompt_log: number | null;
        cache: number | null;
        rate_limit_set_by: "operator" | "account" | null;
        created_at: string;
        expires_at: string | null;
        last_used_at: string | null;
        revoked_at: string | null;
        usage: number;
        usage_nanodollars: number;
      };
    };
  };
  "GET /api/admin/ledger/check": {
    params: object;
    query: object;
    body: null;
    response: {
      data: {
        of: "balance" | "record" | "quarantined" | "damaged";
        id: string;
        difference_nanodollars: number;
        reason?: string;
      }[];
    };
  };
  "GET /api/admin/models": {
    params: object;
    query: object;
    body: null;
    response: {
      data: Schemas["CatalogModel"][];
      tiers: {
        id: string;
        name: string;
        description: string;
        is_free: boolean;
        resolves_to: { when: string; models: string[] }[];
      }[];
      providers: { slug: string; name: string; is_configured: boolean }[];
    };
  };
  "GET /api/admin/models/{author}/{model}": {
    params: { author: string; model: string };
    query: object;
    body: null;
    response: { data: Schemas["CatalogModelDetails"] };
  };
  "GET /api/admin/named-routes": {
    params: object;
    query: { account_id?: string };
    body: null;
    response: { data: Schemas["NamedRoute"][] };
  };
  "GET /api/admin/named-routes/{name}": {
    params: { name: string };
    query: { account_id?: string };
    body: null;
    response: { data: Schemas["NamedRoute"] };
  };
  "GET /api/admin/named-routes/{name}/versions": {
    params: { name: string };
    query: { account_id?: string };
    body: null;
    response: {
      data: {
        version: number;
        definition:
          | { kind: "alias"; target: string; replaces_model?: boolean; description?: string }
          | {
              kind: "group";
              targets: { model: string; weight: number; shadow?: { model: string; share: number } }[];
              sticky?: "session" | "request";
              replaces_model?: boolean;
              description?: string;
            }
          | {
              kind: "preset";
              model?: string;
              models?: string[];
              provider?: {
                order?: string[];
                only?: string[];
                ignore?: string[];
                allow_fallbacks?: boolean;
                own_keys_only?: boolean;
                data_collection?: "allow" | "deny";
                zdr?: boolean;
                require_parameters?: boolean;
                max_price?: {
                  prompt?: number | string;
                  completion?: number | string;
                  request?: number | string;
                  image?: number | string;
                };
                sort?: "price" | "throughput" | "latency";
                prompt_caching?: "auto" | "off";
              };
              parameters?: {
                temperature?: number;
                top_p?: number;
                max_tokens?: number;
                stop?: string[];
                seed?: number;
                frequency_penalty?: number;
                presence_penalty?: number;
                reasoning_effort?: "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max";
              };
              system?: string;
              description?: string;
            };
        updated_at: string;
      }[];
    };
  };
  "GET /api/admin/organizations": {
    params: object;
    query: { limit?: number; after?: string; named?: string; external_id?: string };
    body: null;
    response: { data: Schemas["Organization"][]; next: string | null };
  };
  "GET /api/admin/organizations/{id}": {
    params: { id: string };
    query: object;
    body: null;
    response: { data: Schemas["Organization"] };
  };
  "GET /api/admin/organizations/{id}/members": {
    params: { id: string };
    query: { limit?: number; after?: string };
    body: null;
    response: {
      data: {
        organization_id: string;
        user_id: string;
        role: "owner" | "admin" | "billing" | "member";
        daily_limit: number | null;
        created_at: string;
        user_name: string | null;
      }[];
      next: string | null;
    };
  };
  "GET /api/admin/provider-keys": {
    params: object;
    query: { limit?: number; after?: string };
    body: null;
    response: { data: Schemas["ProviderKey"][]; next: string | null };
  };
  "GET /api/admin/sessions": {
    params: object;
    query: { limit?: number; after?: string; account_id?: string };
    body: null;
    response: { data: Schemas["ConsoleSession"][]; next: string | null };
  };
  "GET /api/admin/settings": {
    params: object;
    query: object;
    body: null;
    response: { data: Schemas["Setting"][] };
  };
  "GET /api/admin/tiers": {
    params: object;
    query: object;
    body: null;
    response: { data: Schemas["Tier"][] };
  };
  "GET /api/admin/tiers/{id}": {
    params: { id: string };
    query: object;
    body: null;
    response: { data: Schemas["Tier"] };
  };
  "GET /api/admin/usage": {
    params: object;
    query: {
      from?: string;
      to?: string;
      group_by?: string;
      account_id?: string;
      key_id?: string;
      user_id?: string;
      model?: string;
      provider?: string;
      tag?: string;
      format?: "json" | "csv";
    };
    body: null;
    response: { data: Schemas["UsageLine"][]; from: string; to: string; is_complete: boolean };
  };
  "GET /api/admin/users": {
    params: object;
    query: { limit?: number; after?: string; email?: string; named?: string; external_id?: string };
    body: null;
    response: { data: Schemas["User"][]; next: string | null };
  };
  "GET /api/admin/users/{id}": {
    params: { id: string };
    query: object;
    body: null;
    response: {
      data: {
        id: string;
        name: string;
        email: string | null;
        external_id: string | null;
        overdraft: number | null;
        policy: Schemas["Policy"];
        rate_limit: Schemas["RateLimit"];
        plan: string | null;
        created_at: string;
        closed_at: string | null;
        memberships: Schemas["Member"][];
      };
    };
  };
  "GET /api/admin/webhooks": {
    params: object;
    query: object;
    body: null;
    response: {
      data: {
        index: number;
        origin: string;
        format: "json" | "slack";
        events: string[];
        waiting: number;
        delivered: number;
        dropped: number;
        last_error: string | null;
      }[];
    };
  };
  "GET /api/console/session": {
    params: object;
    query: object;
    body: null;
    response: {
      role: "operator" | "owner" | "admin" | "billing" | "member";
      account: { id: string; name: string; kind: "user" | "organization" } | null;
      user: { id: string; name: string } | null;
      key_id: string;
      expires_at: string;
      version: string;
      base_url: string;
      sign_in: { oidc: { name: string } | null };
    };
  };
  "GET /api/gateway": { params: object; query: object; body: null; response: { object: "gateway" } };
  "GET /api/gateway/activity": {
    params: object;
    query: object;
    body: null;
    response: { data: Schemas["DayOfUsage"][] };
  };
  "GET /api/gateway/credits": {
    params: object;
    query: object;
    body: null;
    response: {
      data: {
        balance: number;
        balance_nanodollars: number;
        held: number;
        total_granted: number;
        total_purchased: number;
        total_used: number;
        total_credits: number;
        total_usage: number;
      };
    };
  };
  "GET /api/gateway/generation": {
    params: object;
    query: { id: string };
    body: null;
    response: { data: Schemas["Generation"] };
  };
  "GET /api/gateway/key": {
    params: object;
    query: object;
    body: null;
    response: {
      data: {
        id: string;
        name: string;
        label: string;
        limit: number | null;
        limit_period: "total" | "day" | "week" | "month";
        limit_remaining: number | null;
        limit_resets_at: string | null;
        usage: number;
        usage_nanodollars: number;
        models: string[] | null;
        rate_limit: {
          requests_per_minute: number | null;
          tokens_per_minute: number | null;
          concurrent: number | null;
          requests: number;
          interval: "1m";
          note: string;
        };
        free_model_limit: { requests_per_hour: number; remaining: number } | null;
        created_at: string;
        expires_at: string | null;
        limit_reset: "daily" | "weekly" | "monthly" | null;
        usage_daily: number;
        usage_weekly: number;
        usage_monthly: number;
        byok_usage: number;
        byok_usage_daily: number;
        byok_usage_weekly: number;
        byok_usage_monthly: number;
        include_byok_in_limit: false;
        is_free_tier: boolean;
        is_management_key: false;
        is_provisioning_key: false;
        creator_user_id: string | null;
        organization_id: string | null;
        workspace_id: null;
        allowed_data_regions: "global"[];
        free_model_daily_requests: { limit: number; remaining: number; used: number };
        budgets: {
          id: string;
          name: string;
          subject: "account" | "key" | "member" | "end_user" | "tag";
          limit: number;
          period: "total" | "day" | "week" | "month" | "rolling";
          days: number | null;
          action: "block" | "warn";
          spent: number | null;
          remaining: number | null;
          state: "ok" | "warning" | "reached";
          resets_at: string | null;
        }[];
        account: { id: string; kind: "user" | "organization"; name: string };
      };
    };
  };
  "GET /api/gateway/model/{author}/{model}": {
    params: { author: string; model: string };
    query: object;
    body: null;
    response: { data: Schemas["Model"] };
  };
  "GET /api/gateway/models": {
    params: object;
    query: { all?: "true" | "false"; limit?: number; offset?: number };
    body: null;
    response: { object: "list"; data: Schemas["Model"][]; links: { next: null }; total_count: number };
  };
  "GET /api/gateway/models/count": {
    params: object;
    query: { all?: "true" | "false" };
    body: null;
    response: { data: { count: number } };
  };
  "GET /api/gateway/models/user": {
    params: object;
    query: { all?: "true" | "false"; limit?: number; offset?: number };
    body: null;
    response: { object: "list"; data: Schemas["Model"][]; links: { next: null }; total_count: number };
  };
  "GET /api/gateway/models/{author}/{model}": {
    params: { author: string; model: string };
    query: object;
    body: null;
    response: Schemas["Model"];
  };
  "GET /api/gateway/models/{author}/{model}/endpoints": {
    params: { author: string; model: string };
    query: object;
    body: null;
    response: {
      data: {
        id: string;
        name: string;
        created: number;
        description: string;
        architecture: {
          input_modalities: string[];
          output_modalities: string[];
          tokenizer: string;
          modality: string;
          instruct_type: null;
        };
        endpoints: {
          provider_name: string;
          tag: string;
          name: string;
          model_id: string;
          model_name: string;
          context_length: number;
          max_completion_tokens: number | null;
          max_prompt_tokens: null;
          quantization: null;
          pricing: Schemas["Pricing"];
          supported_parameters: string[];
          supports_tool_choice: { auto: boolean; none: boolean; required: boolean; function: boolean };
          supports_implicit_caching: boolean;
          configured: boolean;
          health: "ok" | "degraded" | "down" | "unknown";
          uptime: number | null;
          latency_ms: { p50: number; p90: number; p99: number } | null;
          throughput: { p50: number; p90: number; p99: number } | null;
          requests: number;
          uptime_last_5m: null;
          uptime_last_30m: null;
          uptime_last_1d: null;
          latency_last_30m: null;
          throughput_last_30m: null;
          expiration_date: string | null;
        }[];
      };
    };
  };
  "GET /api/gateway/models/{id}": {
    params: { id: string };
    query: object;
    body: null;
    response: Schemas["Model"];
  };
  "GET /api/gateway/providers": {
    params: object;
    query: { all?: "true" | "false" };
    body: null;
    response: { object: "list"; data: Schemas["Provider"][]; links: { next: null }; total_count: number };
  };
  "GET /docs": { params: object; query: object; body: null; response: unknown };
  "GET /healthz": { params: object; query: object; body: null; response: { status: "ok" } };
  "GET /metrics": { params: object; query: object; body: null; response: unknown };
  "GET /openapi.json": { params: object; query: object; body: null; response: { openapi: string } };
  "GET /readyz": {
    params: object;
    query: object;
    body: null;
    response: { status: "ready" | "degraded"; problems?: string[] };
  };
  "PATCH /api/admin/accounts/{id}/provider-keys/{key_id}": {
    params: { id: string; key_id: string };
    query: object;
    body: {
      key?: string;
      name?: string;
      order?: number;
      enabled?: boolean;
      models?: string[] | null;
      members?: string[] | null;
    };
    response: { data: Schemas["ProviderKey"] };
  };
  "PATCH /api/admin/budgets/{id}": {
    params: { id: string };
    query: object;
    body: { name?: string; limit?: string | number; action?: "block" | "warn"; warn_at?: number };
    response: { data: Schemas["Budget"] };
  };
  "PATCH /api/admin/keys/{id}": {
    params: { id: string };
    query: object;
    body: {
      name?: string;
      spend_limit?: string | number | null;
      spend_limit_period?: "total" | "day" | "week" | "month";
      models?: string[] | null;
      rate_limit?: Schemas["RateLimitChange"] | null;
      prompt_log?: number | null;
      cache?: number | null;
      expires_at?: string | null;
    };
    response: { data: Schemas["Key"] };
  };
  "PATCH /api/admin/organizations/{id}": {
    params: { id: string };
    query: object;
    body: {
      name?: string;
      external_id?: string | null;
      overdraft?: string | number | null;
      policy?: Schemas["PolicyChange"];
      rate_limit?: Schemas["RateLimitChange"] | null;
      plan?: string | null;
      monthly_limit?: string | number | null;
      closed?: boolean;
    };
    response: { data: Schemas["Organization"] };
  };
  "PATCH /api/admin/users/{id}": {
    params: { id: string };
    query: object;
    body: {
      name?: string;
      email?: string | null;
      external_id?: string | null;
      overdraft?: string | number | null;
      policy?: Schemas["PolicyChange"];
      rate_limit?: Schemas["RateLimitChange"] | null;
      plan?: string | null;
      closed?: boolean;
    };
    response: { data: Schemas["User"] };
  };
  "POST /api/admin/accounts/{id}/corrections": {
    params: { id: string };
    query: object;
    body: { amount: string | number; note: string; id?: string | null };
    response: { data: Schemas["LedgerEntry"] };
  };
  "POST /api/admin/accounts/{id}/credits": {
    params: { id: string };
    query: object;
    body: { amount: string | number; note?: string | null; expires_at?: string | null; id?: string | null };
    response: { data: Schemas["LedgerEntry"] };
  };
  "POST /api/admin/accounts/{id}/provider-keys": {
    params: { id: string };
    query: object;
    body: {
      provider: string;
      key: string;
      name?: string;
      order?: number;
      enabled?: boolean;
      models?: string[] | null;
      members?: string[] | null;
    };
    response: { data: Schemas["ProviderKey"] };
  };
  "POST /api/admin/accounts/{id}/provider-keys/{key_id}/test": {
    params: { id: string; key_id: string };
    query: object;
    body: null;
    response: {
      data: {
        status: "ok" | "refused" | "out_of_reach";
        message: string;
        model: string | null;
        latency_ms: number | null;
        upstream_status: number | null;
        upstream_message: string | null;
        models: string[];
      };
    };
  };
  "POST /api/admin/accounts/{id}/purchases": {
    params: { id: string };
    query: object;
    body: { id: string; amount: string | number; note?: string | null };
    response: { data: Schemas["LedgerEntry"] };
  };
  "POST /api/admin/budgets": {
    params: object;
    query: object;
    body: {
      account_id?: string;
      name?: string;
      key_id?: string;
      user_id?: string;
      end_user?: string;
      tag?: string;
      limit: string | number;
      period?: "total" | "day" | "week" | "month" | "rolling";
      days?: number;
      action?: "block" | "warn";
      warn_at?: number;
    };
    response: { data: Schemas["Budget"] };
  };
  "POST /api/admin/catalog/changes/{id}/approve": {
    params: { id: string };
    query: object;
    body: null;
    response: { data: Schemas["CatalogChange"][] };
  };
  "POST /api/admin/catalog/changes/{id}/reject": {
    params: { id: string };
    query: object;
    body: null;
    response: { data: Schemas["CatalogChange"][] };
  };
  "POST /api/admin/catalog/refresh": {
    params: object;
    query: object;
    body: { dry_run?: boolean };
    response: {
      data: {
        written: boolean;
        added: number;
        changed: number;
        difference: string[];
        waiting: Schemas["CatalogChange"][];
      };
    };
  };
  "POST /api/admin/generations/{id}/refund": {
    params: { id: string };
    query: object;
    body: { amount?: string | number | null; note?: string | null; id?: string | null };
    response: { data: Schemas["LedgerEntry"] };
  };
  "POST /api/admin/health/{provider}/clear": {
    params: { provider: string };
    query: object;
    body: null;
    response: { gateway_id: string; data: Schemas["ProviderHealth"] };
  };
  "POST /api/admin/health/{provider}/drain": {
    params: { provider: string };
    query: object;
    body: { model?: string; until?: string | null; note?: string };
    response: { gateway_id: string; data: Schemas["ProviderHealth"] };
  };
  "POST /api/admin/health/{provider}/test": {
    params: { provider: string };
    query: object;
    body: { model?: string; key?: string };
    response: {
      data: {
        status: "ok" | "refused" | "out_of_reach";
        message: string;
        model: string | null;
        latency_ms: number | null;
        upstream_status: number | null;
        upstream_message: string | null;
      };
    };
  };
  "POST /api/admin/keys": {
    params: object;
    query: object;
    body: {
      name: string;
      spend_limit?: string | number | null;
      spend_limit_period?: "total" | "day" | "week" | "month";
      models?: string[] | null;
      rate_limit?: Schemas["RateLimitChange"] | null;
      prompt_log?: number | null;
      cache?: number | null;
      expires_at?: string | null;
      kind?: "inference" | "management";
      account_id?: string;
      user_id?: string | null;
    };
    response: { key: string; data: Schemas["Key"] };
  };
  "POST /api/admin/named-routes/{name}/restore": {
    params: { name: string };
    query: { account_id?: string };
    body: { version: number };
    response: { data: Schemas["NamedRoute"] };
  };
  "POST /api/admin/organizations": {
    params: object;
    query: object;
    body: {
      name: string;
      external_id?: string | null;
      overdraft?: string | number | null;
      policy?: Schemas["PolicyChange"];
      rate_limit?: Schemas["RateLimitChange"] | null;
      plan?: string | null;
      monthly_limit?: string | number | null;
      owner?: string;
    };
    response: { data: Schemas["Organization"] };
  };
  "POST /api/admin/policy/dry-run": {
    params: object;
    query: object;
    body: {
      account_id?: string;
      key_id?: string;
      policy?: Schemas["PolicyChange"];
      models?: string[];
      last?: number;
    };
    response: { checked: number; rerouted: number; refused: Schemas["RefusedGeneration"][] };
  };
  "POST /api/admin/route/explain": {
    params: object;
    query: object;
    body: {
      api?:
        | "chat.completions"
        | "responses"
        | "messages"
        | "completions"
        | "fim"
        | "embeddings"
        | "moderations"
        | "rerank"
        | "images"
        | "speech"
        | "transcriptions";
      key_id?: string;
      account_id?: string;
      headers?: Record<string, string>;
      tier?: {
        id: string;
        name: string;
        description?: string;
        released?: string;
        rule:
          | {
              by: "header";
              header: string;
              cases: {
                values: string[];
                pick: {
                  models: string[];
                  reasoning?: "enabled" | "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max";
                  verbosity?: "low" | "medium" | "high";
                };
              }[];
              else: {
                models: string[];
                reasoning?: "enabled" | "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max";
                verbosity?: "low" | "medium" | "high";
              };
            }
          | {
              by: "api";
              cases: Record<
                string,
                {
                  models: string[];
                  reasoning?: "enabled" | "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max";
                  verbosity?: "low" | "medium" | "high";
                }
              >;
              else: {
                models: string[];
                reasoning?: "enabled" | "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max";
                verbosity?: "low" | "medium" | "high";
              };
            }
          | {
              by: "balance";
              paid: {
                models: string[];
                reasoning?: "enabled" | "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max";
                verbosity?: "low" | "medium" | "high";
              };
              else: {
                models: string[];
                reasoning?: "enabled" | "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max";
                verbosity?: "low" | "medium" | "high";
              };
            }
          | { by: "free"; except?: string[]; last?: string[] };
      };
      named_route?: {
        name: string;
        definition:
          | { kind: "alias"; target: string; replaces_model?: boolean; description?: string }
          | {
              kind: "group";
              targets: { model: string; weight: number; shadow?: { model: string; share: number } }[];
              sticky?: "session" | "request";
              replaces_model?: boolean;
              description?: string;
            }
          | {
              kind: "preset";
              model?: string;
              models?: string[];
              provider?: {
                order?: string[];
                only?: string[];
                ignore?: string[];
                allow_fallbacks?: boolean;
                own_keys_only?: boolean;
                data_collection?: "allow" | "deny";
                zdr?: boolean;
                require_parameters?: boolean;
                max_price?: {
                  prompt?: number | string;
                  completion?: number | string;
                  request?: number | string;
                  image?: number | string;
                };
                sort?: "price" | "throughput" | "latency";
                prompt_caching?: "auto" | "off";
              };
              parameters?: {
                temperature?: number;
                top_p?: number;
                max_tokens?: number;
                stop?: string[];
                seed?: number;
                frequency_penalty?: number;
                presence_penalty?: number;
                reasoning_effort?: "none" | "minimal" | "low" | "medium" | "high" | "xhigh" | "max";
              };
              system?: string;
              description?: string;
            };
      };
      request: Record<string, unknown>;
    };
    response: { data: Schemas["RouteExplanation"] };
  };
  "POST /api/admin/settings/reload": {
    params: object;
    query: { dry_run?: "true" | "false" };
    body: null;
    response: { data: { applied: boolean; changes: Schemas["ConfigChange"][] } };
  };
  "POST /api/admin/users": {
    params: object;
    query: object;
    body: {
      name: string;
      email?: string | null;
      external_id?: string | null;
      overdraft?: string | number | null;
      policy?: Schemas["PolicyChange"];
      rate_limit?: Schemas["RateLimitChange"] | null;
      plan?: string | null;
    };
    response: { data: Schemas["User"] };
  };
  "POST /api/admin/users/{id}/identities": {
    params: { id: string };
    query: object;
    body: { issuer?: string; subject: string };
    response: { data: { issuer: string; subject: string; user_id: string } };
  };
  "POST /api/admin/webhooks/test": {
    params: object;
    query: object;
    body: { index?: number };
    response: {
      data: {
        index: number;
        origin: string;
        event_id: string;
        status: number | null;
        error: string | null;
      }[];
    };
  };
  "POST /api/console/playground-key": {
    params: object;
    query: object;
    body: { account_id?: string };
    response: { key: string; expires_at: string; limit: number };
  };
  "POST /api/console/session": {
    params: object;
    query: object;
    body: { key?: string; code?: string };
    response: {
      role: "operator" | "owner" | "admin" | "billing" | "member";
      account: { id: string; name: string; kind: "user" | "organization" } | null;
      user: { id: string; name: string } | null;
      key_id: string;
      expires_at: string;
      version: string;
      base_url: string;
      sign_in: { oidc: { name: string } | null };
    };
  };
  "POST /api/fim/completions": {
    params: object;
    query: object;
    body: Schemas["FimRequest"];
    response: Schemas["ChatCompletion"];
  };
  "POST /api/gateway/audio/speech": {
    params: object;
    query: object;
    body: Schemas["SpeechRequest"];
    response: unknown;
  };
  "POST /api/gateway/audio/transcriptions": {
    params: object;
    query: object;
    body: null;
    response: Schemas["TranscriptionResponse"];
  };
  "POST /api/gateway/chat/completions": {
    params: object;
    query: object;
    body: Schemas["ChatCompletionRequest"];
    response: Schemas["ChatCompletion"];
  };
  "POST /api/gateway/completions": {
    params: object;
    query: object;
    body: Schemas["CompletionRequest"];
    response: Schemas["CompletionResponse"];
  };
  "POST /api/gateway/embeddings": {
    params: object;
    query: object;
    body: Schemas["EmbeddingsRequest"];
    response: Schemas["EmbeddingsResponse"];
  };
  "POST /api/gateway/images/generations": {
    params: object;
    query: object;
    body: Schemas["ImagesRequest"];
    response: Schemas["ImagesResponse"];
  };
  "POST /api/gateway/messages": {
    params: object;
    query: object;
    body: Schemas["MessagesRequest"];
    response: Schemas["MessagesResponse"];
  };
  "POST /api/gateway/messages/count_tokens": {
    params: object;
    query: object;
    body: Schemas["CountTokensRequest"];
    response: Schemas["CountTokensResponse"];
  };
  "POST /api/gateway/moderations": {
    params: object;
    query: object;
    body: Schemas["ModerationsRequest"];
    response: Schemas["ModerationsResponse"];
  };
  "POST /api/gateway/rerank": {
    params: object;
    query: object;
    body: Schemas["RerankRequest"];
    response: Schemas["RerankResponse"];
  };
  "POST /api/gateway/responses": {
    params: object;
    query: object;
    body: Schemas["ResponsesRequest"];
    response: Schemas["Response"];
  };
  "POST /api/gateway/route/explain": {
    params: object;
    query: {
      api?:
        | "chat.completions"
        | "responses"
        | "messages"
        | "completions"
        | "fim"
        | "embeddings"
        | "moderations"
        | "rerank"
        | "images"
        | "speech";
    };
    body:
      | Schemas["ChatCompletionRequest"]
      | Schemas["ResponsesRequest"]
      | Schemas["MessagesRequest"]
      | Schemas["CompletionRequest"]
      | Schemas["FimRequest"]
      | Schemas["EmbeddingsRequest"]
      | Schemas["ModerationsRequest"]
      | Schemas["RerankRequest"]
      | Schemas["ImagesRequest"]
      | Schemas["SpeechRequest"];
    response: { data: Schemas["RouteExplanation"] };
  };
  "POST /api/payments/webhook": {
    params: object;
    query: object;
    body: { id: string; account_id: string; amount: string | number; currency: "usd"; note?: string | null };
    response: { data: Schemas["LedgerEntry"] };
  };
  "PUT /api/admin/named-routes/{name}": {
    params: { name: string };
    query: { account_id?: string };
    body: Schemas["NamedRouteInput"];
    response: { data: Schemas["NamedRoute"] };
  };
  "PUT /api/admin/organizations/{id}/members/{user_id}": {
    params: { id: string; user_id: string };
    query: object;
    body: { role: "owner" | "admin" | "billing" | "member"; daily_limit?: string | number | null };
    response: { data: Schemas["Member"] };
  };
  "PUT /api/admin/tiers/{id}": {
    params: { id: string };
    query: object;
    body: Schemas["TierInput"];
    response: { data: Schemas["Tier"] };
  };
}
