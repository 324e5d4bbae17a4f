import { z } from "zod";
import { LOG_LEVELS } from "../../base/failures/log.ts";
import { BOUNDS } from "../../base/numbers/bounds.ts";
import { parseDollars } from "../../base/numbers/money.ts";
import { HEADER_VALUE_RULE, isHeaderValue } from "../../base/text/header-text.ts";
import { DAY_MS } from "../../base/time/time.ts";
import { SOLE_OUTPUTS } from "../../core/catalog/records/model-schema.ts";
import { PlainText } from "../../core/catalog/records/plain-text-schema.ts";
import { tiersSchema } from "../../core/catalog/tiers/tier-schema.ts";
import { oidcSchema } from "../../core/console/oidc-schema.ts";
import { EVENT_TYPES } from "../../core/events/event.ts";
import { namedRoutesSchema } from "../../core/named-routes/route-schema.ts";
import { readMasterKey } from "../../core/provider-keys/vault.ts";
import { ENTRIES, FILE_ONLY, NEEDS_RESTART, SECRET } from "../../core/settings/config-marks.ts";
import { DatabaseUrlError, parseDatabaseUrl } from "../../storage/postgres/connection/database-url.ts";
import { parseRedisAddress, RedisAddressError } from "../../storage/redis/address.ts";
import { WEBHOOK_FORMATS } from "../../telemetry/webhooks/render-event.ts";
import { PROMPT_CACHING } from "../../wire/conversation/preferences.ts";
import { PROVIDER_FORMATS } from "../../wire/conversation/traits/format-name.ts";
import { guardrailsSchema } from "./guardrail-schema.ts";
import {
  overridesSchema,
  priceChangesSchema,
  pricesSchema,
  takenSchema,
  tiersOfPricesSchema,
} from "./override-schema.ts";
import { pricingSchema } from "./pricing-schema.ts";
import { baseUrl, secretUrl, webhookSecret } from "./webhook-schema.ts";

/**
 * The keys of the configuration, with their defaults. `gateway.example.yaml` is generated from this schema; the descriptions
 * become its comments.
 */

/** Marks a setting, or all of a section. */
const RESTART = { [NEEDS_RESTART]: true };

/** Marks a setting, or all of a section, that needs a restart, too. */
const MACHINE = { ...RESTART, [FILE_ONLY]: true };

/** A whole number from `least` to `most`. */
const integer = (least: number, most: number, byDefault: number) =>
  z.int().min(least).max(most).default(byDefault);

const milliseconds = (byDefault: number, about: string) =>
  integer(1, DAY_MS, byDefault).describe(`${about} Milliseconds.`);

/** A group of settings with defaults, which need not be written. */
function section<Shape extends z.ZodRawShape>(shape: Shape) {
  return z.strictObject(shape).prefault({} as never);
}

const headerName = z.string().regex(/^[a-z0-9][a-z0-9-]*$/, "must be a header name in lower case");

/** Ids of models stand in headers and URLs. */
const PRINTABLE = /^[!-~]*$/;

/** The beginning of a model id. */
const idPrefix = z
  .string()
  .max(BOUNDS.modelIdChars)
  .regex(PRINTABLE, "must consist of printable ASCII characters, as all ids of models");

const hostName = z
  .string()
  .toLowerCase()
  .regex(
    /^[a-z0-9]([a-z0-9.-]*[a-z0-9])?$/,
    "must be a host name such as gateway.example.com, without a port",
  );

const maximum = (about: string) => z.int().min(1).max(1_000_000_000_000).optional().describe(about);

const rateLimit = z.strictObject({
  requests_per_minute: maximum("Requests in any 60 seconds."),
  tokens_per_minute: maximum("Tokens of prompts and answers in any 60 seconds."),
  concurrent: maximum("Requests at the same time."),
});

/** The maximum number of patterns in `limits.models`. Each request is compared with all of them. */
const MAX_MODEL_LIMITS = 100;

const patterns = z.array(z.string().min(1).max(256)).max(1_000);

const hostedModel = z
  .strictObject({
    id: z
      .string()
      .max(BOUNDS.modelIdChars)
      .regex(/^[^/\s]+\/\S+$/, "must have the form author/model")
      .regex(PRINTABLE, "must consist of printable ASCII characters; `name` may be any name at the host")
      .describe("The id that clients send: author/model."),
    name: z
      .string()
      .min(1)
      .optional()
      .describe("Its name at the host. Defaults to the part of the id after the slash, without :free."),
    copy_of: z
      .string()
      .min(1)
      .max(BOUNDS.modelIdChars)
      .optional()
      .describe(
        "Id of a model of the catalog, such as openai/gpt-5.1, whose inputs, context window, parameters, reasoning and prices the model has unless stated otherwise: a deployment of Azure under a name of your own, or a model on your own host. Names with a geography, such as eu.anthropic.…, are recognized without it.",
      ),
    input: z
      .array(z.enum(["text", "image", "file", "audio", "video"]))
      .min(1)
      .optional()
      .describe(
        "Inputs that the model accepts; others are rejected with 400. If absent, all inputs are sent.",
      ),
    released: z.iso.date().optional().describe("Release date in model lists, such as 2026-05-31."),
    output: z
      .enum(["text", "image", ...SOLE_OUTPUTS])
      .default("text")
      .describe("Output of the model: text is for conversations; each of the others has its own endpoint."),
    context_length: z
      .int()
      .min(1)
      .optional()
      .describe(
        "Context window in tokens. Longer prompts are rejected with 400. If absent, 32768 is listed and the host decides.",
      ),
    max_output_tokens: z.int().min(1).optional(),
    takes: takenSchema
      .optional()
      .describe(
        "Which request parameters the model accepts. Written like `takes` of the provider, over which it takes precedence.",
      ),
    prices: pricesSchema
      .optional()
      .describe(
        "US dollars, with the same names as the prices of the catalog. Tokens: prompt, completion, cache_read, cache_write, cache_write_1h, audio_in, audio_out, reasoning, image_out. Others: per request, image in the prompt, web search or search of a rerank model, character of text to speak, second of audio to transcribe, and generated image, also by quality and size. A token without a price of its own costs as much as one of the prompt or completion. Without prices, or without the price that the model's output needs, nothing is charged, and the log, checks, lists and answers warn of that: write 0 if it is intended. Callers without a key can use a model only if its id ends in :free, whatever its price.",
      ),
    price_tiers: tiersOfPricesSchema
      .optional()
      .describe("Prices for prompts of at least min_prompt_tokens, in ascending order."),
    price_changes: priceChangesSchema
      .optional()
      .describe("Prices that replace these from a day (UTC) on, in ascending order."),
  })
  .refine(({ copy_of, output }) => copy_of === undefined || output === "text", {
    path: ["output"],
    error: "is that of the model in copy_of; remove it",
  })
  .refine(
    ({ prices, price_tiers, price_changes }) =>
      prices !== undefined || (price_tiers === undefined && price_changes === undefined),
    { path: ["prices"], error: "is needed with price_tiers or price_changes" },
  );

/** A text that `parse` accepts. Its errors of the class `Fault` say what is wrong. */
function parsedBy(
  parse: (text: string) => unknown,
  Fault: typeof DatabaseUrlError | typeof RedisAddressError,
) {
  return z.string().superRefine((text, context) => {
    try {
      parse(text);
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      context.addIssue({ code: "custom", message: error.message });
    }
  });
}

const secret = z
  .string()
  .min(1, "must not be empty")
  .describe("secret")
  .meta({ [SECRET]: true });

/** The least characters of a management key, and of the token for metrics. */
const ACCESS_KEY_CHARS = 16;
/** The most webhooks that events are sent to. */
const MAX_WEBHOOKS = 20;
/** The longest period over which the share of failed requests is computed. Minutes. */
const MAX_RATE_MINUTES = 60;

const accessKey = z
  .string()
  .trim()
  .min(
    ACCESS_KEY_CHARS,
    `must have at least ${ACCESS_KEY_CHARS} characters; \`openssl rand -hex 24\` generates one`,
  )
  .regex(/^\S*$/, "must not contain spaces")
  .meta({ [SECRET]: true });

const webhook = z
  .strictObject({
    url: secretUrl.describe("Address to which events are sent with POST. Redirects are not followed."),
    format: z
      .enum(WEBHOOK_FORMATS)
      .default("json")
      .describe(
        "json: the event, signed. slack: its text, for incoming webhooks of Slack and compatible chats.",
      ),
    secret: webhookSecret
      .optional()
      .describe("Secret with which events are signed. At least 32 characters. Required for format json."),
    events: z
      .array(z.enum(EVENT_TYPES))
      .min(1)
      .refine((events) => new Set(events).size === events.length, "must not name an event twice")
      .default([...EVENT_TYPES])
      .describe("Types of events that are sent. Defaults to all."),
  })
  .refine(({ format, secret }) => format !== "json" || secret !== undefined, {
    path: ["secret"],
    error: "is required for the format json; `openssl rand -hex 32` generates one",
  });

const alerts = z
  .strictObject({
    key_expiring_days: integer(1, 90, 7).describe(
      "Days before the expiry of an API key at which key.expiring is sent.",
    ),
    error_share: z
      .number()
      .min(0.01)
      .max(1)
      .default(0.1)
      .describe("Share of failed requests at which errors.rate is sent, from 0.01 to 1."),
    error_window_minutes: integer(1, MAX_RATE_MINUTES, 5).describe(
      "Minutes over which the share of failed requests is computed.",
    ),
    error_min_requests: integer(1, 1_000_000, 50).describe(
      "Minimum number of requests in that time for errors.rate to be sent.",
    ),
  })
  .describe("When events are sent to webhooks; see docs/webhooks.md.");

/** Returns whether a URL is an origin, perhaps with a path. */
function isBase({ href, origin, pathname }: URL): boolean {
  return href === origin + pathname && !/\/\/|\/console\/?$/.test(pathname);
}

/** Returns whether a key can be sent in a header, or is the file of a Google service account, which is not sent. */
function isSendableKey(key: string): boolean {
  return isHeaderValue(key) || key.trimStart().startsWith("{");
}

function hasUniqueIds(keys: readonly (string | { readonly id: string })[]): boolean {
  const ids = keys.flatMap((key) => (typeof key === "string" ? [] : key.id));
  return new Set(ids).size === ids.length;
}

/** The name of a header that is sent to a provider. */
const sentHeaderName = z.string().regex(/^[!#$%&'*+\-.^_`|~0-9a-z]+$/i, "must be the name of a header");

const apiKeySecret = secret.refine(isSendableKey, HEADER_VALUE_RULE).meta({ [SECRET]: true });

const apiKey = z.union(
  [
    apiKeySecret,
    z.strictObject({
      id: z
        .string()
        .regex(/^[a-z0-9][a-z0-9-]{0,31}$/, "must have 1 to 32 lower-case letters, digits and dashes")
        .describe("Name of the key in lists of health, which stays the same when the secret is replaced."),
      key: apiKeySecret,
      weight: z
        .int()
        .min(0)
        .max(1_000)
        .default(1)
        .describe("Share of the conversations that use this key first. 0: only when the others fail."),
      enabled: z.boolean().default(true),
    }),
  ],
  { error: "must be a key, or have id and key" },
);

const provider = z.strictObject({
  base_url: baseUrl
    .optional()
    .describe("Base URL of the API. Required for a host that is not in the catalog."),
  api_keys: z
    .array(apiKey)
    .refine((keys) => hasUniqueIds(keys), "must not use an id twice")
    .optional()
    .describe(
      "API keys, over which conversations are spread: texts, or mappings with id, key, weight and enabled. If absent, the environment variable of the provider is read.",
    )
    .meta({ [ENTRIES]: "id" }),
  headers: z
    .record(sentHeaderName, secret.refine(isHeaderValue, HEADER_VALUE_RULE).meta({ [SECRET]: true }))
    .optional()
    .describe("Headers added to each request."),
  auth: z
    .enum(["bearer", "x-api-key", "api-key", "x-goog-api-key"])
    .optional()
    .describe("Header for the key, if it is not the format's usual one. bearer: Authorization: Bearer."),
  format: z
    .enum(PROVIDER_FORMATS)
    .optional()
    .describe("API format of a host that is not in the catalog. Defaults to openai-chat."),
  formats: z
    .array(z.enum(PROVIDER_FORMATS))
    .min(1)
    .refine((formats) => new Set(formats).size === formats.length, "must not name a format twice")
    .optional()
    .describe(
      "All API formats of a host, instead of `format`. A request is sent in its client's format if that is listed, otherwise in the first format that can express all of it. For a provider in the catalog: which of its formats to use.",
    ),
  parts: z
    .record(z.string(), z.string().min(1))
    .optional()
    .describe(
      "Parts of the base URL that depend on the provider account: region, project, location, resource, api_version, account.",
    ),
  token_url: baseUrl
    .optional()
    .describe("Token endpoint for Google service accounts. Defaults to that of Google."),
  name: PlainText.min(1).optional().describe("Display name."),
  models: z
    .array(hostedModel)
    .optional()
    .describe("Models of a self-hosted server, such as vLLM, Ollama or LM Studio.")
    .meta({ [ENTRIES]: "id" }),
  trains_on_data: z
    .boolean()
    .optional()
    .describe("Whether the provider trains on requests. Overrides the catalog. Unknown counts as true."),
  zero_retention: z
    .boolean()
    .optional()
    .describe(
      "Whether the provider does not retain requests. Overrides the catalog. Unknown counts as false.",
    ),
  send: z
    .strictObject({
      fields: z.array(z.string().min(1)).optional().describe("Names of request fields."),
      tools: z
        .array(z.string().min(1))
        .optional()
        .describe("Types of tools. One that ends in * stands for all types with that beginning."),
    })
    .optional()
    .describe(
      "Fields and tools to send with platform keys although the provider may charge for them, such as those that your contract includes. Accounts are not charged for them. Free models do not get them. See docs/pricing.md.",
    ),
  takes: takenSchema
    .optional()
    .describe(
      "Which request parameters the provider accepts, by their names in chat completions: yes, no, or a rule with values, min and max, or not_with. It takes precedence over the catalog. Parameters that are not accepted are left out or limited, with a warning. See docs/catalog.md.",
    ),
  enabled: z.boolean().default(true),
});

/** Browsers send origins in this form: without a path, and without the port of the scheme. */
function isOrigin(text: string): boolean {
  return text === "*" || (URL.canParse(text) && /^https?:/.test(text) && new URL(text).origin === text);
}

const MAX_PROCESSES = 64;

const slug = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]*$/, "must be a slug of lower-case letters, digits and dashes");

export const configSchema = z.strictObject({
  server: section({
    host: z
      .string()
      .min(1)
      .default("127.0.0.1")
      .describe("Address to listen on. GATEWAY_HOST.")
      .meta(MACHINE),
    port: integer(0, 65_535, 8080).describe("Port to listen on. GATEWAY_PORT.").meta(MACHINE),
    extra_prefixes: z
      .array(z.string().regex(/^(\/[\w.-]+)+$/, "must be a path such as /api/other"))
      .default([])
      .describe("More path prefixes for /api/gateway, for clients that were written for another gateway.")
      .meta(RESTART),
    model_prefix_aliases: z
      .record(idPrefix, idPrefix)
      .default({})
      .describe("Prefixes of model ids to replace: the key is replaced by the value.")
      .meta({ [ENTRIES]: "key" }),
    header_aliases: z
      .record(headerName, headerName)
      .default({})
      .describe(
        "Request headers to accept under another name: the header in the key is read as the header in the value, unless the request has that header too.",
      )
      .meta({ [ENTRIES]: "key" }),
    trusted_proxies: z
      .array(z.string())
      .default([])
      .describe("Addresses and CIDR ranges of proxies whose x-forwarded-for is trusted."),
    cors: section({
      origins: z
        .array(z.string().refine(isOrigin, "must be an origin such as https://app.example.com, or *"))
        .max(1_000)
        .default([])
        .describe(
          "Origins of web pages whose scripts may call models and public lists, or * for all. They send a key in a header. Cookies are never accepted.",
        ),
    }),
    send_buffer_bytes: integer(0, 67_108_864, 131_072)
      .describe(
        "Socket send buffer for each client, in bytes, on Linux. A connection carries about this much in each round trip. 0: the system chooses, usually 4 MB.",
      )
      .meta(RESTART),
    processes: z
      .union([z.int().min(1).max(MAX_PROCESSES), z.literal("auto")], {
        error: `must be a number from 1 to ${MAX_PROCESSES}, or auto`,
      })
      .default(1)
      .describe(
        "Number of processes that share the port, each with its own folder in data_dir. More than one process requires database.url. auto: one for each processor core, or one without database.url. GATEWAY_PROCESSES.",
      )
      .meta(MACHINE),
    drain_ms: milliseconds(30_000, "How long running requests may continue after SIGTERM."),
    drain_notice_ms: integer(0, DAY_MS, 5_000).describe(
      "Longest time after SIGTERM for which requests are still accepted, so that clients and load balancers can leave: each response closes its connection, and /readyz is 503. It ends early if no request arrives for half a second. Milliseconds.",
    ),
  }),
  data_dir: z
    .string()
    .min(1)
    .default("./data")
    .describe(
      "Directory of keys, records and balances. In a file, a relative path is relative to that file. GATEWAY_DATA_DIR.",
    )
    .meta(MACHINE),
  storage: section({
    retention_days: z
      .int()
      .min(2)
      .max(36_500)
      .optional()
      .describe(
        "Days for which generations and their charges are kept, in addition to the current day. Sums by day, balances and other transfers are kept forever. A deleted generation cannot be retrieved or refunded. If absent, generations are kept forever.",
      ),
    hourly_usage_days: integer(1, 366, 14).describe(
      "Days for which usage is kept by hour, in addition to the current day. Older usage is kept by day, forever.",
    ),
    rejected_days: integer(0, 366, 7).describe(
      "Days for which rejected requests are kept, in addition to the current day: requests that were answered with an error before a provider was chosen. They are for diagnosis and never charged. 0: none are recorded.",
    ),
    max_staleness_ms: milliseconds(
      3_600_000,
      "While the database is unavailable, keys, accounts and policies that were used before remain valid for this long. After that, requests with a key are answered with 503.",
    ).meta(RESTART),
  }),
  database: section({
    url: parsedBy(parseDatabaseUrl, DatabaseUrlError)
      .optional()
      .describe(
        "PostgreSQL 15 or newer, for several gateways: postgres://user:password@host:port/database, or postgres://user@/database?host=/folder for a unix socket. Parameters are sslmode, sslrootcert and others of libpq; libpq's variables (PGHOST …) are not read. If absent, SQLite in data_dir, for one gateway. The journal stays in data_dir. DATABASE_URL.",
      ),
    password_file: z
      .string()
      .min(1, "must not be empty")
      .optional()
      .describe(
        "File with the password for a database.url without one. The password may contain any characters. Read at start.",
      ),
    max_connections: integer(1, 1_000, 10).describe(
      "Maximum number of connections to PostgreSQL for each gateway process.",
    ),
    pooled: z
      .boolean()
      .default(false)
      .describe(
        "Whether connections go through PgBouncer in transaction mode. If so, prepared statements are not used.",
      ),
    start_wait_ms: integer(0, DAY_MS, 60_000).describe(
      "How long a start waits for PostgreSQL if it is unavailable, before it fails. Milliseconds.",
    ),
  }).meta(MACHINE),
  redis: section({
    url: parsedBy(parseRedisAddress, RedisAddressError)
      .optional()
      .describe(
        "Redis 7 or Valkey, for rate limits of several gateways on PostgreSQL: redis://user:password@host:port/database, rediss://… for TLS, redis+unix:///path/to/socket, or redis://host:port,host:port for the members of a Redis Cluster. If absent, each gateway applies its share of each limit. REDIS_URL.",
      ),
  }).meta(MACHINE),
  log_level: z.enum(LOG_LEVELS).default("info").describe("Lowest level that is logged. GATEWAY_LOG_LEVEL."),
  admin_key: accessKey
    .optional()
    .describe("Management key, instead of a generated one. At least 16 characters. GATEWAY_ADMIN_KEY.")
    .meta({ [FILE_ONLY]: true }),
  secrets: section({
    keys: z
      .array(
        z
          .string()
          .refine(
            (text) => readMasterKey(text) !== null,
            "must be 32 bytes in base64 or hex; `openssl rand -base64 32` generates them",
          ),
      )
      .default([])
      .describe(
        "Master keys for BYOK keys: the first encrypts, all decrypt. Each is 32 bytes in base64 or hex. If absent, one is generated in secrets.key of the data directory when it is first needed. GATEWAY_SECRETS_KEY, separated by commas.",
      ),
  }).meta(MACHINE),
  sandbox: z
    .enum(["on", "off", "auto"])
    .default("auto")
    .describe("Built-in test provider. auto: on while no other provider is configured. GATEWAY_SANDBOX."),
  limits: z
    .strictObject({
      body_bytes: integer(1_024, 1_073_741_824, 33_554_432).describe(
        "Largest request body in bytes, after decompression.",
      ),
      total_body_bytes: integer(1_024, 1_099_511_627_776, 536_870_912).describe(
        "Memory for all running requests together, in bytes: their bodies, the text decoded from them, and the bodies encoded for upstreams. Only what has arrived counts, and bodies that arrive slowly give way when memory is short. One key, or one client address without a key, may use half of it.",
      ),
      total_unread_bytes: integer(1_048_576, 1_099_511_627_776, 268_435_456).describe(
        "Memory for all answers that wait for their clients to read them, in bytes: what is queued and received for each, and 128 KiB for its connection. The process takes more than is counted; see docs/operations/sizing.md. Above this limit, the client that has read nothing for the longest time is disconnected.",
      ),
      journal_bytes: integer(33_554_432, 1_099_511_627_776, 268_435_456)
        .describe(
          "Size of the journal, in bytes: the records that wait on disk while the database is unavailable, about 5 kB for each request. Above it, requests are answered with 503.",
        )
        .meta(RESTART),
      anonymous_requests_per_hour: integer(0, 1_000_000, 200).describe(
        "Requests to free models in any hour for each client address without a key. 0: a key is required.",
      ),
      free_requests_per_hour: integer(0, 1_000_000, 200).describe(
        "Requests to models whose id ends in :free in any hour, for each account. Requests with BYOK keys do not count. 0: no limit.",
      ),
      turn_memory_bytes: integer(0, 17_179_869_184, 67_108_864)
        .describe(
          "Memory for reasoning that providers expect in the next turn but clients do not send back, in bytes. It is stored encrypted. 0: no reasoning is stored.",
        )
        .meta(RESTART),
      answer_memory_bytes: integer(0, 17_179_869_184, 67_108_864)
        .describe(
          "Memory for answers to keys with a cache and to repeated requests with an Idempotency-Key, in bytes. They are stored encrypted. 0: no answers are stored, not even in Redis. See docs/answers.md.",
        )
        .meta(RESTART),
      hold_tokens: integer(1, 1_000_000, 8_192).describe(
        "Answer tokens whose cost is held at first, if the request allows more. The hold grows with a stream. An answer that is not streamed is limited to what the account covers.",
      ),
      hold_searches: integer(1, 1_000, 5).describe(
        "Web searches by the provider whose cost is held, if the request allows searches without a maximum.",
      ),
      websockets: integer(0, 1_000_000, 10_000).describe(
        "WebSockets that may be open at the same time in each process. 0: none are accepted, and clients such as Codex use HTTP.",
      ),
      websockets_per_key: integer(1, 1_000_000, 50).describe(
        "WebSockets that may be open at the same time with one key, in each process.",
      ),
      websockets_per_address: integer(1, 1_000_000, 100).describe(
        "WebSockets without a key that may be open at the same time from one client address, in each process.",
      ),
      per_key: rateLimit.prefault({}).describe("Rate limits of each key. An absent limit is unlimited."),
      per_account: rateLimit.prefault({}).describe("Rate limits of each account, all its keys together."),
      per_model: rateLimit.prefault({}).describe("Rate limits of each model, all callers together."),
      models: z
        .record(z.string().min(1).max(256), rateLimit)
        .refine((limits) => Object.keys(limits).length <= MAX_MODEL_LIMITS, {
          error: `must not have more than ${MAX_MODEL_LIMITS} patterns`,
        })
        .optional()
        .describe(
          "Rate limits of models that match a pattern (`*` matches any characters), instead of per_model. The first match applies.",
        )
        .meta({ [ENTRIES]: "key" }),
      attempts: integer(1, 20, 4).describe("Maximum number of attempts at upstreams for one request."),
      repeats: integer(0, 5, 1).describe(
        "Rounds of retries at upstreams that failed transiently, once every upstream has failed.",
      ),
    })
    .refine((limits) => limits.total_body_bytes >= limits.body_bytes, {
      path: ["total_body_bytes"],
      error: "must not be less than limits.body_bytes, or the largest body could not be read",
    })
    .prefault({}),
  responses: section({
    store: z
      .boolean()
      .default(false)
      .describe("Whether a response of the Responses API is kept if its request does not say (`store`)."),
    retention_days: integer(1, 3_650, 30).describe(
      "Days for which kept responses and conversations are stored after their last use.",
    ),
    account_bytes: integer(0, 1_125_899_906_842_624, 1_073_741_824).describe(
      "Size of all that is stored of the kept responses of an account, in bytes. 0: none are kept.",
    ),
    chain_bytes: integer(1_024, 1_073_741_824, 33_554_432).describe(
      "Size of one conversation of kept responses, in bytes.",
    ),
    compaction: z
      .enum(["native", "portable"])
      .default("native")
      .describe(
        "How conversations are compacted. native: by the vendor where it can, so that only that vendor reads the result; by a handover that the model writes elsewhere. portable: always by a handover, which every model reads.",
      ),
    background_ms: milliseconds(3_600_000, "Longest duration of a background response."),
    websocket_bytes: integer(0, 1_099_511_627_776, 268_435_456).describe(
      "Memory for the last responses of all WebSockets together, in bytes: their conversations, which the next request of the connection may continue without sending them again. Above it, those of connections that have not answered for the longest time are dropped, and their clients send the whole conversation.",
    ),
  }).describe("Responses and conversations that the gateway keeps; see docs/api/responses.md."),
  policy: section({
    allowed_models: patterns
      .optional()
      .describe("Models that may be called; `*` matches any characters. If absent, all."),
    denied_models: patterns.default([]).describe("Models that may not be called."),
    allowed_providers: patterns.optional().describe("Slugs of providers that may be used. If absent, all."),
    denied_providers: patterns.default([]).describe("Slugs of providers that may not be used."),
    deny_data_collection: z
      .boolean()
      .default(false)
      .describe("Use only providers that are known not to train on requests."),
    zero_retention: z
      .boolean()
      .default(false)
      .describe("Use only providers that are known not to retain requests."),
    prompt_caching: z
      .enum(PROMPT_CACHING)
      .default("auto")
      .describe(
        "Whether the gateway sets cache marks in prompts, for vendors that need them: `auto` when that saves money, `off` never.",
      ),
  }).describe("Policy for all requests. Accounts and keys can only restrict it further."),
  routing: section({
    learn_refused_parameters: z
      .boolean()
      .default(true)
      .describe(
        "If a provider refuses a sampling parameter, cache hint or user id, send the request once more without it. Once two accounts have seen the refusal, leave the parameter out for an hour; see docs/routing.md. If false, the caller gets the provider's error.",
      ),
  }),
  billing: section({
    buy_credits_url: z
      .url({ protocol: /^https?$/ })
      .optional()
      .describe("URL where callers can buy credits. It is included in 402 errors."),
    webhook_secret: webhookSecret
      .optional()
      .describe(
        "Secret with which a payment system signs its requests to POST /api/payments/webhook. At least 32 characters. GATEWAY_WEBHOOK_SECRET.",
      ),
  }),
  console: section({
    enabled: z.boolean().default(true).describe("Whether /console is served, and browsers can sign in."),
    built_dir: z
      .string()
      .min(1)
      .optional()
      .describe(
        "Folder with a build of the console (`npm run build -- console FOLDER`). If absent, the npm package and the single executable use the build that they contain; an installation from the sources builds it at the first request for /console and stores it in data_dir. GATEWAY_CONSOLE_DIR.",
      )
      .meta({ [FILE_ONLY]: true }),
    url: z
      .url({ protocol: /^https?$/, error: "must be an http or https address" })
      .refine(
        (url) => !URL.canParse(url) || isBase(new URL(url)),
        "must have no user, query or fragment, and a path only if a reverse proxy removes it: the console is at /console behind it",
      )
      .optional()
      .describe(
        "URL of the gateway for browsers, if it is behind a reverse proxy: https://gateway.example.com, or https://example.com/gateway if the proxy removes that path. With https, session cookies are sent over TLS only.",
      ),
    hosts: z
      .array(hostName)
      .max(100)
      .default([])
      .describe(
        "Host names under which browsers may use the console, in addition to that of console.url, localhost and IP addresses.",
      ),
    playground_limit: z
      .number()
      .min(0.01)
      .max(10_000)
      .refine((dollars) => parseDollars(dollars) !== null, "must have at most 9 decimal places")
      .default(1)
      .describe("Spending limit of each key that the playground creates, in US dollars."),
    playground_ms: milliseconds(3_600_000, "Lifetime of a key that the playground creates."),
    oidc: oidcSchema.optional(),
  }),
  metrics: section({
    enabled: z
      .boolean()
      .default(true)
      .describe("Whether GET /metrics is served, in Prometheus' text format; see docs/metrics.md."),
    token: accessKey
      .optional()
      .describe(
        "Token that can only read metrics, sent as Authorization: Bearer. The operator's management keys can read them too. At least 16 characters. GATEWAY_METRICS_TOKEN.",
      ),
    allow: z
      .array(z.string())
      .max(1_000)
      .default([])
      .describe(
        "Addresses and CIDR ranges that may read metrics without a token, such as 127.0.0.1. Do not list a proxy: every request that it forwards comes from its address.",
      ),
    ledger_check_minutes: integer(0, 10_080, 60).describe(
      "Minutes between ledger checks, whose result is a metric. Of several gateways, one runs the checks, in a separate thread with SQLite; they take at most a hundredth of the time. 0: no checks.",
    ),
  }),
  telemetry: section({
    gen_ai_semconv: z
      .enum(["none", "latest"])
      .default("none")
      .describe(
        "Whether spans have OpenTelemetry's gen_ai attributes, whose names are not stable yet. OTEL_EXPORTER_OTLP_ENDPOINT and the other variables of OpenTelemetry set where spans and metrics are sent; see docs/metrics.md.",
      ),
    propagate_to: z
      .array(slug)
      .max(1_000)
      .default([])
      .describe(
        "Slugs of providers to which traceparent and tracestate are sent, such as your own server. Other providers do not get them, so they cannot link requests.",
      ),
  }),
  webhooks: z
    .array(webhook)
    .max(MAX_WEBHOOKS)
    .optional()
    .describe("Webhooks to which events for the operator are sent; see docs/webhooks.md."),
  alerts: alerts.prefault({}),
  timers: section({
    connect_ms: milliseconds(10_000, "Longest wait for a connection to a provider."),
    first_token_ms: milliseconds(120_000, "Longest wait for the first token of a stream."),
    silence_ms: milliseconds(60_000, "Longest silence between two tokens."),
    total_ms: milliseconds(900_000, "Longest duration of a whole request.").meta(RESTART),
    failover_ms: milliseconds(180_000, "Time after which no further attempt is made."),
    keep_alive_ms: milliseconds(10_000, "Silence after which a keep-alive comment is sent to the client."),
    client_silence_ms: milliseconds(
      60_000,
      "How long a client may read nothing of its answer, or take to send 256 kB of its request, before its connection is closed.",
    ),
  }),
  upstream: section({
    transport: z
      .enum(["auto", "http1", "fetch"])
      .default("auto")
      .describe("HTTP client. auto: http1, or fetch if HTTP_PROXY or HTTPS_PROXY is set."),
  }).meta(RESTART),
  catalog: section({
    source: z
      .string()
      .min(1)
      .optional()
      .describe("URL or file with models and prices. Defaults to the public list."),
    price_map: z
      .string()
      .min(1)
      .optional()
      .describe(
        "URL or file with a price map in litellm's format, which completes `source` and overrides its prices; see docs/catalog.md.",
      ),
    refresh_hours: z
      .number()
      .min(0)
      .max(168)
      .default(0)
      .describe("Hours between refreshes while the gateway runs. 0: only on request."),
    source_bytes: integer(1_024, 1_073_741_824, 67_108_864).describe("Maximum size of the source, in bytes."),
    price_factor: z
      .number()
      .min(1)
      .max(1_000)
      .default(2)
      .describe("Price changes by more than this factor, up or down, wait for `gateway catalog approve`."),
    grace_days: integer(0, 365, 7).describe(
      "Days for which a model is still served after the source no longer lists it.",
    ),
    overrides: overridesSchema
      .optional()
      .describe(
        "Overrides of the catalog, by model id and provider. Fields are those of catalog/models, in snake case; `prices` replaces all prices of an endpoint. `takes` may also say which request parameters are accepted. hidden: true removes a model or endpoint. Models and endpoints that are not in the catalog are added.",
      )
      .meta({ [ENTRIES]: "key" }),
  }),
  pricing: pricingSchema,
  guardrails: guardrailsSchema,
  tiers: tiersSchema
    .optional()
    .describe("Additional tiers, and tiers that replace shipped ones; see docs/tiers.md.")
    .meta({ [ENTRIES]: "id" }),
  named_routes: namedRoutesSchema
    .optional()
    .describe(
      "Named routes by name: aliases for models and tiers, and weighted groups of them; see docs/named-routes.md.",
    )
    .meta({ [ENTRIES]: "key" }),
  providers: z
    .record(slug, provider)
    .default({})
    .describe(
      "Providers by slug. A provider of the catalog needs no entry if its environment variable is set.",
    )
    .meta({ [ENTRIES]: "section" }),
});

/** The checked configuration. */
export type Config = z.infer<typeof configSchema>;
export type ProviderConfig = z.infer<typeof provider>;
/** What a model of the configuration makes. */
export type ConfiguredOutput = NonNullable<ProviderConfig["models"]>[number]["output"];
export type AlertsConfig = Config["alerts"];
