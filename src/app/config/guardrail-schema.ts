import { z } from "zod";
import { findInText } from "../../core/extensions/guardrails/find-in-text.ts";
import {
  compilePattern,
  createPatternFinder,
  MAX_PATTERN_CHARS,
  type Pattern,
} from "../../core/extensions/guardrails/find-patterns.ts";
import {
  containsPhrase,
  MAX_PHRASE_CHARS,
  toSearchedPhrase,
} from "../../core/extensions/guardrails/find-phrases.ts";
import { createPiiFinder, PII_TYPES, type PiiType } from "../../core/extensions/guardrails/find-pii.ts";
import {
  CHECKED_TEXTS,
  GUARDRAIL_ACTIONS,
  type Guardrail,
  type SearchGuardrail,
} from "../../core/extensions/guardrails/guardrail.ts";
import { INJECTION_PHRASES } from "../../core/extensions/guardrails/injection-phrases.ts";
import { createPatternSearches } from "../../core/extensions/guardrails/search-patterns.ts";
import { createPiiSearches } from "../../core/extensions/guardrails/search-pii.ts";
import type { TextHook } from "../../core/extensions/guardrails/text-hook.ts";
import { ENTRIES, SECRET } from "../../core/settings/config-marks.ts";
import type { TextWebhookConfig } from "../../telemetry/webhooks/text-webhook.ts";
import { secretUrl, webhookSecret } from "./webhook-schema.ts";

/** The maximum number of guardrails, and of patterns or phrases of each. */
const MAX_GUARDRAILS = 50;
const MAX_PATTERNS = 100;
const MAX_PHRASES = 1_000;
/** How long a webhook may take by default, and at most. Milliseconds. */
const WEBHOOK_MS = 3_000;
const MAX_WEBHOOK_MS = 60_000;
/** How many concurrent calls a webhook gets: by default, and at most. */
const WEBHOOK_CONCURRENT = 64;
const MAX_WEBHOOK_CONCURRENT = 1_000;
const MAX_HEADERS = 10;

/** The longest name: it becomes a label of a metric and, in upper case, part of masks. Characters. */
const MAX_NAME_CHARS = 40;

const pattern = z
  .string()
  .min(1)
  .max(MAX_PATTERN_CHARS)
  .superRefine((source, context) => {
    const compiled = compilePattern(source);
    if (typeof compiled === "string") context.addIssue({ code: "custom", message: compiled });
  });

const HEADER_NAME = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/;
const HEADER_VALUE = /^[\t\x20-\x7e]*$/;

const scope = (about: string) =>
  z.array(z.string().min(1).max(256)).min(1).max(1_000).optional().describe(about);

const common = {
  name: z
    .string()
    .max(MAX_NAME_CHARS)
    .regex(/^[a-z][a-z0-9-]*$/, "must be lower-case letters, digits and dashes, such as no-secrets")
    .describe("Its name in errors, warnings, the log and metrics."),
  enabled: z.boolean().default(true).describe("Whether it is applied. If false, it is only kept."),
  accounts: scope(
    "Ids of accounts, or patterns with `*`. Requests without a key have none. If absent, all requests.",
  ),
  keys: scope("Ids of API keys, or patterns with `*`. If absent, all requests."),
  teams: scope(
    "Ids of teams, or patterns with `*`. Requests with a key without a team have none. If absent, all requests.",
  ),
  models: scope("Ids of models or tiers, or patterns with `*`. If absent, all."),
};

const action = z
  .enum(GUARDRAIL_ACTIONS)
  .describe(
    "block: the request gets a 403, or its answer ends. mask: matches are replaced in what the provider or the client gets. warn: the answer has a warning.",
  );

const on = z
  .enum(CHECKED_TEXTS)
  .default("request")
  .describe(
    "What is checked: the request, the answer, or both. Streamed text is held back while it may be part of a match.",
  );

const guardrail = z.discriminatedUnion("kind", [
  z.strictObject({
    ...common,
    kind: z.literal("regex"),
    on,
    action,
    patterns: z
      .array(pattern)
      .min(1)
      .max(MAX_PATTERNS)
      .describe("Regular expressions of RE2's syntax: (?i) ignores case; no lookaround, no backreferences."),
  }),
  z.strictObject({
    ...common,
    kind: z.literal("pii"),
    on,
    action,
    types: z
      .array(z.enum(PII_TYPES as [PiiType, ...PiiType[]]))
      .min(1)
      .default([...PII_TYPES])
      .describe("Kinds of personal data."),
  }),
  z.strictObject({
    ...common,
    kind: z.literal("injection"),
    action: action.exclude(["mask"], {
      error: "must be block or warn: the model may still obey a phrase that is masked",
    }),
    phrases: z
      .array(
        z
          .string()
          .max(MAX_PHRASE_CHARS)
          .refine((text) => toSearchedPhrase(text).trim() !== "", "must have a word"),
      )
      .max(MAX_PHRASES)
      .default([])
      .describe("Phrases besides the built-in ones. Case, spacing and punctuation do not matter."),
  }),
  z.strictObject({
    ...common,
    kind: z.literal("webhook"),
    on,
    url: secretUrl.describe(
      "Address of a service to which texts are sent with POST. Redirects are not followed.",
    ),
    secret: webhookSecret
      .optional()
      .describe("Secret with which questions are signed. At least 32 characters."),
    headers: z
      .record(
        z.string().regex(HEADER_NAME, "must be the name of a header"),
        z
          .string()
          .max(4_096)
          .regex(HEADER_VALUE)
          .meta({ [SECRET]: true }),
      )
      .refine(
        (headers) => Object.keys(headers).length <= MAX_HEADERS,
        `must have at most ${MAX_HEADERS} headers`,
      )
      .default({})
      .describe("Further headers of each question, such as authorization."),
    timeout_ms: z
      .int()
      .min(1)
      .max(MAX_WEBHOOK_MS)
      .default(WEBHOOK_MS)
      .describe("Longest wait for the answer. Milliseconds."),
    concurrent: z
      .int()
      .min(1)
      .max(MAX_WEBHOOK_CONCURRENT)
      .default(WEBHOOK_CONCURRENT)
      .describe("Most questions at the same time, of each process. Further texts count as not checked."),
    on_error: z
      .enum(["allow", "block"])
      .describe("What happens to texts that the service could not check. block: the request gets a 503."),
    stream: z
      .enum(["hold", "observe"])
      .default("hold")
      .describe(
        "Streamed answers. hold: they are held back until they were checked. observe: they are sent, and a verdict is only recorded.",
      ),
  }),
]);

type GuardrailConfig = z.infer<typeof guardrail>;
type WebhookGuardrailConfig = Extract<GuardrailConfig, { kind: "webhook" }>;

/** The schema of `guardrails`. */
export const guardrailsSchema = z
  .array(guardrail)
  .max(MAX_GUARDRAILS)
  .superRefine((list, context) => {
    const names = new Set<string>();
    for (const [index, { name }] of list.entries()) {
      if (names.has(name))
        context.addIssue({
          code: "custom",
          path: [index, "name"],
          message: "is the name of another guardrail",
        });
      names.add(name);
    }
  })
  .optional()
  .describe(
    "Checks of request texts before a provider gets them, and of answers before the client gets them. They run in this order. Kinds: regex, pii, injection, webhook; see docs/guardrails.md.",
  )
  .meta({ [ENTRIES]: "name" });

/** Returns the enabled guardrails of a checked configuration. `createHook` connects to the service of a webhook. */
export function readGuardrails(
  list: readonly GuardrailConfig[] = [],
  createHook: (config: TextWebhookConfig) => TextHook,
): readonly Guardrail[] {
  return list.filter(isEnabled).map((config): Guardrail => {
    const { name, accounts = null, keys = null, teams = null, models = null } = config;
    const scope = { accounts, keys, teams, models };
    if (config.kind === "webhook") {
      const { on, on_error: onError, stream } = config;
      return { kind: "hook", name, on, scope, onError, stream, hook: createHook(readWebhook(config)) };
    }
    const { action } = config;
    const on = config.kind === "injection" ? "request" : config.on;
    return { kind: "search", name, on, scope, action, ...createCheck(config) };
  });
}

function isEnabled({ enabled }: GuardrailConfig): boolean {
  return enabled;
}

function readWebhook(config: WebhookGuardrailConfig): TextWebhookConfig {
  const { name, url, secret = null, headers, timeout_ms: timeoutMs, concurrent } = config;
  return { name, url, secret, headers, timeoutMs, concurrent };
}

/** Returns the webhooks of enabled guardrails, and the actions for texts that they cannot check. */
export function listTextWebhooks(
  list: readonly GuardrailConfig[] = [],
): readonly (TextWebhookConfig & { readonly onError: WebhookGuardrailConfig["on_error"] })[] {
  return list
    .filter(isEnabled)
    .flatMap((config) =>
      config.kind === "webhook" ? [{ ...readWebhook(config), onError: config.on_error }] : [],
    );
}

type SearchConfig = Exclude<GuardrailConfig, WebhookGuardrailConfig>;

function createCheck(config: SearchConfig): Pick<SearchGuardrail, "find" | "beginSearch"> {
  switch (config.kind) {
    case "regex": {
      const patterns = config.patterns.map((source) => compilePattern(source) as Pattern);
      const find = createPatternFinder(patterns, kindOf(config.name));
      const beginSearch = createPatternSearches(patterns, kindOf(config.name));
      return { find: (text, pause) => findInText(text, find, pause), beginSearch };
    }
    case "pii": {
      const find = createPiiFinder(config.types);
      const beginSearch = createPiiSearches(config.types);
      return { find: (text, pause) => findInText(text, find, pause), beginSearch };
    }
    case "injection": {
      const phrases = [...INJECTION_PHRASES, ...config.phrases].map(toSearchedPhrase);
      return {
        find: async (text, pause) =>
          (await containsPhrase(text, phrases, pause))
            ? [{ start: 0, end: text.length, kind: "INJECTION" }]
            : [],
        beginSearch: null,
      };
    }
  }
}

/** Returns what masks call the matches of a guardrail: `[NO_SECRETS_1]`. */
function kindOf(name: string): string {
  return name.toUpperCase().replaceAll("-", "_");
}
