import { z } from "zod";
import { PROVIDER_FORMATS } from "../../../wire/conversation/traits/format-name.ts";

/*
 * The schemas of the files of `catalog/models/`. The types of records derive from them (`records.ts`), and so do the fast check of
 * models (`is-sound-model.ts`) and the overrides of the configuration.
 */

/** `author/name`, optionally followed by a variant such as `:free`. */
export const MODEL_ID = /^[a-z0-9][a-z0-9._-]*\/[a-z0-9][a-z0-9._-]*(?::[a-z0-9][a-z0-9-]*)?$/;
export const MODEL_ID_CHARS = 256;
/** A provider's slug. */
export const SLUG = /^[a-z0-9][a-z0-9-]*$/;
/** A decimal string in lowest form. */
const PRICE = /^(?:0|[1-9]\d{0,11})(?:\.\d{0,17}[1-9])?$/;
/** Width and height in pixels. */
export const IMAGE_SIZE = /^[1-9]\d{0,4}x[1-9]\d{0,4}$/;
/** Outputs of models that are not for conversations, and which therefore are the only one of their model. */
export const SOLE_OUTPUTS = ["embedding", "moderation", "rerank", "speech", "transcription"] as const;
/** Whether a model reasons without being asked: `always` cannot be switched off, `default-on` can, `when-told` needs a request. */
const REASONING_HABITS = ["always", "default-on", "when-told"] as const;

export const formatSchema = z.enum(PROVIDER_FORMATS);
const formats = z.array(formatSchema).min(1);
export const price = z.string().regex(PRICE, "not a decimal string in lowest form");
const day = z.iso.date();
const tokens = z.int().positive();
const flag = z.boolean().optional();

const variantShape = {
  quality: z.string().min(1).optional(),
  /** Width and height in pixels: `1024x1536`. */
  size: z.string().regex(IMAGE_SIZE, "not of the form 1024x1024").optional(),
  price,
};

/** The prices that are one decimal string, in the order of files and lists. */
const onePrices = {
  prompt: price,
  completion: price,
  cacheRead: price.optional(),
  cacheWrite: price.optional(),
  /** For a cache of one hour. Absent: as `cacheWrite`. */
  cacheWrite1h: price.optional(),
  audioIn: price.optional(),
  audioOut: price.optional(),
  reasoning: price.optional(),
  /** Images in the answer, per token. */
  imageOut: price.optional(),
  /** Per request. */
  request: price.optional(),
  /** Per request with a search of medium context size, instead of `request`. */
  requestMedium: price.optional(),
  /** Per request with a search of high context size. */
  requestHigh: price.optional(),
  /** Per image in the prompt. */
  image: price.optional(),
  /** Per search, as the vendor counts searches: per query or per source. */
  search: price.optional(),
  /** Per request that searches at least once. */
  searchedRequest: price.optional(),
  /** Per character of a text to speak. */
  character: price.optional(),
  /** Per second of audio to transcribe. */
  audioSecond: price.optional(),
  /** Per image of the answer, where `imageVariants` has no other price for it. */
  generatedImage: price.optional(),
};

/** The name of a price of the catalog that is one decimal string. */
export type PriceName = keyof typeof onePrices;

/** The members of `Prices` that are one price, in the order of files and lists. */
export const PRICE_NAMES = Object.keys(onePrices) as [PriceName, ...PriceName[]];

export const pricesShape = {
  ...onePrices,
  /** Per image of the answer, by quality and size. The first that an image may be applies; the vendor's default is the first. */
  imageVariants: z.array(z.strictObject(variantShape)).min(1).optional(),
};

export const pricesSchema = z.strictObject(pricesShape);
export const tierShape = { minPromptTokens: tokens, ...pricesShape };
const tiers = z.array(z.strictObject(tierShape)).min(1);

export const priceChangeShape = {
  /** `YYYY-MM-DD`. */
  from: day,
  prices: pricesSchema,
  /** In ascending order of `minPromptTokens`. */
  priceTiers: tiers.optional(),
};

export const priceChangeSchema = z.strictObject(priceChangeShape);

const termsShape = {
  /** Null if no price is known. The endpoint is then not served (docs/api/models.md). */
  prices: pricesSchema.nullable(),
  /** In ascending order of `minPromptTokens`. */
  priceTiers: tiers.optional(),
  /** Replacements of `prices` and `priceTiers`, in ascending order of `from`. */
  priceChanges: z.array(priceChangeSchema).min(1).optional(),
};

/** The schema of an endpoint's price fields in files. */
export const priceTermsSchema = z.strictObject(termsShape);

export const takesShape = {
  /** Accepts values other than the default of `temperature`, `top_p` and `top_k`. */
  sampling: flag,
  /** Continues a last message of the assistant. */
  prefill: flag,
  /** Accepts a tool choice that forces a call. */
  forcedTools: flag,
  reasoning: z.enum(REASONING_HABITS).optional(),
  /** Chooses by itself how much to reason (`thinking.type: adaptive`). */
  adaptive: flag,
  /** Accepts a budget of reasoning in tokens (`thinking.type: enabled`). */
  budgets: flag,
  /** The effort that applies to a request without one. */
  defaultEffort: z.string().min(1).optional(),
  /** Accepts system messages after the first turn. */
  midConversationSystem: flag,
  /** The fewest tokens of a prompt that its vendor caches. */
  cacheMinTokens: tokens.optional(),
  /** Accepts marks of where a cached prompt ends. */
  cacheBreakpoints: flag,
  /** Guarantees a JSON schema by itself, without a tool that stands for it. */
  structuredOutput: flag,
};

export const takesSchema = z.strictObject(takesShape);

export const endpointShape = {
  /** A `ProviderRecord.slug`. */
  provider: z.string().regex(SLUG),
  /** The provider's name of the model. */
  name: z.string().min(1),
  /** The only format in which it is served. Used by catalogs of version 0.1; superseded by `formats`. */
  format: formatSchema.optional(),
  /**
   * The formats in which it is served, the one that requests in other formats prefer first. Absent: all formats of its
   * provider. OpenAI serves some models only in its Responses format.
   */
  formats: formats.optional(),
  /** Formats in which the model accepts tools only while it does not reason. */
  noToolsWhileReasoning: formats.optional(),
  /** Tokens; for an embedding model those of one text. */
  contextLength: tokens,
  /** Maximum tokens of a prompt if fewer than `contextLength`. */
  maxPromptTokens: tokens.optional(),
  /** Tokens; null if the vendor states none. */
  maxOutputTokens: tokens.nullable().default(null),
  ...termsShape,
  /** Input modalities and parameters of the model that this endpoint does not accept. */
  lacks: z.array(z.string().min(1)).optional(),
  /** Members of the model's `takes` that have another value here. */
  takesHere: takesSchema.optional(),
  /** Only the price map lists it, so that a refresh without one does not miss it. */
  fromPriceMap: z.literal(true).optional(),
  /** The first day, `YYYY-MM-DD`, on which a refresh did not find it at the source. */
  missingSince: day.optional(),
  /** Not served from this day on, `YYYY-MM-DD`. */
  expires: day.optional(),
};
export const endpointSchema = z.strictObject(endpointShape);

export const reasoningShape = {
  /** Supported values of `reasoning_effort`, weakest first. */
  efforts: z.array(z.string().min(1)).min(1).optional(),
  /** A budget in tokens can be set, within the bounds that the vendor states. */
  budgetTokens: z.strictObject({ min: z.int().min(0).optional(), max: tokens.optional() }).optional(),
  /** Reasoning can be switched off. */
  canDisable: z.literal(true).optional(),
  /** The model reasons only if a request asks for it. */
  onlyWhenTold: z.literal(true).optional(),
};
export const reasoningSchema = z.strictObject(reasoningShape);

export const modelShape = {
  /** `author/name`, lower-case, including a variant such as `:free`. */
  id: z.string().max(MODEL_ID_CHARS).regex(MODEL_ID, "not of the form author/name"),
  name: z.string().min(1),
  description: z.string().nullable().default(null),
  /** Release date, `YYYY-MM-DD`. */
  released: day.nullable().default(null),
  inputModalities: z.array(z.enum(["text", "image", "file", "audio", "video"])).min(1),
  /** Those of conversations; or only one of `SOLE_OUTPUTS`, or `image`, which have endpoints of their own. */
  outputModalities: z.union([
    z.array(z.enum(["text", "image", "audio", "video"])).min(1),
    z.tuple([z.enum(SOLE_OUTPUTS)]),
  ]),
  tokenizer: z.string().nullable().default(null),
  /** Names of the request parameters that it accepts, as in `supported_parameters`. */
  supportedParameters: z.array(z.string().min(1)),
  /** Absent if it does not reason or its source does not state how to control it. */
  reasoning: reasoningSchema.optional(),
  /** Absent if nothing is known. */
  takes: takesSchema.optional(),
  /** Withdrawn from this day on, `YYYY-MM-DD`: no provider serves it. */
  expires: day.nullable().default(null),
  endpoints: z.array(endpointSchema).min(1),
};
export const modelSchema = z.strictObject(modelShape);
