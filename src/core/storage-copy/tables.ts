/** The type of a column. Integers are exact in a number. */
type ColumnType = "text" | "integer" | "boolean" | "bytes";

export type DumpValue = string | number | boolean | Uint8Array | null;

/** A row in the form that all stores share, by column. */
export type DumpRow = Readonly<Record<string, DumpValue>>;

/** A table in the form that all stores share. A store may keep it in several tables, or under other names. */
export interface DumpTable {
  readonly name: TableName;
  readonly columns: Readonly<Record<string, ColumnType>>;
  /** The columns of the unique key, by which rows are read in order. */
  readonly key: readonly string[];
  /** The number of rows that are read and written together. */
  readonly pageRows: number;
}

const USUAL_ROWS = 500;
/** For rows of up to two megabytes. */
const LARGE_ROWS = 20;
/** For rows of up to tens of megabytes. */
const HUGE_ROWS = 4;

const columns = <Type extends ColumnType>(type: Type, ...names: readonly string[]): Record<string, Type> =>
  Object.fromEntries(names.map((name) => [name, type]));

const text = (...names: readonly string[]) => columns("text", ...names);
const integer = (...names: readonly string[]) => columns("integer", ...names);

function table(
  name: TableName,
  key: readonly string[],
  columns: DumpTable["columns"],
  pageRows = USUAL_ROWS,
): DumpTable {
  return { name, key, columns, pageRows };
}

export type TableName =
  | "settings"
  | "accounts"
  | "members"
  | "teams"
  | "team_members"
  | "invitations"
  | "api_keys"
  | "console_sessions"
  | "identities"
  | "provider_keys"
  | "named_routes"
  | "config_revisions"
  | "config_secrets"
  | "budgets"
  | "budget_days"
  | "budget_marks"
  | "audit_log"
  | "stored_responses"
  | "prompt_log"
  | "response_chains"
  | "response_conversations"
  | "response_objects"
  | "response_places"
  | "response_items"
  | "response_events"
  | "response_accounts"
  | "rejections"
  | "generations"
  | "charges"
  | "credits"
  | "balances"
  | "limited_grants"
  | "usage_days"
  | "usage_sums"
  | "usage_tags"
  | "usage_clients"
  | "usage_times"
  | "provider_outcomes"
  | "provider_incidents"
  | "quarantined_records";

const USAGE_KEY = ["account_id", "day", "key_id", "user_id", "model", "provider", "hour", "outcome"];
const USAGE_KEY_COLUMNS = {
  ...text("account_id", "key_id", "user_id", "model", "provider", "outcome"),
  ...integer("day", "hour"),
};

/** The further columns of the keys of `usage_tags` and `usage_clients`, in the order of their indexes. */
const OTHER_TAG_KEY = ["key_id", "user_id", "model", "provider", "outcome"];

const COUNTERS = {
  ...integer("requests", "errors", "prompt_tokens", "completion_tokens", "cached_tokens"),
  ...integer(
    "cache_write_tokens",
    "reasoning_tokens",
    "cost",
    "upstream_cost",
    "byok_upstream_cost",
    "cache_saved",
    "answers_saved",
  ),
};

function listBuckets(name: string): readonly string[] {
  const exact = Array.from({ length: 10 }, (_, ms) => `${name}_of_${ms}_ms`);
  return [...Array.from({ length: 32 }, (_, bucket) => `${name}_${bucket}`), ...exact];
}

/**
 * All tables of a store, in the order in which they are copied. Charges come before the credits that record how much had been charged. The
 * columns of generations derive from their records, which are JSON. Amounts are nanodollars.
 */
export const DUMP_TABLES: readonly DumpTable[] = [
  table("settings", ["name"], text("name", "value")),
  table("accounts", ["id"], {
    ...text("id", "kind", "name", "policy", "rate_limit", "plan", "email", "external_id"),
    ...text("member_keys", "tags"),
    ...integer(
      "overdraft",
      "monthly_limit",
      "prompt_log_seconds",
      "cache_seconds",
      "created_at",
      "closed_at",
    ),
  }),
  table("members", ["organization_id", "user_id"], {
    ...text("organization_id", "user_id", "role", "source"),
    ...integer("daily_limit", "created_at"),
  }),
  table("teams", ["id"], {
    ...text("id", "organization_id", "name", "policy", "rate_limit", "tags"),
    ...integer("prompt_log_seconds", "cache_seconds", "created_at", "deleted_at"),
  }),
  table("team_members", ["team_id", "user_id"], {
    ...text("team_id", "user_id", "organization_id", "source"),
    ...integer("created_at"),
    is_lead: "boolean",
  }),
  table("invitations", ["id"], {
    ...text("id", "organization_id", "role", "teams", "email", "hash", "created_by", "user_id"),
    ...integer("created_at", "expires_at", "ended_at"),
  }),
  table("api_keys", ["id"], {
    ...text("id", "kind", "account_id", "user_id", "team_id", "name", "hash", "hint", "models", "rate_limit"),
    ...text("spend_limit_period", "tags", "previous_hash", "previous_hint"),
    ...integer("rotated_at", "previous_until", "previous_used_at"),
    ...integer(
      "spend_limit",
      "prompt_log_seconds",
      "cache_seconds",
      "created_at",
      "expires_at",
      "revoked_at",
      "used_at",
    ),
  }),
  // One-time codes are not copied: they end within an hour.
  table("console_sessions", ["id"], {
    ...text("id", "hash", "key_id", "key_hash", "account_id", "user_id", "user_agent"),
    ...integer("authenticated_at", "created_at", "last_used_at", "expires_at"),
  }),
  table("identities", ["issuer", "subject"], {
    ...text("issuer", "subject", "user_id"),
    ...integer("created_at"),
  }),
  table("provider_keys", ["id"], {
    ...text("id", "account_id", "provider", "name", "last_four", "master_key_id", "ciphertext"),
    ...text("models", "members", "teams", "last_error"),
    ...integer("position", "created_at", "updated_at", "last_used_at"),
    enabled: "boolean",
  }),
  // Routes of the operator have an empty account.
  table("named_routes", ["account_id", "name", "version"], {
    ...text("account_id", "name", "definition"),
    ...integer("version", "created_at"),
  }),
  table("config_revisions", ["revision"], {
    ...integer("revision", "changed_at"),
    ...text("document", "changed_by", "changed"),
  }),
  table("config_secrets", ["id"], {
    ...text("id", "last_four", "master_key_id", "ciphertext"),
    ...integer("created_at", "updated_at"),
  }),
  table("budgets", ["id"], {
    ...text("id", "account_id", "name", "subject", "subject_id", "end_user", "period", "action", "set_by"),
    ...integer("spend_limit", "days", "warn_at", "created_at"),
  }),
  table("budget_days", ["budget_id", "value", "day"], {
    ...text("budget_id", "value"),
    ...integer("day", "spent"),
  }),
  table("budget_marks", ["budget_id", "value", "since", "level"], {
    ...text("budget_id", "value", "level"),
    ...integer("since"),
  }),
  table("audit_log", ["place"], {
    ...integer("place", "at"),
    ...text("key_id", "user_id", "action", "account_id", "target", "request_id", "changes"),
    ...text("previous_hash", "hash"),
  }),
  table(
    "stored_responses",
    ["scope", "name"],
    { ...text("scope", "name", "fingerprint", "body"), ...integer("created_at", "status") },
    LARGE_ROWS,
  ),
  table(
    "prompt_log",
    ["generation_id"],
    {
      ...text("generation_id", "account_id", "key_id", "master_key_id", "sealed_key"),
      ...integer("created_at", "expires_at"),
      ciphertext: "bytes",
    },
    LARGE_ROWS,
  ),
  table("response_chains", ["root_id"], {
    ...text("root_id"),
    ...integer("expires_at", "objects", "first_day", "last_day"),
  }),
  table(
    "response_conversations",
    ["id"],
    {
      ...text("id", "account_id", "user_id", "key_id", "master_key_id", "sealed_key"),
      ...integer("bytes", "created_at"),
      ciphertext: "bytes",
    },
    LARGE_ROWS,
  ),
  table(
    "response_objects",
    ["day", "id"],
    {
      ...text("id", "kind", "status", "account_id", "user_id", "key_id", "root_id", "previous_id"),
      ...text("conversation_id", "model", "gateway_id", "master_key_id", "sealed_key"),
      ...integer("day", "sequence", "previous_day", "chain_bytes", "bytes", "created_at", "ended_at"),
      is_background: "boolean",
      is_cancel_requested: "boolean",
      ciphertext: "bytes",
    },
    HUGE_ROWS,
  ),
  table("response_places", ["conversation_id", "sequence"], {
    ...text("conversation_id", "object_id"),
    ...integer("sequence", "day"),
  }),
  table("response_items", ["object_id", "item_id"], text("object_id", "item_id", "account_id")),
  table(
    "response_events",
    ["day", "response_id", "first_event"],
    {
      ...text("response_id"),
      ...integer("day", "first_event", "last_event"),
      ciphertext: "bytes",
    },
    LARGE_ROWS,
  ),
  table("response_accounts", ["account_id"], { ...text("account_id"), ...integer("bytes") }),
  table("rejections", ["id"], {
    ...text("id", "api", "method", "path", "account_id", "user_id", "key_id", "team_id", "key_fingerprint"),
    ...text("address_hash", "model", "code", "message", "field", "limit_source", "limit_kind", "budget_id"),
    ...text("client", "client_version", "user_agent"),
    ...integer("at", "status", "limit_value", "count"),
  }),
  table("generations", ["id"], text("id", "record")),
  table("charges", ["id"], { ...text("id", "account_id"), ...integer("place", "amount", "created_at") }),
  table("credits", ["place"], {
    ...integer("place", "amount", "created_at", "expires_at"),
    ...text("id", "kind", "from_account", "to_account", "note"),
  }),
  table("balances", ["account_id"], { ...text("account_id"), ...integer("amount", "credited", "version") }),
  table("limited_grants", ["id"], {
    ...text("id", "account_id"),
    ...integer("place", "expires_at", "ended_at"),
  }),
  table("usage_days", ["account_id", "day", "key_id", "user_id", "model", "provider"], {
    ...text("account_id", "key_id", "user_id", "model", "provider"),
    ...integer("day", "requests", "errors", "prompt_tokens", "completion_tokens", "cached_tokens"),
    ...integer("cache_write_tokens", "reasoning_tokens", "cost", "upstream_cost"),
  }),
  table("usage_sums", USAGE_KEY, { ...USAGE_KEY_COLUMNS, ...COUNTERS }),
  table("usage_tags", ["account_id", "day", "hour", "tag", ...OTHER_TAG_KEY], {
    ...text("tag"),
    ...USAGE_KEY_COLUMNS,
    ...COUNTERS,
  }),
  table("usage_clients", ["account_id", "day", "hour", "client", ...OTHER_TAG_KEY], {
    ...text("client"),
    ...USAGE_KEY_COLUMNS,
    ...COUNTERS,
  }),
  table("usage_times", USAGE_KEY, {
    ...USAGE_KEY_COLUMNS,
    ...integer(...listBuckets("latency"), ...listBuckets("duration")),
  }),
  table("provider_outcomes", ["provider", "span", "began_at"], {
    ...text("provider", "span"),
    ...integer("began_at", "succeeded", "failed", "rate_limited", "key_refused"),
  }),
  table("provider_incidents", ["id"], {
    ...text("id", "provider", "level", "models", "end_reason", "observers", "failures", "sample"),
    ...integer("began_at", "ended_at", "seen_at", "failed_attempts", "saved_requests", "failed_requests"),
  }),
  table("quarantined_records", ["id"], { ...text("id", "reason", "record"), ...integer("quarantined_at") }),
];

/** The setting in a SQLite file with the lowest schema version whose code works on the file, if that is not its own version. */
export const OLDEST_SCHEMA_SETTING = "oldest_schema";

/**
 * Settings that belong to one store and are not copied: its change counters, the id of its gateway, its oldest schema version, and the
 * progress of a copy.
 */
export const OWN_SETTINGS: readonly string[] = [
  "account_revision",
  "config_revision",
  "drain_revision",
  "gateway_id",
  "key_revision",
  "named_route_revision",
  OLDEST_SCHEMA_SETTING,
  "provider_key_revision",
  "storage_copy",
  "tier_revision",
];

/** The setting that contains the progress of a copy into the store, until the copy is complete. */
export const COPY_SETTING = "storage_copy";
