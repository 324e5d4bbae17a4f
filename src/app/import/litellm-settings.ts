import type { ConfigDraft } from "./config-draft.ts";
import type { ConfigImportOutcome } from "./import-report.ts";
import type { References } from "./references.ts";
import { MAX_REPEATS, writeMilliseconds, writeRepeats } from "./write-settings.ts";

/** The context in which a setting is written. */
interface SettingContext {
  readonly draft: ConfigDraft;
  readonly references: References;
}

/** How a LiteLLM setting is converted. */
export interface SettingRule {
  readonly outcome: ConfigImportOutcome;
  readonly target?: string;
  readonly text: string;
  /** Writes the setting. Returns false if its value cannot be written. */
  readonly write?: (value: unknown, context: SettingContext) => boolean;
}

const differs = (text: string, target?: string): SettingRule => ({
  outcome: "differs",
  text,
  ...(target === undefined ? {} : { target }),
});
const missing = (text: string): SettingRule => ({ outcome: "missing", text });

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
  "Redis needs PostgreSQL here: set database.url and redis.url for several gateways; one gateway needs neither.",
);
const callbacks = differs(
  "Metrics are at /metrics, and traces go to OTEL_EXPORTER_OTLP_ENDPOINT; other destinations have no equal.",
);
const budget = missing("Spending limits belong to keys and accounts: gateway keys create --spend-limit.");
const database = missing(
  "The gateway needs a database of its own, which it creates: database.url, or SQLite without one. Keys and spend are not imported.",
);
const guardrails = missing(
  "Guardrails are not imported. Configure them in `guardrails`; a service of its Generic Guardrail API can be a webhook.",
);

/** Rules by section and setting. */
export const LITELLM_SETTINGS: Readonly<Record<string, Readonly<Record<string, SettingRule>>>> = {
  router_settings: {
    allowed_fails: health,
    allowed_fails_policy: health,
    cooldown_time: health,
    disable_cooldowns: health,
    enable_pre_call_checks: differs("Context windows and capabilities are always checked before a call."),
    num_retries: retries,
    redis_host: redis,
    redis_password: redis,
    redis_port: redis,
    redis_url: redis,
    retry_after: health,
    retry_policy: missing("Whether an error is retried depends on its kind; see docs/routing.md."),
    stream_timeout: timer("first_token_ms", "It applies to all models, until the first token."),
    timeout,
  },
  litellm_settings: {
    allowed_fails: health,
    cache: differs(
      "Answers are cached for keys that have a cache: gateway keys create --cache; see docs/answers.md.",
    ),
    cache_params: missing("The answer cache is set for each key; see docs/answers.md."),
    callbacks,
    drop_params: differs(
      "Parameters that a provider does not take are always left out, with a warning in the answer.",
    ),
    failure_callback: callbacks,
    max_budget: budget,
    num_retries: retries,
    request_timeout: timeout,
    service_callback: callbacks,
    set_verbose: missing("Set log_level: debug."),
    success_callback: callbacks,
    turn_off_message_logging: differs("Messages are only logged for accounts with a prompt log."),
  },
  general_settings: {
    alerting: missing("There are no alerts. Alert on /metrics."),
    database_url: database,
    health_check_interval: health,
    background_health_checks: health,
    master_key: {
      outcome: "differs",
      target: "admin_key",
      text: "It manages the gateway. It cannot call models: create keys with gateway keys create.",
      write(value, { draft, references }) {
        const key = references.read(value);
        // References are checked when they are expanded.
        if (key === undefined || !(references.nameAt(key) !== null || /^\S{16,}$/.test(key))) return false;
        draft.settings["admin_key"] = key;
        return true;
      },
    },
    max_budget: budget,
    max_parallel_requests: missing(
      "Limits of requests at the same time belong to keys, accounts and models: limits.per_key.concurrent.",
    ),
    pass_through_endpoints: missing("Requests are not passed through to other addresses."),
    store_model_in_db: differs(
      "Named routes and tiers can be stored while the gateway runs; models come from the catalog and the file.",
    ),
  },
};

/** Rules of whole sections. */
export const LITELLM_SECTIONS: Readonly<Record<string, SettingRule>> = {
  guardrails,
  mcp_servers: missing("MCP servers are not called by the gateway."),
  policies: guardrails,
};

/** Returns the rule of a setting. */
export function findRule(
  rules: Readonly<Record<string, SettingRule>> | undefined,
  name: string,
): SettingRule {
  const rule = rules !== undefined && Object.hasOwn(rules, name) ? rules[name] : undefined;
  return rule ?? missing("It has no equal.");
}
