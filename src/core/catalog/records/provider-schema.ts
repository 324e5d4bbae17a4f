import { z } from "zod";
import type { Fields } from "../../../base/json/fields.ts";
import type { FormatChargeRule } from "../../../wire/conversation/traits/charge-rules.ts";
import { SAMPLING_PARAMETERS } from "../../../wire/conversation/traits/sampling-parameters.ts";
import { formatSchema, PRICE_NAMES, type PriceName, price, SLUG } from "./model-schema.ts";
import { takenParametersSchema } from "./profile-schema.ts";

/* The schema of `catalog/providers.json`, from which the type of its rows derives (`records.ts`). */

/** How URLs of upstream endpoints are built. `src/providers/address` has a row for each. */
export const ADDRESS_SCHEMES = [
  "openai",
  "anthropic",
  "gemini",
  "vertex",
  "bedrock",
  "azure",
  "cohere",
] as const;
export type AddressScheme = (typeof ADDRESS_SCHEMES)[number];

/** How a request is authenticated: a header of this name, `Authorization: Bearer`, or a cloud's signature or token. */
const AUTH_KINDS = ["bearer", "x-api-key", "api-key", "x-goog-api-key", "aws", "google"] as const;
export type AuthKind = (typeof AUTH_KINDS)[number];

const ENV_NAME = /^[A-Z][A-Z0-9_]*$/;
const PART = /^[a-z][a-z_]*$/;
const httpsUrl = z.url({ protocol: /^https$/ });
const variable = z.string().regex(ENV_NAME);
const path = z.string().startsWith("/");

/** A mark that a row has or does not have. */
const yes = z.literal(true).optional();
const names = z.array(z.string().min(1)).min(1).optional();
const bodyFields = z.record(z.string().min(1), z.json()) as z.ZodType<Fields>;

export const quirksSchema = z.strictObject({
  /** Rejects or ignores `stream_options`. Token usage is sent without it or is estimated. */
  noStreamOptions: yes,
  /** Requires `max_completion_tokens` instead of `max_tokens`. */
  maxCompletionTokens: yes,
  /** Accepts only `max_tokens` and rejects `max_completion_tokens`. */
  noMaxCompletionTokens: yes,
  /** Requires `random_seed` instead of `seed`. */
  randomSeed: yes,
  /** Embeddings: requires `output_dimension` instead of `dimensions`. */
  outputDimension: yes,
  /** Rejects all request fields except these, and all message fields that its API does not document. */
  knownFields: names,
  /** If `knownFields` is set: message fields that it accepts in addition to those that every host of its format accepts. */
  knownMessageFields: names,
  /** Accepts the reasoning of earlier turns as `thinking` content parts. */
  thinkingParts: yes,
  /** OpenAI's formats: accepts tools of type `custom`. Without it each is replaced by a function with one string. */
  customTools: yes,
  /** Responses format: accepts tools of type `namespace`. Without it their functions are sent on their own, under names of both. */
  toolNamespaces: yes,
  /** Responses format: finds the result of a call anywhere after it. Without it results directly follow the turn of their calls. */
  resultsAnywhere: yes,
  /** What it takes of the parameters of a request, by the names of the chat API. Others are taken. */
  takes: takenParametersSchema.optional(),
  /** Rejects these fields, which clients of other gateways send. */
  refusedFields: names,
  /** Chat format: stores chats unless the request says `store: false`, which it is sent under zero data retention. */
  storesChats: yes,
  /** Has JSON output, but no parameter for a JSON Schema. */
  noSchemas: yes,
  /** Chat format: the only field of messages from which it reads the reasoning of earlier turns. */
  reasoningField: z.enum(["reasoning", "reasoning_content"]).optional(),
  /** Chat format: knows the role `developer`. Others get it as `system`. */
  developerRole: yes,
  /** Chat format: rejects these fields of messages. */
  refusedMessageFields: names,
  /** Chat format: the only roles whose messages may have a `name`. */
  namedRoles: names,
  /** Chat and Responses formats: the only efforts that it takes, of any model. */
  efforts: names,
  /** Chat format: rejects `cache_control` in parts and tools. */
  noCacheMarks: yes,
  /**
   * Chat format: continues a last message of the assistant only with `prefix: true`, repeats it in the answer, and rejects system messages
   * behind an answer or a result. Needs `knownFields`.
   */
  marksPrefill: yes,
  /** Chat format: fields that control reasoning instead of `reasoning_effort` or in addition to it. */
  reasoning: z
    .strictObject({
      on: bodyFields.optional(),
      off: bodyFields.optional(),
      effort: z.string().min(1).optional(),
      budget: z.string().min(1).optional(),
    })
    .optional(),
  /** Chat format: accepts the `reasoning` object that clients of this gateway send. */
  takesReasoningObject: yes,
  /** Converts files to text for models that do not accept files. */
  readsFiles: yes,
  /** Accepts `verbosity` for every model. */
  takesVerbosity: yes,
  /** Chat format: accepts `reasoning_details` of earlier turns, including encrypted ones. */
  takesReasoningDetails: yes,
  /** Responses format: does not return encrypted reasoning, and is not asked to. */
  noEncryptedReasoning: yes,
});

/** What a value of a request field costs at a provider. */
export type ChargeRule = FormatChargeRule<PriceName>;

const chargeRule: z.ZodType<ChargeRule> = z.lazy(() =>
  z.union([
    z.literal("free"),
    z.literal("costs"),
    z
      .strictObject({
        price: z.enum(PRICE_NAMES).optional(),
        upTo: price.optional(),
        numbers: yes,
        values: z
          .array(z.union([z.string(), z.number(), z.boolean()]))
          .min(1)
          .optional(),
        members: chargeRules.optional(),
        needs: names,
        items: z.strictObject({ key: z.string().min(1), rules: chargeRules }).optional(),
      })
      .refine((rule) => Object.keys(rule).length > 0, "says nothing"),
  ]),
) as z.ZodType<ChargeRule>;
const chargeRules = z.record(z.string().min(1), chargeRule);

/** What request fields and tools cost: of a format, changed and completed by the rules of a provider. */
export const chargesSchema = z.strictObject({
  fields: chargeRules.optional(),
  /** By type of tool; a name that ends in `*` stands for all types with that beginning. */
  tools: chargeRules.optional(),
  /**
   * An entry that a list of a request with files gets, for models that do not accept files, unless the list has one of its type: without it
   * the provider would choose a way to read them that costs.
   */
  forFiles: z
    .strictObject({ field: z.string().min(1), key: z.string().min(1), entry: bodyFields })
    .optional(),
});

/** Decimal strings with at most six places, above zero. */
const factor = z
  .string()
  .regex(/^(?!0+(?:\.0+)?$)\d{1,3}(?:\.\d{1,6})?$/, "not a decimal string with at most six places");

/** How a provider's API in a further format deviates from that of the format's vendor. */
const formatSettings = z.strictObject({
  /** Paths below the provider's base URL, by action, that replace those of the format. */
  paths: z
    .strictObject({ chat: path.optional(), completions: path.optional(), "count-tokens": path.optional() })
    .optional(),
  quirks: quirksSchema.optional(),
});

/** What the fields mean that a provider's row may omit. */
export const OMITTED_FACTS = {
  baseUrl: null,
  privacyPolicyUrl: null,
  termsOfServiceUrl: null,
  statusPageUrl: null,
  headquarters: null,
  datacenters: null,
} as const;

export const providerSchema = z.strictObject({
  /** Lower-case and stable. Configuration and records refer to it. */
  slug: z.string().regex(SLUG),
  name: z.string().min(1),
  /** The main format of its API, to which `address`, `auth` and `quirks` apply. */
  format: formatSchema,
  /** Further formats of its API, with their differences. A model endpoint may be served in only some of them. */
  formats: z.partialRecord(formatSchema, formatSettings).optional(),
  /** Absent for the default of `format`. */
  address: z.enum(ADDRESS_SCHEMES).optional(),
  /** Absent for the default of the address scheme. */
  auth: z.enum(AUTH_KINDS).optional(),
  /** The base URL of its API, as its SDK accepts it; null if it differs by provider account. */
  baseUrl: httpsUrl.regex(/[^/]$/, "ends in a slash").nullable().default(OMITTED_FACTS.baseUrl),
  /** If `baseUrl` is null: the pattern of a provider account's base URL, with address parts in `{braces}`. */
  baseUrlTemplate: z.string().startsWith("https://").optional(),
  /** Paths below the base URL that its address scheme does not define, by action. */
  paths: z
    .strictObject({
      chat: path.optional(),
      completions: path.optional(),
      fim: path.optional(),
      embeddings: path.optional(),
      moderations: path.optional(),
      rerank: path.optional(),
      images: path.optional(),
      speech: path.optional(),
      transcriptions: path.optional(),
      "count-tokens": path.optional(),
    })
    .optional(),
  /** The address parts of `baseUrlTemplate`, by name. */
  parts: z
    .record(
      z.string().regex(PART),
      z.strictObject({
        /** Environment variables with the value. The first that is set applies; the first of the list is the provider's own. */
        env: z.array(variable).min(1),
        /** Used if none is set. */
        default: z.string().min(1).optional(),
      }),
    )
    .optional(),
  /** Members to set in the body of each chat request; null removes a member. */
  body: z.record(z.string().min(1), z.string().nullable()).optional(),
  env: z.strictObject({
    /** Environment variables that users of the provider already set. The first that is set is the key. */
    apiKey: z.array(variable),
    /** Variable with the path of a key file. Other programs use it too, so that it is read only if this provider is configured. */
    keyFile: variable.optional(),
    /** Variables that form a key together. Other programs use them too, so that they are read only if this provider is configured. */
    keyPair: z.strictObject({ id: variable, secret: variable, session: variable }).optional(),
    /** Variable that overrides the base URL, named like the first key: `OPENAI_API_KEY`, `OPENAI_BASE_URL`. */
    baseUrl: variable.endsWith("_BASE_URL"),
    /** Further variables from which its SDKs read the base URL. */
    baseUrlAliases: z.array(variable).min(1).optional(),
  }),
  /** The page on which people create its keys. */
  keysUrl: httpsUrl.optional(),
  /** The host is dedicated to code completion and preferred for fill-in-the-middle requests. */
  isForCode: yes,
  /** How long its prompt cache keeps a prompt after the last read, in seconds. Absent: five minutes. */
  promptCacheSeconds: z.int().positive().optional(),
  /** It documents that its prompt cache keeps to zero data retention. */
  cacheKeepsZeroRetention: yes,
  /** The format of tool-call ids that it accepts (docs/api/translation.md, "Tool-call repair"). */
  toolCallIds: z.enum(["mistral", "anthropic", "openai"]),
  /** The header that routes a conversation's requests to the same prompt cache; absent if it has none. */
  affinityHeader: z
    .string()
    .regex(/^x-[a-z-]+$/)
    .optional(),
  /** Those of `SAMPLING_PARAMETERS` that its API accepts according to its documentation. Absent: only `stop`. */
  parameters: z.array(z.enum(SAMPLING_PARAMETERS)).optional(),
  /** Deviations from `format` that no other field describes. Those of further formats are in `formats`. */
  quirks: quirksSchema,
  /** What its own request fields and tools cost; those of a format are in `charges.ts` of its folder. */
  charges: chargesSchema.optional(),
  /** Its answers report in `usage.cost` what it charges for the request, in US dollars, unless `usage.is_byok` is true. */
  reportsCost: yes,
  /**
   * Factors of all prices of a request, by field of the request and of the answer that reports it, by value, and by endpoint name or a
   * pattern with `*`; the first that matches counts. Decimal strings with at most six places.
   */
  factors: z
    .record(z.string().min(1), z.record(z.string().min(1), z.record(z.string().min(1), factor)))
    .optional(),
  /** Whether its policy allows training on requests. Absent counts as yes. */
  trainsOnData: z.boolean().optional(),
  /** Whether its policy allows storing requests. Absent and null count as yes. */
  retainsData: z.boolean().nullable().optional(),
  privacyPolicyUrl: httpsUrl.nullable().default(OMITTED_FACTS.privacyPolicyUrl),
  termsOfServiceUrl: httpsUrl.nullable().default(OMITTED_FACTS.termsOfServiceUrl),
  statusPageUrl: httpsUrl.nullable().default(OMITTED_FACTS.statusPageUrl),
  /** ISO 3166-1 alpha-2. */
  headquarters: z
    .string()
    .regex(/^[A-Z]{2}$/)
    .nullable()
    .default(OMITTED_FACTS.headquarters),
  datacenters: z
    .array(z.string().regex(/^[A-Z]{2}$/))
    .nullable()
    .default(OMITTED_FACTS.datacenters),
});
