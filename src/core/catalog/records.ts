import type { ReasoningFields } from "../../wire/canonical/format.ts";
import type { FormatName } from "../../wire/conversation/format-name.ts";

/** How the addresses of endpoints are put together; `src/providers/address` has a row for each. */
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

/** How a request proves who sends it: a header of that name, `Authorization: Bearer`, or a cloud's own way. */
export const AUTH_KINDS = ["bearer", "x-api-key", "api-key", "x-goog-api-key", "aws", "google"] as const;
export type AuthKind = (typeof AUTH_KINDS)[number];

/** Request parameters, in the words of `supported_parameters`, that a model's source does not list: format and provider decide them. */
export const SAMPLING_PARAMETERS = [
  "frequency_penalty",
  "logprobs",
  "n",
  "presence_penalty",
  "seed",
  "stop",
  "top_logprobs",
] as const;
export type SamplingParameter = (typeof SAMPLING_PARAMETERS)[number];

/** A part of an account's address: where its value is read from. */
export interface AddressPart {
  /** Environment variables, the first that is set counts; the first of the list is the provider's own. */
  readonly env: readonly string[];
  /** Taken where none is set. */
  readonly default?: string;
}

/** A company or host that serves models. A row of `catalog/providers.json`. Unknown facts are null. */
export interface ProviderRecord {
  /** Lower-case, stable; part of configuration and records. */
  readonly slug: string;
  readonly name: string;
  /** The format of its API, which its address, its key and its `quirks` belong to. */
  readonly format: FormatName;
  /** Further formats of its API, and what is different in each. An endpoint may be served in some of them alone. */
  readonly formats?: Readonly<Partial<Record<FormatName, FormatSettings>>>;
  /** Absent: the one that is usual for `format`. */
  readonly address?: AddressScheme;
  /** Absent: the one that is usual for its address scheme. */
  readonly auth?: AuthKind;
  /** The address its API starts at, as its own SDK takes it; null when each account has its own. */
  readonly baseUrl: string | null;
  /** Where `baseUrl` is null: what an account's own address looks like, parts to fill in `{braces}`. */
  readonly baseUrlTemplate?: string;
  /** Paths behind the address that its scheme does not have, by action. */
  readonly paths?: Readonly<Partial<Record<"chat" | "fim" | "embeddings" | "count-tokens", string>>>;
  /** What an account's address is made of, by the name in braces. */
  readonly parts?: Readonly<Record<string, AddressPart>>;
  /** Members that the body of each chat request there must have; null: must not have. */
  readonly body?: Readonly<Record<string, string | null>>;
  readonly env: {
    /** Environment variables its users already set; the first that is set is the key. */
    readonly apiKey: readonly string[];
    /** Variable that names a file with the key in it. Other programs use it too: taken only where this one is meant. */
    readonly keyFile?: string;
    /** Variables that are a key together. Other programs use them too, likewise. */
    readonly keyPair?: { readonly id: string; readonly secret: string; readonly session: string };
    /** Variable that points it elsewhere, named like the first key: `OPENAI_API_KEY`, `OPENAI_BASE_URL`. */
    readonly baseUrl: string;
    /** Further variables that its own SDKs read for the same. */
    readonly baseUrlAliases?: readonly string[];
  };
  /** Its host is for code completion: fill-in-the-middle requests go there first. */
  readonly isForCode?: true;
  /** It fails when a request asks it to, which says nothing of its health. */
  readonly failsOnDemand?: true;
  /** How long a prompt stays in its cache after it was last read, seconds; absent: five minutes. */
  readonly promptCacheSeconds?: number;
  /** What a tool-call id must look like there (docs/api/translation.md, "Tool-call repair"). */
  readonly toolCallIds: "mistral" | "anthropic" | "openai";
  /** The header by which it keeps a conversation's requests together, so that they find its prompt cache; absent: none. */
  readonly affinityHeader?: string;
  /** What its API takes of `SAMPLING_PARAMETERS`, as its documentation says; absent: `stop` alone. */
  readonly parameters?: readonly SamplingParameter[];
  /** Departures from `format` that no other field says; those of further formats are in `formats`. */
  readonly quirks: ProviderQuirks;
  /** Whether it trains on what it is sent, as its policy says; absent counts as yes. */
  readonly trainsOnData?: boolean;
  /** Whether it keeps what it is sent, as its policy says; absent and null count as yes. */
  readonly retainsData?: boolean | null;
  readonly privacyPolicyUrl: string | null;
  readonly termsOfServiceUrl: string | null;
  readonly statusPageUrl: string | null;
  /** ISO 3166-1 alpha-2. */
  readonly headquarters: string | null;
  readonly datacenters: readonly string[] | null;
}

/** What a further format of a provider does not share with the format's own vendor. */
export interface FormatSettings {
  /** Paths behind the provider's address, by action, in place of the usual ones of the format. */
  readonly paths?: Readonly<Partial<Record<"chat" | "count-tokens", string>>>;
  readonly quirks?: ProviderQuirks;
}

export interface ProviderQuirks {
  /** Rejects or ignores `stream_options`; usage comes unasked or is estimated. */
  readonly noStreamOptions?: true;
  /** Wants `max_tokens` spelled `max_completion_tokens`. */
  readonly maxCompletionTokens?: true;
  /** The other way round: knows `max_tokens` only and rejects `max_completion_tokens`. */
  readonly noMaxCompletionTokens?: true;
  /** Calls `seed` `random_seed`. */
  readonly randomSeed?: true;
  /** Calls `dimensions`, of embeddings, `output_dimension`. */
  readonly outputDimension?: true;
  /** Refuses any field of a request but these, and any of a message that its API does not name. */
  readonly knownFields?: readonly string[];
  /** Where `knownFields` is set: fields of a message that it takes beside those that every host of its format knows. */
  readonly knownMessageFields?: readonly string[];
  /** Takes the reasoning of earlier turns as `thinking` parts of a message's content. */
  readonly thinkingParts?: true;
  /** Knows tools of type `custom`. Others get a function with one string in place of each. */
  readonly customTools?: true;
  /** Refuses these fields, which clients built for other gateways send. */
  readonly refusedFields?: readonly string[];
  /** Wants the reasoning of earlier turns back, as `reasoning_content`, however the client spells it. */
  readonly wantsReasoningContent?: true;
  /** Of the chat format: how much to reason is said in other fields than `reasoning_effort`, or in more. */
  readonly reasoning?: ReasoningFields;
  /** Of the chat format: takes the `reasoning` object that clients of this gateway send. */
  readonly takesReasoningObject?: true;
  /** Turns files into text for models that take none. */
  readonly readsFiles?: true;
  /** Takes a `verbosity` for every model, and does with it what the model allows. */
  readonly takesVerbosity?: true;
  /** Of the chat format: takes `reasoning_details` of earlier turns back, encrypted ones with them. */
  readonly takesReasoningDetails?: true;
  /** Of the Responses format: takes no `instructions`, which then go as the first message of `input`. */
  readonly noInstructions?: true;
  /** Of the Responses format: does not encrypt reasoning for the client to send back, and is not asked to. */
  readonly noEncryptedReasoning?: true;
}

/**
 * US dollars per token as decimal strings without exponent or trailing zeros, at most 18 places; absent means
 * the vendor does not price it apart: cached and audio input then cost `prompt`, reasoning costs `completion`.
 */
export interface Prices {
  readonly prompt: string;
  readonly completion: string;
  readonly cacheRead?: string;
  readonly cacheWrite?: string;
  /** Kept for an hour; absent: as `cacheWrite`. */
  readonly cacheWrite1h?: string;
  readonly audioIn?: string;
  readonly audioOut?: string;
  readonly reasoning?: string;
  /** Images in the answer, per token. */
  readonly imageOut?: string;
  /** Per request. */
  readonly request?: string;
  /** Per request whose search reads more than a little of what it finds, in place of `request`. */
  readonly requestMedium?: string;
  /** Per request whose search reads much of what it finds. */
  readonly requestHigh?: string;
  /** Per image in the prompt. */
  readonly image?: string;
  /** Per search of the vendor's, or whichever it counts: per query, per source. */
  readonly search?: string;
  /** Per request that searches, however often. */
  readonly searchedRequest?: string;
}

/** The members of `Prices`, in the order in which they are written and listed. */
export const PRICE_NAMES: readonly (keyof Prices)[] = [
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
];

/** Prices that apply from a prompt size on. */
export interface PriceTier extends Prices {
  readonly minPromptTokens: number;
}

/** Prices that apply from a day on (UTC), announced before it. */
export interface PriceChange {
  /** `YYYY-MM-DD`. */
  readonly from: string;
  readonly prices: Prices;
  /** Rising by `minPromptTokens`. */
  readonly priceTiers?: readonly PriceTier[];
}

/** One provider's deployment of a model. */
export interface ModelEndpoint {
  /** A `ProviderRecord.slug`. */
  readonly provider: string;
  /** The model's name there. */
  readonly name: string;
  /** The only format that it is served in, as catalogs of version 0.1 say it; `formats` says the same and more. */
  readonly format?: FormatName;
  /**
   * The formats that it is served in, the one that requests of other formats prefer first. Absent: all of its provider.
   * OpenAI serves some models in its Responses format alone.
   */
  readonly formats?: readonly FormatName[];
  /** Formats of these in which the model takes tools only while it does not reason. */
  readonly noToolsWhileReasoning?: readonly FormatName[];
  /** Tokens; of an embedding model those of one text. */
  readonly contextLength: number;
  /** Nobody has said `contextLength`; it is what such hosts usually have at the least. */
  readonly isWindowAssumed?: true;
  /** Tokens a prompt may have where that is fewer than `contextLength`. */
  readonly maxPromptTokens?: number;
  /** Tokens; null when the vendor names none. */
  readonly maxOutputTokens: number | null;
  /** Null: no known price, so not offered (docs/api/models.md). */
  readonly prices: Prices | null;
  /** Rising by `minPromptTokens`. */
  readonly priceTiers?: readonly PriceTier[];
  /** What takes the place of `prices` and `priceTiers`, and when; rising by `from`. */
  readonly priceChanges?: readonly PriceChange[];
  /** Input modalities and parameters of the model that this deployment does not take. */
  readonly lacks?: readonly string[];
  /** Parameters that this deployment takes beside the model's. Made when the catalog is joined with its providers; no file has it. */
  readonly takes?: readonly SamplingParameter[];
  /** The first day, `YYYY-MM-DD`, on which a refresh did not find it at the source. */
  readonly missingSince?: string;
  /** Not offered from this day on, `YYYY-MM-DD`. */
  readonly expires?: string;
}

/** How a model's reasoning is steered; absent members are not offered. */
export interface ReasoningControl {
  /** Values of `reasoning_effort` it knows, weakest first. */
  readonly efforts?: readonly string[];
  /** A budget in tokens can be set; bounds where the vendor names them. */
  readonly budgetTokens?: { readonly min?: number; readonly max?: number };
  /** Reasoning can be switched off. */
  readonly canDisable?: true;
  /** It reasons only where a request asks for it. */
  readonly onlyWhenTold?: true;
}

/** A model, whoever serves it. An element of a file of `catalog/models/`. */
export interface ModelRecord {
  /** `author/name`, lower-case; `:free` is part of it. */
  readonly id: string;
  readonly name: string;
  readonly description: string | null;
  /** Release date, `YYYY-MM-DD`. */
  readonly released: string | null;
  /** Of `text`, `image`, `file`, `audio`, `video`. */
  readonly inputModalities: readonly string[];
  /** Of `text`, `image`, `audio`, `video`; or `embedding` alone. */
  readonly outputModalities: readonly string[];
  readonly tokenizer: string | null;
  /** Names of request parameters it takes, as in `supported_parameters`. */
  readonly supportedParameters: readonly string[];
  /** Absent when it does not reason or the source does not say how to steer it. */
  readonly reasoning?: ReasoningControl;
  /** A model that only the operator knows: of parameters and reasoning that are not listed nothing is known. */
  readonly isUndescribed?: true;
  /** The same of input modalities. */
  readonly hasUnknownInputs?: true;
  /** Withdrawn from this day on, `YYYY-MM-DD`: not offered by anybody. */
  readonly expires: string | null;
  readonly endpoints: readonly ModelEndpoint[];
}

/** Facts about providers and models, whoever holds keys for them. */
export interface CatalogData {
  /** Where the facts come from and of which day; shown by `gateway catalog`. */
  readonly source: string;
  readonly providers: readonly ProviderRecord[];
  readonly models: readonly ModelRecord[];
}
