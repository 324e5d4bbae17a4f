import { z } from "zod";
import { LOG_LEVELS } from "../base/log.ts";
import { tiersSchema } from "../core/catalog/tier-schema.ts";
import { readMasterKey } from "../core/provider-keys/vault.ts";
import { FORMAT_NAMES } from "../wire/conversation/format-name.ts";
import { overridesSchema } from "./override-schema.ts";

/**
 * What can be configured, with its defaults. `gateway.example.yaml` and the checks at start are made of this.
 * Descriptions become the comments of the example.
 */

const milliseconds = (defaultMs: number, about: string) =>
  z.int().min(1).max(86_400_000).default(defaultMs).describe(`${about} Milliseconds.`);

const price = z
  .string()
  .regex(/^\d{1,12}(\.\d{1,18})?$/, 'must be a decimal string in US dollars, such as "0.0000025"');

const headerName = z.string().regex(/^[a-z0-9][a-z0-9-]*$/, "must be a header name in lower case");

const baseUrl = z
  .url({ protocol: /^https?$/, error: "must be an http or https address" })
  .refine(
    (url) => !URL.canParse(url) || new URL(url).username === "",
    "must not hold a user name or password",
  );

const count = (about: string) => z.int().min(1).max(1_000_000_000_000).optional().describe(about);

const rateLimit = z.strictObject({
  requests_per_minute: count("In any 60 seconds."),
  tokens_per_minute: count("Of prompts and answers together."),
  concurrent: count("Requests at once."),
});

/** Patterns of models that may have a limit of their own: each is tried at every request. */
const MAX_MODEL_LIMITS = 100;

const patterns = z.array(z.string().min(1).max(256)).max(1_000);

const hostedModel = z.strictObject({
  id: z
    .string()
    .regex(/^[^/\s]+\/\S+$/, "must have the form author/model")
    .describe("What clients ask for: author/model."),
  name: z
    .string()
    .min(1)
    .optional()
    .describe("Its name at the host; the part after the slash, without :free, when left out."),
  input: z
    .array(z.enum(["text", "image", "file", "audio", "video"]))
    .min(1)
    .optional()
    .describe("What it takes: a request with anything else is a 400. Left out: not known, and all is sent."),
  released: z.iso.date().optional().describe("The day that lists show as its creation, such as 2026-05-31."),
  output: z.enum(["text", "embedding"]).default("text").describe("What it makes."),
  context_length: z
    .int()
    .min(1)
    .optional()
    .describe("Tokens. A prompt that is longer is a 400; left out, 32768 is listed and the host decides."),
  max_output_tokens: z.int().min(1).optional(),
  prices: z
    .strictObject({
      prompt: price,
      completion: price,
      request: price.exactOptional(),
      image: price.exactOptional(),
      search: price.exactOptional(),
    })
    .default({ prompt: "0", completion: "0" })
    .describe(
      "US dollars per token, request, image in the prompt, and search by the vendor. A price of 0 does not make a model free to anonymous callers; an id that ends in :free does.",
    ),
});

const secret = z.string().min(1, "must not be empty").describe("secret");

/** A key that an operator makes up is as strong as it is long. */
const ADMIN_KEY_CHARS = 16;
/** Who knows it can make money. */
const WEBHOOK_SECRET_CHARS = 32;

const provider = z.strictObject({
  base_url: baseUrl.optional().describe("Where it is. Needed for a host that the catalog does not know."),
  api_keys: z
    .array(secret)
    .optional()
    .describe("Keys in the order they are tried. Without any, its environment variable is read."),
  headers: z.record(z.string(), secret).optional().describe("Headers to add to each request."),
  auth: z
    .enum(["bearer", "x-api-key", "api-key", "x-goog-api-key"])
    .optional()
    .describe(
      "The header that the key goes in, where it is not the usual one: Authorization: Bearer, or by name.",
    ),
  format: z
    .enum(FORMAT_NAMES)
    .optional()
    .describe("What a host that the catalog does not know speaks; openai-chat when left out."),
  formats: z
    .array(z.enum(FORMAT_NAMES))
    .min(1)
    .refine((formats) => new Set(formats).size === formats.length, "must not name a format twice")
    .optional()
    .describe(
      "All that it speaks, in place of `format`. A request goes in its client's own format where that is one of them, else in the first that loses nothing of it. Of a provider of the catalog: those that it is spoken to in; left out, all that the catalog names.",
    ),
  parts: z
    .record(z.string(), z.string().min(1))
    .optional()
    .describe(
      "What the address of an account is made of: region, project, location, resource, api_version, account.",
    ),
  token_url: baseUrl
    .optional()
    .describe("Where tokens for a service account of Google come from. Left out: Google's."),
  name: z.string().min(1).optional().describe("How it is named to people."),
  models: z
    .array(hostedModel)
    .optional()
    .describe("Models of a host of your own: vLLM, Ollama, LM Studio and the like."),
  trains_on_data: z
    .boolean()
    .optional()
    .describe("Whether it trains on what it is sent; over what the catalog says. Unknown counts as yes."),
  zero_retention: z
    .boolean()
    .optional()
    .describe("Whether it keeps nothing of what it is sent; likewise. Unknown counts as no."),
  enabled: z.boolean().default(true),
});

export const configSchema = z.strictObject({
  server: z
    .strictObject({
      host: z.string().min(1).default("127.0.0.1").describe("Address to listen on. GATEWAY_HOST."),
      port: z.int().min(0).max(65_535).default(8080).describe("GATEWAY_PORT."),
      extra_prefixes: z
        .array(z.string().regex(/^(\/[\w.-]+)+$/, "must be a path such as /api/other"))
        .default([])
        .describe("More names for /api/gateway, for clients that were built for another gateway."),
      model_prefix_aliases: z
        .record(z.string(), z.string())
        .default({})
        .describe("Model ids that begin with the left are read as if they began with the right."),
      header_aliases: z
        .record(headerName, headerName)
        .default({})
        .describe("Request headers on the left are read as the one on the right, where that is not sent."),
      trusted_proxies: z
        .array(z.string())
        .default([])
        .describe("Addresses and ranges of proxies whose x-forwarded-for is believed."),
      send_buffer_bytes: z
        .int()
        .min(0)
        .max(67_108_864)
        .default(131_072)
        .describe(
          "What the system may buffer towards one client, on Linux. More lets one connection carry more over a long distance: about this much in each round trip. 0: as much as the system likes, usually 4 MB.",
        ),
      drain_ms: milliseconds(30_000, "How long open answers may go on after SIGTERM."),
    })
    .prefault({}),
  data_dir: z
    .string()
    .min(1)
    .default("./data")
    .describe("Where keys and records are kept. GATEWAY_DATA_DIR."),
  log_level: z.enum(LOG_LEVELS).default("info").describe("GATEWAY_LOG_LEVEL."),
  admin_key: z
    .string()
    .trim()
    .min(
      ADMIN_KEY_CHARS,
      `must have at least ${ADMIN_KEY_CHARS} characters; \`openssl rand -hex 24\` makes a good one`,
    )
    .regex(/^\S*$/, "must not have spaces in it")
    .optional()
    .describe(
      "The management key to use instead of a generated one; 16 characters or more. GATEWAY_ADMIN_KEY.",
    ),
  secrets: z
    .strictObject({
      keys: z
        .array(
          z
            .string()
            .refine(
              (text) => readMasterKey(text) !== null,
              "must be 32 bytes in base64 or hex; `openssl rand -base64 32` makes them",
            ),
        )
        .default([])
        .describe(
          "Master keys that seal accounts' own provider keys: the first seals, all open. Each 32 bytes in base64 or hex. Without any, secrets.key in the data directory has one that is made when it is first needed. GATEWAY_SECRETS_KEY, several with commas between them.",
        ),
    })
    .prefault({}),
  sandbox: z
    .enum(["on", "off", "auto"])
    .default("auto")
    .describe(
      "The built-in provider for trials. auto: on while no other provider is configured. GATEWAY_SANDBOX.",
    ),
  limits: z
    .strictObject({
      body_bytes: z
        .int()
        .min(1_024)
        .max(1_073_741_824)
        .default(33_554_432)
        .describe("Largest request body, decompressed."),
      total_body_bytes: z
        .int()
        .min(1_024)
        .max(1_099_511_627_776)
        .default(536_870_912)
        .describe(
          "Memory that requests hold at once, all together, each until its answer has ended: its body, the text read of it, and what is made of it for an upstream. One key, or one address without a key, may take half.",
        ),
      total_unread_bytes: z
        .int()
        .min(1_048_576)
        .max(1_099_511_627_776)
        .default(268_435_456)
        .describe(
          "Answers that wait for their clients to read them, all together. Past it the client that has read nothing for the longest time loses its connection.",
        ),
      anonymous_requests_per_hour: z
        .int()
        .min(0)
        .max(1_000_000)
        .default(200)
        .describe("For each address without a key, on free models. 0 lets nobody in without a key."),
      free_requests_per_hour: z
        .int()
        .min(0)
        .max(1_000_000)
        .default(200)
        .describe(
          "For each account, all its keys together, on models whose id ends in :free. Its own provider keys do not count. 0: no limit.",
        ),
      turn_memory_bytes: z
        .int()
        .min(0)
        .max(17_179_869_184)
        .default(67_108_864)
        .describe(
          "Memory for reasoning that clients drop and vendors want back, encrypted. 0: none is kept.",
        ),
      hold_tokens: z
        .int()
        .min(1)
        .max(1_000_000)
        .default(8_192)
        .describe(
          "Tokens of an answer that are held at first where the request allows more. What is held grows with a stream; an answer that is not streamed gets as much as the account covers.",
        ),
      hold_searches: z
        .int()
        .min(1)
        .max(1_000)
        .default(5)
        .describe(
          "Web searches by the vendor that are held for where the request allows them and does not bound them.",
        ),
      per_key: rateLimit.prefault({}).describe("For each key. What is left out is not limited."),
      per_account: rateLimit.prefault({}).describe("For each account, all its keys together."),
      per_model: rateLimit
        .prefault({})
        .describe("For each model, all callers together, with a key or without."),
      models: z
        .record(z.string().min(1).max(256), rateLimit)
        .refine((limits) => Object.keys(limits).length <= MAX_MODEL_LIMITS, {
          error: `must not have more than ${MAX_MODEL_LIMITS} patterns`,
        })
        .optional()
        .describe(
          "For each model that a pattern names, `*` for any characters, in place of per_model; the first that fits holds.",
        ),
      attempts: z
        .int()
        .min(1)
        .max(20)
        .default(4)
        .describe("How often one request may be sent to an upstream, whichever it is."),
      repeats: z
        .int()
        .min(0)
        .max(5)
        .default(1)
        .describe(
          "How often upstreams that failed for the moment are asked again where nobody has answered.",
        ),
    })
    .refine((limits) => limits.total_body_bytes >= limits.body_bytes, {
      path: ["total_body_bytes"],
      error: "must not be less than limits.body_bytes, or the largest body could never be read",
    })
    .prefault({}),
  policy: z
    .strictObject({
      allowed_models: patterns
        .optional()
        .describe("Models that may be called, `*` for any characters. Left out: all."),
      denied_models: patterns.default([]).describe("Models that may not."),
      allowed_providers: patterns.optional().describe("Slugs of providers that may answer. Left out: all."),
      denied_providers: patterns.default([]).describe("Slugs of providers that may not."),
      deny_data_collection: z
        .boolean()
        .default(false)
        .describe("Only providers that are known not to train on what they are sent."),
      zero_retention: z
        .boolean()
        .default(false)
        .describe("Only providers that are known to keep nothing of what they are sent."),
    })
    .prefault({})
    .describe("What everybody may use; accounts and keys can only tighten it."),
  billing: z
    .strictObject({
      buy_credits_url: z
        .url({ protocol: /^https?$/ })
        .optional()
        .describe("Where callers can buy credits; said in answers with status 402."),
      webhook_secret: z
        .string()
        .min(
          WEBHOOK_SECRET_CHARS,
          `must have at least ${WEBHOOK_SECRET_CHARS} characters; \`openssl rand -hex 32\` makes a good one`,
        )
        .optional()
        .describe(
          "What a payment system signs its calls of POST /api/payments/webhook with; 32 characters or more. GATEWAY_WEBHOOK_SECRET.",
        ),
    })
    .prefault({}),
  timers: z
    .strictObject({
      connect_ms: milliseconds(10_000, "Longest wait for a connection to a provider."),
      first_token_ms: milliseconds(120_000, "Longest wait for the first token of a stream."),
      silence_ms: milliseconds(60_000, "Longest silence between two tokens."),
      total_ms: milliseconds(900_000, "Longest duration of a whole request."),
      failover_ms: milliseconds(180_000, "After so long nobody else is asked."),
      keep_alive_ms: milliseconds(
        10_000,
        "Silence after which a client is told that the answer still comes.",
      ),
      client_silence_ms: milliseconds(
        60_000,
        "How long a client may read nothing of its answer, or take to send 256 kB of its request, until it loses its connection.",
      ),
    })
    .prefault({}),
  upstream: z
    .strictObject({
      transport: z
        .enum(["auto", "http1", "fetch"])
        .default("auto")
        .describe("The HTTP client. auto: http1, or fetch where HTTP_PROXY or HTTPS_PROXY is set."),
    })
    .prefault({}),
  catalog: z
    .strictObject({
      source: z
        .string()
        .min(1)
        .optional()
        .describe("Address or file that models and prices are read from. Left out: the public list."),
      refresh_hours: z
        .number()
        .min(0)
        .max(168)
        .default(0)
        .describe("How often they are read again while the gateway runs. 0: only when asked."),
      source_bytes: z
        .int()
        .min(1_024)
        .max(1_073_741_824)
        .default(67_108_864)
        .describe("Largest list that is read."),
      price_factor: z
        .number()
        .min(1)
        .max(1_000)
        .default(2)
        .describe("Prices that change by more, up or down, wait for `gateway catalog approve`."),
      grace_days: z
        .int()
        .min(0)
        .max(365)
        .default(7)
        .describe("How long a model is still served that the list does not have any more."),
      overrides: overridesSchema
        .optional()
        .describe(
          "What you know better, by model id and provider; it wins over all that ships or is read. Fields are those of catalog/models, in this spelling; `prices` replaces all prices of an endpoint. hidden: true is not served. A model or provider that the catalog does not have is added.",
        ),
    })
    .prefault({}),
  tiers: tiersSchema
    .optional()
    .describe("Tiers of your own, and others in place of the catalog's; docs/tiers.md has the rules."),
  providers: z
    .record(
      z.string().regex(/^[a-z0-9][a-z0-9-]*$/, "must be a slug of lower-case letters, digits and dashes"),
      provider,
    )
    .default({})
    .describe(
      "Providers by slug. Those of the catalog need nothing here when their environment variable is set.",
    ),
});

/** The checked configuration. */
export type Config = z.infer<typeof configSchema>;
export type ProviderConfig = z.infer<typeof provider>;
