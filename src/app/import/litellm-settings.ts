import type { ConfigDraft } from "./config-draft.ts";
import { differs, missing, type SettingResult } from "./import-report.ts";
import { readCallbacks } from "./litellm-callbacks.ts";
import type { References } from "./references.ts";
import { MAX_REPEATS, writeMilliseconds, writeRepeats, writeWhole } from "./write-settings.ts";

/** The context in which a setting is written. */
interface SettingContext {
  readonly draft: ConfigDraft;
  readonly references: References;
}

/** How a LiteLLM setting is converted. */
export interface SettingRule extends SettingResult {
  /** Writes the setting. Returns false if its value cannot be written, or what became of it if that depends on the value. */
  readonly write?: (value: unknown, context: SettingContext) => boolean | SettingResult;
}

const timer = (key: string, text: string): SettingRule => ({
  outcome: "differs",
  target: `timers.${key}`,
  text,
  write: (value, { draft }) => writeMilliseconds(draft, key, Number(value) * 1_000),
});

const retries: SettingRule = {
  outcome: "differs",
  target: "limits.repeats",
  text: `Counts rounds over all providers, at most ${MAX_REPEATS}; fallbacks are tried before anything is repeated.`,
  write: (value, { draft }) => writeRepeats(draft, value),
};

const timeout = timer("total_ms", "It applies to all models, and to a whole request with its fallbacks.");
const health = differs(
  "Circuits and cooldowns work by themselves, from failures and Retry-After; see docs/routing.md.",
);
const redis = missing(
  "Several gateways share PostgreSQL and Redis: set database.url and redis.url. One gateway needs neither.",
);
const callbacks: SettingRule = {
  ...missing("See docs/metrics.md."),
  write: (value) => readCallbacks(value),
};
const budget = missing("Spending limits belong to keys and accounts: gateway keys create --spend-limit.");
const endUserBudget = missing("gateway budgets create --end-user '*' limits each end user.");
const database = missing(
  "The gateway needs a database of its own, which it creates: database.url, or SQLite without one. Keys, teams and spend are not imported.",
);
const guardrails = missing(
  "Guardrails are not imported. `guardrails` checks patterns, personal data and injections, and calls a service of LiteLLM's Generic Guardrail API as a webhook (docs/guardrails.md).",
);
const cache = missing(
  "Answers are cached for keys that have a cache: gateway keys create --cache; with redis.url in Redis (docs/answers.md). There is no semantic cache.",
);
const log = missing("Set log_level: debug for more lines. The log never contains bodies.");
const drop = differs(
  "Parameters that a provider does not take are always left out, with a warning in the answer.",
);
const jwt = missing(
  "Clients send API keys. People sign in to the console through OpenID Connect: console.oidc (docs/console.md).",
);
const keyDefaults = missing(
  "Keys have no defaults beyond limits.per_key: set their limits when they are created.",
);
const margins = missing("pricing.rules has mark-ups and discounts in per cent (docs/pricing.md).");
const recorded = differs(
  "Every request is recorded, failed ones too. storage.retention_days limits how long.",
);
const tags = missing(
  "Clients send tags in x-gateway-tags or in the body; server.header_aliases reads another header in its place.",
);

/** `90d` in days. */
const DAYS = /^(\d+)d$/;

const retention: SettingRule = {
  outcome: "differs",
  target: "storage.retention_days",
  text: "Single generations are deleted after that time. Sums by day and balances are kept.",
  write(value, { draft }) {
    const days = Number(DAYS.exec(String(value))?.[1] ?? Number.NaN);
    return writeWhole(draft, ["storage", "retention_days"], { value: days, least: 2, most: 36_500 });
  },
};

const MEGABYTE = 1_048_576;
const bodySize: SettingRule = {
  outcome: "taken",
  target: "limits.body_bytes",
  text: "The largest body of a request, after decompression.",
  write: (value, { draft }) =>
    writeWhole(draft, ["limits", "body_bytes"], {
      value: Number(value) * MEGABYTE,
      least: 1_024,
      most: 512 * MEGABYTE,
    }),
};

const part = (name: string): SettingRule => ({
  ...missing("No model of Vertex AI was taken over."),
  write(value, { draft, references }) {
    const text = references.read(value);
    const slugs = ["google-vertex", "google-vertex-anthropic"];
    const placed = text === undefined ? [] : slugs.filter((slug) => draft.addPart(slug, name, text));
    if (placed.length === 0) return part(name);
    return {
      outcome: "taken",
      target: `providers.${placed[0]}.parts.${name}`,
      text: "It applies to all models of the provider.",
    };
  },
});

const alerting: SettingRule = {
  ...missing("Events are sent to webhooks: add one with a secret to `webhooks` (docs/webhooks.md)."),
  write(value, { draft, references }) {
    const channels: readonly unknown[] = Array.isArray(value) ? value : [value];
    if (!channels.includes("slack")) return alerting;
    const url = references.read("os.environ/SLACK_WEBHOOK_URL");
    draft.push("webhooks", { url, format: "slack" });
    return {
      outcome: "differs",
      target: "webhooks",
      text: `Slack gets the events of docs/webhooks.md: providers down and up, a high share of failed requests, budgets, expiring keys. Slow or hanging requests and reports are not sent.${channels.length > 1 ? " Other channels need a webhook of their own." : ""}`,
    };
  },
};

/** Rules by section and setting. */
export const LITELLM_SETTINGS: Readonly<Record<string, Readonly<Record<string, SettingRule>>>> = {
  router_settings: {
    allowed_fails: health,
    allowed_fails_policy: health,
    cache_responses: cache,
    cooldown_time: health,
    debug_level: log,
    disable_cooldowns: health,
    enable_pre_call_checks: differs("Context windows and capabilities are always checked before a call."),
    enable_tag_filtering: missing(
      "Tags do not choose a provider here. A tier can choose models by a request header (docs/tiers.md).",
    ),
    max_fallbacks: {
      ...differs("limits.attempts is the number of attempts for one request."),
      target: "limits.attempts",
    },
    content_policy_fallbacks: missing("A refusal by a vendor's content filter is returned to the client."),
    model_group_retry_policy: missing(
      "Whether an error is retried depends on its kind; see docs/routing.md.",
    ),
    num_retries: retries,
    optional_pre_call_checks: differs(
      "A conversation goes to the deployment that has it in its cache, or that can read its reasoning, by itself; see docs/routing.md#cache-affinity.",
    ),
    provider_budget_config: missing(
      "Budgets belong to accounts, keys, members, end users and tags, not to providers: gateway budgets create.",
    ),
    redis_host: redis,
    redis_password: redis,
    redis_port: redis,
    redis_url: redis,
    retry_after: health,
    retry_policy: missing("Whether an error is retried depends on its kind; see docs/routing.md."),
    routing_strategy_args: missing("Groups draw by weight, without further settings."),
    set_verbose: log,
    stream_timeout: timer("first_token_ms", "It applies to all models, until the first token."),
    timeout,
  },
  litellm_settings: {
    allowed_fails: health,
    budget_duration: budget,
    cache,
    cache_params: cache,
    callbacks,
    content_policy_fallbacks: missing("A refusal by a vendor's content filter is returned to the client."),
    cost_discount_config: margins,
    cost_margin_config: margins,
    default_end_user_params: endUserBudget,
    default_internal_user_params: keyDefaults,
    default_key_generate_params: keyDefaults,
    default_team_settings: keyDefaults,
    drop_params: drop,
    extra_spend_tag_headers: tags,
    failure_callback: callbacks,
    json_logs: differs("Each line of the log is a JSON object."),
    key_generation_settings: missing(
      "Who may create keys depends on their role in the organization (docs/api/accounts.md).",
    ),
    max_budget: budget,
    max_end_user_budget: endUserBudget,
    modify_params: differs("Requests are always fitted to their provider, with a warning in the answer."),
    num_retries: retries,
    redact_user_api_key_info: differs("Keys are never logged or exported."),
    request_timeout: timeout,
    require_auth_for_metrics_endpoint: differs(
      "/metrics always needs a management key, metrics.token, or an address of metrics.allow.",
    ),
    service_callback: callbacks,
    set_verbose: log,
    success_callback: callbacks,
    turn_off_message_logging: differs("Messages are only stored for keys with a prompt log."),
    upperbound_key_generate_params: keyDefaults,
    vertex_location: part("location"),
    vertex_project: part("project"),
  },
  general_settings: {
    alert_to_webhook_url: missing(
      "Add each address to `webhooks`, with the events that it is to get (docs/webhooks.md).",
    ),
    alert_types: missing("`events` of a webhook says which it gets (docs/webhooks.md)."),
    alerting,
    alerting_args: missing("`alerts` says when events are sent (docs/webhooks.md)."),
    alerting_threshold: missing(
      "Slow requests send no event. Alert on the metrics of latency (docs/metrics.md).",
    ),
    allow_requests_on_db_unavailable: differs(
      "While the database is away, keys that were used before stay valid for storage.max_staleness_ms.",
    ),
    allowed_ips: missing("Restrict the addresses of clients before the gateway, at a proxy or firewall."),
    allowed_routes: missing("Inference keys call models, and management keys the management API."),
    always_include_stream_usage: differs("The last chunk of every stream has the usage."),
    background_health_checks: health,
    budget_duration: budget,
    custom_auth: missing(
      "Clients send API keys of this gateway, or an account's own ones (docs/api/accounts.md).",
    ),
    database_connection_pool_limit: differs("database.max_connections is the number of connections."),
    database_connection_timeout: differs("database.start_wait_ms is how long a start waits for PostgreSQL."),
    database_url: database,
    disable_error_logs: recorded,
    disable_spend_logs: recorded,
    enable_jwt_auth: jwt,
    global_max_parallel_requests: missing(
      "Limits of requests at the same time belong to keys, accounts and models: limits.per_key.concurrent.",
    ),
    health_check_interval: health,
    litellm_jwtauth: jwt,
    master_key: {
      outcome: "differs",
      target: "admin_key",
      text: "It manages the gateway. It cannot call models: create keys with gateway keys create.",
      write(value, { draft, references }) {
        const key = references.read(value);
        // References are checked when they are expanded.
        if (key === undefined || !(references.nameAt(key) !== null || /^\S{16,}$/.test(key)))
          return missing(
            "It is shorter than 16 characters, or has spaces. Set admin_key to a longer one, or leave it out: a start without it generates one.",
          );
        draft.settings["admin_key"] = key;
        return true;
      },
    },
    max_budget: budget,
    max_parallel_requests: missing(
      "Limits of requests at the same time belong to keys, accounts and models: limits.per_key.concurrent.",
    ),
    max_request_size_mb: bodySize,
    maximum_spend_logs_retention_period: retention,
    pass_through_endpoints: missing("Requests are not passed through to other addresses."),
    proxy_batch_write_at: differs("Records are saved ten times a second, and are in a journal before that."),
    store_model_in_db: missing(
      "Models that were added in LiteLLM's UI are in its database and not imported. Named routes and tiers can be stored while this gateway runs.",
    ),
    store_prompts_in_spend_logs: missing(
      "Bodies are stored for keys with a prompt log: gateway keys update <key> --prompt-log (docs/prompt-log.md).",
    ),
    ui_access_mode: differs("Everyone sees what their role permits in the console (docs/console.md)."),
    use_redis_transaction_buffer: differs("Records wait in a journal on disk."),
    user_header_name: missing("An end user is `user` in the body of a request."),
  },
};

/** Rules of whole sections. */
export const LITELLM_SECTIONS: Readonly<Record<string, SettingRule>> = {
  guardrails,
  mcp_servers: missing("MCP servers are not called by the gateway."),
  policies: guardrails,
  prompts: missing(
    "Prompts are not stored. An account can store a preset with a system text (docs/named-routes.md).",
  ),
};

const UNKNOWN = missing("The import does not know this setting.");

/** Returns the rule of a setting. */
export function findRule(
  rules: Readonly<Record<string, SettingRule>> | undefined,
  name: string,
): SettingRule {
  return rules !== undefined && Object.hasOwn(rules, name) ? (rules[name] as SettingRule) : UNKNOWN;
}
