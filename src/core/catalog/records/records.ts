import type { z } from "zod";
import type { ProviderFormat } from "../../../wire/conversation/traits/format-name.ts";
import type {
  endpointSchema,
  modelSchema,
  priceChangeSchema,
  pricesSchema,
  reasoningSchema,
  takesSchema,
} from "./model-schema.ts";
import type { familySchema, TakenParameter, TakenParameters } from "./profile-schema.ts";
import type { chargesSchema, providerSchema, quirksSchema } from "./provider-schema.ts";

/** The type of what a schema of files describes. Records are read-only, and an absent field is not there. */
export type Stored<T> = T extends readonly (infer Item)[]
  ? readonly Stored<Item>[]
  : T extends object
    ? { readonly [Name in keyof T]: Stored<Exclude<T[Name], undefined>> }
    : T;

/** A company or host that serves models: a row of `catalog/providers.json`. Unknown facts are null. */
export interface ProviderRecord extends Stored<z.infer<typeof providerSchema>> {
  /** It fails when a request asks for it. Its failures do not count in its health. */
  readonly failsOnDemand?: true;
  /** Fields and types of tools that the operator wants to be sent with platform keys, whatever they cost, except to free models. */
  readonly sends?: { readonly fields: readonly string[]; readonly tools: readonly string[] };
  /** The parameters that it takes according to the operator. They take precedence over the catalog. */
  readonly takesByOperator?: TakenParameters;
  /** The operator's own host. It makes no charges unknown to the operator, and gets every field. */
  readonly isOwnHost?: true;
}

/** What request fields and tools cost: of a format, changed and completed by the rules of a provider. */
export interface ChargeRules extends Stored<z.infer<typeof chargesSchema>> {}

/** What the models of a family take: an element of `catalog/profiles.json`. */
export interface FamilyProfile extends Stored<z.infer<typeof familySchema>> {}

export interface ProviderQuirks extends Stored<z.infer<typeof quirksSchema>> {}

/**
 * US dollars per token, as decimal strings without exponent or trailing zeros, with at most 18 places. If a price is absent, another one
 * applies: `prompt` for cached and audio input, `completion` for reasoning.
 */
export interface Prices extends Stored<z.infer<typeof pricesSchema>> {
  /** Of the whole request, instead of all other prices: what its provider reported. Only in records of generations. */
  readonly reported?: string;
  /** Per request, for services that have no other price. Only in records of generations. */
  readonly surcharge?: string;
}

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
export interface PriceChange extends Stored<z.infer<typeof priceChangeSchema>> {}

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

/** One provider's service of one model. */
export interface ModelEndpoint extends Stored<z.infer<typeof endpointSchema>> {
  /** `contextLength` is a default that such hosts usually support, because neither catalog nor operator states it. */
  readonly isWindowAssumed?: true;
  /** `prices` are 0 because the operator has given none, and nothing says that it is free. Only of models of the configuration. */
  readonly isPriceUnknown?: true;
  /** Resolved from all that is known of it (`addProfiles`); not stored in files. Absent for endpoints that are not of conversations. */
  readonly profile?: EndpointProfile;
  /** What this endpoint takes of parameters according to the operator, which precedes everything else. Not stored in files. */
  readonly takesByOperator?: TakenParameters;
}

/** How a model's reasoning can be controlled. Absent members are not supported. */
export interface ReasoningControl extends Stored<z.infer<typeof reasoningSchema>> {}

/** What a model's own API accepts beside the parameters of `supportedParameters`. An absent member is unknown. */
export interface ModelTakes extends Stored<z.infer<typeof takesSchema>> {}

type StoredModel = Stored<z.infer<typeof modelSchema>>;

/** A model with its endpoints: an element of a file of `catalog/models/`. */
export interface ModelRecord extends Omit<StoredModel, "inputModalities" | "outputModalities" | "endpoints"> {
  readonly inputModalities: readonly string[];
  readonly outputModalities: readonly string[];
  /** What the model takes of parameters according to the operator, which precedes the catalog. Not stored in files. */
  readonly takesByOperator?: TakenParameters;
  /** The id of the catalog's model that the operator has copied, to whose families it belongs. */
  readonly copyOf?: string;
  /** Defined by the operator without parameters and reasoning, which are therefore unknown. */
  readonly isUndescribed?: true;
  /** Defined by the operator without input modalities, which are therefore unknown. */
  readonly hasUnknownInputs?: true;
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
