import type { ReasoningFields } from "../../../wire/canonical/model/format.ts";
import type { InferenceAction } from "../../../wire/client-apis/request/inference-request.ts";
import type { BlankTexts } from "../../../wire/conversation/blank-texts.ts";
import type { ParameterRule } from "../../../wire/conversation/parameter-rules.ts";
import type { FormatChargeRule } from "../../../wire/conversation/traits/charge-rules.ts";
import type { ProviderFormat } from "../../../wire/conversation/traits/format-name.ts";
import type { SamplingParameter } from "../../../wire/conversation/traits/sampling-parameters.ts";

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
export const AUTH_KINDS = ["bearer", "x-api-key", "api-key", "x-goog-api-key", "aws", "google"] as const;
export type AuthKind = (typeof AUTH_KINDS)[number];

/** An address part: a component of a provider account's URL. */
interface AddressPart {
  /** Environment variables with the value. The first that is set applies; the first of the list is the provider's own. */
  readonly env: readonly string[];
  /** Used if none is set. */
  readonly default?: string;
}

/** A company or host that serves models: a row of `catalog/providers.json`. Unknown facts are null. */
export interface ProviderRecord {
  /** Lower-case and stable. Configuration and records refer to it. */
  readonly slug: string;
  readonly name: string;
  /** The main format of its API, to which `address`, `auth` and `quirks` apply. */
  readonly format: ProviderFormat;
  /** Further formats of its API, with their differences. A model endpoint may be served in only some of them. */
  readonly formats?: Readonly<Partial<Record<ProviderFormat, FormatSettings>>>;
  /** Absent for the default of `format`. */
  readonly address?: AddressScheme;
  /** Absent for the default of the address scheme. */
  readonly auth?: AuthKind;
  /** The base URL of its API, as its SDK accepts it; null if it differs by provider account. */
  readonly baseUrl: string | null;
  /** If `baseUrl` is null: the pattern of a provider account's base URL, with address parts in `{braces}`. */
  readonly baseUrlTemplate?: string;
  /** Paths below the base URL that its address scheme does not define, by action. */
  readonly paths?: Readonly<Partial<Record<InferenceAction | "count-tokens", string>>>;
  /** The address parts of `baseUrlTemplate`, by name. */
  readonly parts?: Readonly<Record<string, AddressPart>>;
  /** Members to set in the body of each chat request; null removes a member. */
  readonly body?: Readonly<Record<string, string | null>>;
  readonly env: {
    /** Environment variables that users of the provider already set. The first that is set is the key. */
    readonly apiKey: readonly string[];
    /** Variable with the path of a key file. Other programs use it too, so that it is read only if this provider is configured. */
    readonly keyFile?: string;
    /** Variables that form a key together. Other programs use them too, so that they are read only if this provider is configured. */
    readonly keyPair?: { readonly id: string; readonly secret: string; readonly session: string };
    /** Variable that overrides the base URL, named like the first key: `OPENAI_API_KEY`, `OPENAI_BASE_URL`. */
    readonly baseUrl: string;
    /** Further variables from which its SDKs read the base URL. */
    readonly baseUrlAliases?: readonly string[];
  };
  /** The host is dedicated to code completion and preferred for fill-in-the-middle requests. */
  readonly isForCode?: true;
  /** It fails when a request asks for it. Its failures do not count in its health. */
  readonly failsOnDemand?: true;
  /** How long its prompt cache keeps a prompt after the last read, in seconds. Absent: five minutes. */
  readonly promptCacheSeconds?: number;
  /** It documents that its prompt cache keeps to zero data retention. */
  readonly cacheKeepsZeroRetention?: true;
  /** The format of tool-call ids that it accepts (docs/api/translation.md, "Tool-call repair"). */
  readonly toolCallIds: "mistral" | "anthropic" | "openai";
  /** The header that routes a conversation's requests to the same prompt cache; absent if it has none. */
  readonly affinityHeader?: string;
  /** The parameters of `SAMPLING_PARAMETERS` that its API accepts according to its documentation. Absent: only `stop`. */
  readonly parameters?: readonly SamplingParameter[];
  /** Deviations from `format` that no other field describes. Deviations in additional formats are in `formats`. */
  readonly quirks: ProviderQuirks;
  /** The costs of its own request fields and tools. Those of a format are in `charges.ts` of its folder. */
  readonly charges?: ChargeRules;
  /** Its answers report in `usage.cost` what it charges for the request, in US dollars, unless `usage.is_byok` is true. */
  readonly reportsCost?: true;
  /**
   * Factors of all prices of a request: by the field of the request and of the answer that reports it, by value, and by endpoint name or a
   * pattern with `*`. The first match counts. Decimal strings with at most six places.
   */
  readonly factors?: Readonly<Record<string, Readonly<Record<string, Readonly<Record<string, string>>>>>>;
  /** Fields and types of tools that the operator allows with platform keys, whatever they cost, except for free models. */
  readonly sends?: { readonly fields: readonly string[]; readonly tools: readonly string[] };
  /** The parameters that it takes according to the operator. They take precedence over the catalog. */
  readonly takesByOperator?: TakenParameters;
  /** The operator's own host. It makes no charges unknown to the operator, and gets every field. */
  readonly isOwnHost?: true;
  /** Whether its policy allows training on requests. Absent counts as yes. */
  readonly trainsOnData?: boolean;
  /** Whether its policy allows storing requests. Absent and null count as yes. */
  readonly retainsData?: boolean | null;
  readonly privacyPolicyUrl: string | null;
  readonly termsOfServiceUrl: string | null;
  readonly statusPageUrl: string | null;
  /** ISO 3166-1 alpha-2. */
  readonly headquarters: string | null;
  readonly datacenters: readonly string[] | null;
}

/** The cost of a value of a request field at a provider. */
export type ChargeRule = FormatChargeRule<PriceName>;

/** The costs of request fields and tools: those of a format, changed and completed by the rules of a provider. */
export interface ChargeRules {
  readonly fields?: Readonly<Record<string, ChargeRule>>;
  /** By type of tool. A name that ends in `*` matches all types with that beginning. */
  readonly tools?: Readonly<Record<string, ChargeRule>>;
  /**
   * An entry that is added to a list of a request with files, for models that do not accept files, unless the list already has an entry of
   * its type. Without it, the provider would choose a paid way to read the files.
   */
  readonly forFiles?: {
    readonly field: string;
    readonly key: string;
    readonly entry: Readonly<Record<string, unknown>>;
  };
}

/** The deviations of a provider's API in an additional format from the API of the format's vendor. */
interface FormatSettings {
  /** Paths below the provider's base URL, by action, instead of those of the format. */
  readonly paths?: Readonly<Partial<Record<"chat" | "completions" | "count-tokens", string>>>;
  readonly quirks?: ProviderQuirks;
}

/**
 * What is taken of a parameter: every value (`yes`), no value (`no`), or the values of a rule. Values that are not taken are left out of
 * requests or adjusted, with a warning.
 */
export type TakenParameter = "yes" | "no" | ParameterRule;

/** Statements about parameters, by the names of the chat API. */
export type TakenParameters = Readonly<Record<string, TakenParameter>>;

/** What the models of a family take: an element of `catalog/profiles.json`. If several match a model, later ones change earlier ones. */
export interface FamilyProfile {
  /** Patterns of model ids with `*`. A new model of the family matches them too. */
  readonly models: readonly string[];
  /** Patterns of ids that do not belong to the family, such as those of older models. */
  readonly except?: readonly string[];
  /** The providers to which it applies. Absent: all. */
  readonly providers?: readonly string[];
  readonly parameters?: TakenParameters;
  /** Whether the models reason by default. Absent: they do. */
  readonly reasonsByDefault?: boolean;
  /** When a model can be made to call a tool: only while it does not reason, or never. Absent: always. */
  readonly forcedTools?: "without-reasoning" | "never";
  /** False: thinking of earlier turns without a signature is rejected, because another model made it. Absent: it is taken. */
  readonly unsignedThinking?: boolean;
  /** Chat format: calls of earlier turns without reasoning are rejected. Absent: they are taken. */
  readonly needsReasoning?: boolean;
  /** OpenAI's formats: `prompt_cache_breakpoint` is taken. Absent: not. */
  readonly cacheBreakpoints?: boolean;
  /** Which texts without a word are rejected. Absent: none. */
  readonly blankTexts?: BlankTexts;
  /** The vendor's page that says so, and its date. */
  readonly source: string;
}

export interface ProviderQuirks {
  /** Rejects or ignores `stream_options`. Token usage is sent without it, or is estimated. */
  readonly noStreamOptions?: true;
  /** Requires `max_completion_tokens` instead of `max_tokens`. */
  readonly maxCompletionTokens?: true;
  /** Accepts only `max_tokens` and rejects `max_completion_tokens`. */
  readonly noMaxCompletionTokens?: true;
  /** Requires `random_seed` instead of `seed`. */
  readonly randomSeed?: true;
  /** Embeddings: requires `output_dimension` instead of `dimensions`. */
  readonly outputDimension?: true;
  /** Rejects all request fields except these, and all message fields that its API does not document. */
  readonly knownFields?: readonly string[];
  /** If `knownFields` is set: message fields that it accepts in addition to those that every host of its format accepts. */
  readonly knownMessageFields?: readonly string[];
  /** Accepts the reasoning of earlier turns as `thinking` content parts. */
  readonly thinkingParts?: true;
  /** OpenAI's formats: accepts tools of type `custom`. If absent, each is replaced by a function with one string parameter. */
  readonly customTools?: true;
  /**
   * Responses format: accepts tools of type `namespace`. If absent, their functions are sent individually, under names that contain the
   * namespace.
   */
  readonly toolNamespaces?: true;
  /** Responses format: finds the result of a call anywhere after it. If absent, results directly follow the turn of their calls. */
  readonly resultsAnywhere?: true;
  /** Statements about the parameters of a request, by the names of the chat API. Other parameters are taken. */
  readonly takes?: TakenParameters;
  /** Rejects these fields, which clients of other gateways send. */
  readonly refusedFields?: readonly string[];
  /** Chat format: stores chats unless the request contains `store: false`, which is added under zero data retention. */
  readonly storesChats?: true;
  /** Has JSON output, but no parameter for a JSON Schema. */
  readonly noSchemas?: true;
  /** Chat format: the only field of messages from which it reads the reasoning of earlier turns. */
  readonly reasoningField?: "reasoning" | "reasoning_content";
  /** Chat format: knows the role `developer`. Others get it as `system`. */
  readonly developerRole?: true;
  /** Chat format: rejects these fields of messages. */
  readonly refusedMessageFields?: readonly string[];
  /**
   * Chat format: continues a last message of the assistant only with `prefix: true`, repeats it in the answer, and rejects system messages
   * behind an answer or a result. Needs `knownFields`.
   */
  readonly marksPrefill?: true;
  /** Chat format: the only roles whose messages may have a `name`. */
  readonly namedRoles?: readonly string[];
  /** Chat and Responses formats: the only efforts that it takes, of any model. */
  readonly efforts?: readonly string[];
  /** Chat format: rejects `cache_control` in parts and tools. */
  readonly noCacheMarks?: true;
  /** Chat format: fields that control reasoning instead of `reasoning_effort` or in addition to it. */
  readonly reasoning?: ReasoningFields;
  /** Chat format: accepts the `reasoning` object that clients of this gateway send. */
  readonly takesReasoningObject?: true;
  /** Converts files to text for models that do not accept files. */
  readonly readsFiles?: true;
  /** Accepts `verbosity` for every model. */
  readonly takesVerbosity?: true;
  /** Chat format: accepts `reasoning_details` of earlier turns, including encrypted ones. */
  readonly takesReasoningDetails?: true;
  /** Responses format: does not return encrypted reasoning, and is not asked to. */
  readonly noEncryptedReasoning?: true;
}

/**
 * US dollars per token, as decimal strings without exponent or trailing zeros, with at most 18 places. If a price is absent, another one
 * applies: `prompt` for cached and audio input, `completion` for reasoning.
 */
export interface Prices {
  readonly prompt: string;
  readonly completion: string;
  readonly cacheRead?: string;
  readonly cacheWrite?: string;
  /** For a cache of one hour. Absent: as `cacheWrite`. */
  readonly cacheWrite1h?: string;
  readonly audioIn?: string;
  readonly audioOut?: string;
  readonly reasoning?: string;
  /** Images in the answer, per token. */
  readonly imageOut?: string;
  /** Per request. */
  readonly request?: string;
  /** Per request with a search of medium context size, instead of `request`. */
  readonly requestMedium?: string;
  /** Per request with a search of high context size. */
  readonly requestHigh?: string;
  /** Per image in the prompt. */
  readonly image?: string;
  /** Per search, as the vendor counts searches: per query or per source. */
  readonly search?: string;
  /** Per request with at least one search. */
  readonly searchedRequest?: string;
  /** The cost of the whole request that the provider reported. It replaces all other prices. Only in records of generations. */
  readonly reported?: string;
  /** Per request, for services that have no other price. Only in records of generations. */
  readonly surcharge?: string;
  /** Per character of a text to speak. */
  readonly character?: string;
  /** Per second of audio to transcribe. */
  readonly audioSecond?: string;
  /** Per image of the answer, where `imageVariants` has no other price for it. */
  readonly generatedImage?: string;
  /** Per image of the answer, by quality and size. The first that an image may be applies; the vendor's default is the first. */
  readonly imageVariants?: readonly ImageVariant[];
}

/** The price of a generated image of a quality and size. If one of them is absent, the price applies to all of its values. */
interface ImageVariant {
  readonly quality?: string;
  /** Width and height in pixels: `1024x1536`. */
  readonly size?: string;
  readonly price: string;
}

/** The name of a price of the catalog that is a single decimal string. */
export type PriceName = Exclude<keyof Prices, "imageVariants" | "reported" | "surcharge">;

/** The members of `Prices` that are single prices, in the order of files and lists. */
export const PRICE_NAMES: readonly PriceName[] = [
  "prompt",
  "completion",
  "cacheRead",
  "cacheWrite",
  "cacheWrite1h",
  "audioIn",
  "audioOut",
  "reasoning",
  "imageOut",
  "request",
  "requestMedium",
  "requestHigh",
  "image",
  "search",
  "searchedRequest",
  "character",
  "audioSecond",
  "generatedImage",
];

/** Lists the prices of one generated image. */
export function listImagePrices({ generatedImage, imageVariants = [] }: Prices): string[] {
  const prices = imageVariants.map(({ price }) => price);
  return generatedImage === undefined ? prices : [...prices, generatedImage];
}

/** Prices that apply to prompts of at least `minPromptTokens`. */
export interface PriceTier extends Prices {
  readonly minPromptTokens: number;
}

/** Announced prices that apply from a day (UTC) on. */
export interface PriceChange {
  /** `YYYY-MM-DD`. */
  readonly from: string;
  readonly prices: Prices;
  /** In ascending order of `minPromptTokens`. */
  readonly priceTiers?: readonly PriceTier[];
}

/** What an endpoint takes, resolved from its format, its provider, its model with the model's families, and the configuration. */
export interface EndpointProfile {
  /** All parameters that it is known to take, as in `supported_parameters`. Computed when it is first read. */
  readonly parameters: readonly string[];
  /** The format in which requests of the chat API are sent to it, as far as that does not depend on the request. */
  readonly chatFormat: ProviderFormat;
  /** Lists the parameters with restricted values in a format, and those that the operator has declared unrestricted. */
  listRules(format: ProviderFormat): readonly ParameterStatement[];
}

/**
 * The sources of statements about parameters, in ascending order of precedence. A provider's refusal takes precedence over families and the
 * model.
 */
export const TAKES_SOURCES = ["format", "provider", "model", "family", "configuration"] as const;
export type TakesSource = (typeof TAKES_SOURCES)[number];

/** What is taken of a parameter, and the source of that statement. */
export interface SourcedTaken {
  readonly taken: TakenParameter;
  readonly source: TakesSource;
}

/** What is taken of the named parameter, and the source of that statement. */
export interface ParameterStatement extends SourcedTaken {
  readonly parameter: string;
}

/** One model as one provider serves it. */
export interface ModelEndpoint {
  /** A `ProviderRecord.slug`. */
  readonly provider: string;
  /** The provider's name of the model. */
  readonly name: string;
  /** The only format in which it is served. Used by catalogs of version 0.1; superseded by `formats`. */
  readonly format?: ProviderFormat;
  /**
   * The formats in which it is served. Requests in other formats prefer the first one. Absent: all formats of its provider. OpenAI serves
   * some models only in its Responses format.
   */
  readonly formats?: readonly ProviderFormat[];
  /** Formats in which the model accepts tools only while it does not reason. */
  readonly noToolsWhileReasoning?: readonly ProviderFormat[];
  /** Tokens. For an embedding model, the tokens of one text. */
  readonly contextLength: number;
  /** `contextLength` is a default that such hosts usually support, because neither catalog nor operator states it. */
  readonly isWindowAssumed?: true;
  /** Maximum tokens of a prompt if fewer than `contextLength`. */
  readonly maxPromptTokens?: number;
  /** Tokens; null if the vendor states none. */
  readonly maxOutputTokens: number | null;
  /** Null if no price is known. The endpoint is then not served (docs/api/models.md). */
  readonly prices: Prices | null;
  /** `prices` are 0 because the operator has set none, and nothing says that it is free. Only for models of the configuration. */
  readonly isPriceUnknown?: true;
  /** In ascending order of `minPromptTokens`. */
  readonly priceTiers?: readonly PriceTier[];
  /** Replacements of `prices` and `priceTiers`, in ascending order of `from`. */
  readonly priceChanges?: readonly PriceChange[];
  /** Input modalities and parameters of the model that this endpoint does not accept. */
  readonly lacks?: readonly string[];
  /**
   * Resolved from everything that is known about it (`addProfiles`); not stored in files. Absent for endpoints that are not for
   * conversations.
   */
  readonly profile?: EndpointProfile;
  /** Members of the model's `takes` that have another value here. */
  readonly takesHere?: ModelTakes;
  /** The parameters that this endpoint takes according to the operator. They take precedence over everything else. Not stored in files. */
  readonly takesByOperator?: TakenParameters;
  /** Only the price map lists it, so a refresh without a price map does not count it as missing. */
  readonly fromPriceMap?: true;
  /** The first day, `YYYY-MM-DD`, on which a refresh did not find it at the source. */
  readonly missingSince?: string;
  /** Not served from this day on, `YYYY-MM-DD`. */
  readonly expires?: string;
}

/** How a model's reasoning can be controlled. Absent members are not supported. */
export interface ReasoningControl {
  /** Supported values of `reasoning_effort`, weakest first. */
  readonly efforts?: readonly string[];
  /** A budget in tokens can be set, within the bounds that the vendor states. */
  readonly budgetTokens?: { readonly min?: number; readonly max?: number };
  /** Reasoning can be switched off. */
  readonly canDisable?: true;
  /** The model reasons only if a request says so. */
  readonly onlyWhenTold?: true;
}

/** Whether a model reasons without being asked: `always` cannot be switched off, `default-on` can, `when-told` needs a request. */
export const REASONING_HABITS = ["always", "default-on", "when-told"] as const;

/** What a model's own API accepts in addition to the parameters in `supportedParameters`. An absent member is unknown. */
export interface ModelTakes {
  /** Accepts values other than the default of `temperature`, `top_p` and `top_k`. */
  readonly sampling?: boolean;
  /** Continues a last message of the assistant. */
  readonly prefill?: boolean;
  /** Accepts a tool choice that forces a call. */
  readonly forcedTools?: boolean;
  readonly reasoning?: (typeof REASONING_HABITS)[number];
  /** Decides itself how much to reason (`thinking.type: adaptive`). */
  readonly adaptive?: boolean;
  /** Accepts a budget of reasoning in tokens (`thinking.type: enabled`). */
  readonly budgets?: boolean;
  /** The effort that applies to a request without one. */
  readonly defaultEffort?: string;
  /** Accepts system messages after the first turn. */
  readonly midConversationSystem?: boolean;
  /** The minimum length of a prompt that its vendor caches. Tokens. */
  readonly cacheMinTokens?: number;
  /** Accepts marks of where a cached prompt ends. */
  readonly cacheBreakpoints?: boolean;
  /** Guarantees a JSON schema natively, without a tool that emulates it. */
  readonly structuredOutput?: boolean;
}

/** A model with its endpoints: an element of a file of `catalog/models/`. */
export interface ModelRecord {
  /** `author/name`, lower-case, including a variant such as `:free`. */
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  /** Release date, `YYYY-MM-DD`. */
  readonly released: string | null;
  /** Any of `text`, `image`, `file`, `audio`, `video`. */
  readonly inputModalities: readonly string[];
  /**
   * Any of `text`, `image`, `audio`, `video` in conversations; or only one of `embedding`, `moderation`, `rerank`, `image`, `speech`
   * and `transcription`, which have endpoints of their own.
   */
  readonly outputModalities: readonly string[];
  readonly tokenizer: string | null;
  /** Names of the request parameters that it accepts, as in `supported_parameters`. */
  readonly supportedParameters: readonly string[];
  /** Absent if it does not reason or its source does not state how to control it. */
  readonly reasoning?: ReasoningControl;
  /** Absent if nothing is known. */
  readonly takes?: ModelTakes;
  /** The parameters that the model takes according to the operator. They take precedence over the catalog. Not stored in files. */
  readonly takesByOperator?: TakenParameters;
  /** Defined by the operator without parameters and reasoning, which are therefore unknown. */
  readonly isUndescribed?: true;
  /** Defined by the operator without input modalities, which are therefore unknown. */
  readonly hasUnknownInputs?: true;
  /** Withdrawn from this day on, `YYYY-MM-DD`: no provider serves it. */
  readonly expires: string | null;
  readonly endpoints: readonly ModelEndpoint[];
}

/** Facts about providers and models, independent of configured keys. */
export interface CatalogData {
  /** Origin and date of the data; shown by `gateway catalog`. */
  readonly source: string;
  readonly providers: readonly ProviderRecord[];
  readonly models: readonly ModelRecord[];
}

/** A catalog with what is known of families of models. */
export interface CatalogWithFamilies extends CatalogData {
  readonly families: readonly FamilyProfile[];
}
