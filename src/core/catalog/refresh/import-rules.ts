import { z } from "zod";
import { PROVIDER_FORMATS } from "../../../wire/conversation/traits/format-name.ts";
import { reasoningShape, takesSchema } from "../records/model-schema.ts";
import type { PriceChange } from "../records/records.ts";
import { sourceModelSchema } from "./source-models-dev.ts";

/**
 * The schema of `catalog/import-rules.json`: decisions about a source's names. The importer matches names. The file decides which names
 * mean the same model, and is reviewed like code.
 */

const providerRule = z.strictObject({
  /** The provider's slug here, except for entries that `byPackage` assigns to another provider. */
  slug: z.string(),
  /** Slugs by client package, for entries with another format than the rest of their provider; null omits them. */
  byPackage: z.record(z.string(), z.string().nullable()).optional(),
  /** Author of names that neither contain an author nor match `nameBeginnings`. */
  author: z.string().optional(),
  /** Paths before the organisation, such as `@cf/`. */
  stripPrefixes: z.array(z.string()).optional(),
  /** Suffixes that a host adds to a name without changing the model, such as `-TEE`. */
  stripSuffixes: z.array(z.string()).optional(),
  /** Organisations by prefixes of names, such as `openai-` or `anthropic.`. */
  orgPrefixes: z.record(z.string(), z.string()).optional(),
  /** The host writes `4p5` for `4.5`. */
  decimalP: z.literal(true).optional(),
  /** The provider has an embeddings endpoint that the gateway can call. Otherwise its embedding models are omitted. */
  embeddings: z.literal(true).optional(),
  /**
   * Prefixes that name regions. If a model has several names, the one whose prefix comes first in `keep` is used. Prefixes that are not in
   * `keep` are omitted.
   */
  regions: z.strictObject({ keep: z.array(z.string()), all: z.array(z.string()) }).optional(),
});

const authorRule = z.strictObject({
  /** Source provider that is the author's own API. Its facts take precedence. */
  source: z.string().optional(),
  tokenizer: z.string().optional(),
  /** The author's reasoning models reason only if a request says so, unless their `takes` state otherwise. */
  reasonsOnlyWhenTold: z.literal(true).optional(),
  /** The author writes the version 5.5 as `5-5`. Ids have the dot. */
  dottedVersions: z.literal(true).optional(),
  /** Prefixes that repeat the author in the name. */
  stripPrefixes: z.array(z.string()).optional(),
});

/** A vendor's prices of writing to its cache, as factors of the prompt's price. */
const cacheWriteRule = z.strictObject({
  /** Compared with the source's price. If they differ, the price for an hour is unknown. */
  fiveMinutes: z.string(),
  hour: z.string(),
  /** The vendor's page, and its date. */
  source: z.string(),
});

/** Prices that the source lacks. They replace the source's. */
const chargesRule = z.strictObject({
  /** Slug of the provider here. */
  provider: z.string(),
  /** A regular expression on the provider's names of models. */
  names: z.string(),
  /** Validated together with the model. */
  prices: z.record(z.string(), z.string()),
  /** The vendor's page, and its date. */
  source: z.string(),
});

/** Input modalities that endpoints accept and the source does not list. */
const inputsRule = z.strictObject({
  /** Slug of the provider here. */
  provider: z.string(),
  /** A regular expression on the provider's names of models. */
  names: z.string(),
  /** Applies only to endpoints that accept this modality too. */
  with: z.string(),
  adds: z.array(z.string()).min(1),
  /** The vendor's page, and its date. */
  source: z.string(),
});

/** The formats of some of a provider's endpoints. The first rule whose names match applies. */
const formatsRule = z.strictObject({
  /** A regular expression on the provider's names of models. */
  names: z.string(),
  /** The preferred format for requests in other formats comes first. */
  formats: z.array(z.enum(PROVIDER_FORMATS)).min(1),
  /** Formats in which tools are accepted only while the model does not reason. */
  noToolsWhileReasoning: z.array(z.enum(PROVIDER_FORMATS)).min(1).optional(),
  /** The vendor's page, and its date. */
  source: z.string(),
});

const pricesRule = z.looseObject({ prompt: z.string(), completion: z.string() });

/** A price change. Its prices are validated together with the model. */
const priceChange = z.strictObject({
  from: z.string(),
  prices: pricesRule,
  priceTiers: z.array(pricesRule.extend({ minPromptTokens: z.int() })).optional(),
});

const servedAlsoRule = z.strictObject({
  /** The source entry, `provider/name`, whose facts and prices apply. */
  like: z.string(),
  id: z.string(),
  provider: z.string(),
  name: z.string(),
});

/** A model as the catalog has it. It is validated like an imported one. */
const furtherRule = z.strictObject({
  /** The vendor's page with the price, and its date. */
  source: z.string(),
  model: z.looseObject({ id: z.string() }),
});

/** A provider of the price map. */
const priceMapProvider = z.strictObject({
  /** The same provider in models.dev, whose rule decides about names. */
  source: z.string(),
  /** Prefix of the map's names that is not part of the provider's. */
  stripPrefix: z.string().optional(),
  /** A regular expression for names to leave out. */
  ignore: z.string().optional(),
  /** Why `ignore` leaves them out. */
  why: z.string().optional(),
  /** Names that are taken although the map has no source for them. */
  unsourced: z.array(z.string()).optional(),
  /** A regular expression for names whose `max_input_tokens` does not include the answer. */
  promptOnly: z.string().optional(),
  /** Only models that models.dev lists nowhere: the map keeps what a host has stopped to serve. */
  onlyNew: z.literal(true).optional(),
  /** Client packages by regular expressions on names, as models.dev has them in `provider.npm`. */
  packages: z.array(z.strictObject({ names: z.string(), npm: z.string() })).optional(),
});

/** How the price map is read. */
const priceMapRules = z.strictObject({
  /** Kinds of entries that are read, as in `mode`. */
  modes: z.array(z.string()).min(1),
  /** By `litellm_provider`. If two entries have the same name, the first one in the map counts. */
  providers: z.record(z.string(), priceMapProvider),
  /** Providers that are deliberately not read, by the reason. */
  ignoredProviders: z.record(z.string(), z.array(z.string())),
  /** How words of a name are written in the name of a model that only the map lists. A word that ends in `-` joins the next. */
  words: z.record(z.string(), z.string()),
});

/** Statements about what the models of a family take. */
const takesRule = z.strictObject({
  /** A regular expression on model ids. */
  models: z.string(),
  takes: takesSchema,
  /** Overrides the claims of the price map. If absent, a rule only adds what is not claimed. */
  corrects: z.literal(true).optional(),
  /** The vendor's page, and its date. */
  source: z.string(),
});

/** How to control the reasoning of models for which no source says it. */
const reasoningLikeRule = z.strictObject({
  /** A regular expression on model ids. */
  models: z.string(),
  /** The id of an earlier model of the line, whose control they get. */
  like: z.string().optional(),
  /** The control, where the vendor documents it. */
  reasoning: z.strictObject(reasoningShape).optional(),
  /** The vendor's page and its date, or why the earlier model is the same. */
  why: z.string(),
});

const importRulesSchema = z.strictObject({
  /** Source providers that are imported, by the source's id. Earlier ones take precedence on a model's facts. */
  providers: z.record(z.string(), providerRule),
  /** Source providers that are deliberately not imported, with the reason. */
  ignoredProviders: z.record(z.string(), z.string()),
  authors: z.record(z.string(), authorRule),
  /** Authors by other spellings. */
  organisations: z.record(z.string(), z.string()),
  /** Authors by beginnings of names, for names without an organisation. The longest match applies. */
  nameBeginnings: z.record(z.string(), z.string()),
  /** Regular expressions for the `author/name` of models that are not chat models. */
  notChat: z.array(z.string()),
  /** Regular expressions that match the `author/name` of embedding models. The source lists them as text models. */
  embedding: z.array(z.string()),
  /** Model ids by source entry, `provider/name`, for entries whose name is misleading; null omits the entry. */
  entries: z.record(z.string(), z.string().nullable()),
  /** Model ids by normalized `author/name`, for two names of one model. */
  sameModel: z.record(z.string(), z.string()),
  /** Formats of endpoints that are not served in all formats of their provider, by its slug. */
  formats: z.record(z.string(), z.array(formatsRule)),
  inputs: z.array(inputsRule),
  priceMap: priceMapRules,
  /** What models take, by family. Later rules override earlier ones. */
  takes: z.array(takesRule),
  /** For models that only the price map lists. The first matching rule applies. */
  reasoningLike: z.array(reasoningLikeRule),
  /** Endpoints that the source does not list, with the facts of another entry. */
  servedAlso: z.array(servedAlsoRule),
  /** Prices of the one-hour cache by author, which the source lacks. */
  cacheWrite1h: z.record(z.string(), cacheWriteRule),
  /** Charges that are not per token, except of embedding models. The last matching rule applies. */
  charges: z.array(chargesRule),
  /** Prices that vendors have announced, by provider slug and its name of the model. The source has only current prices. */
  priceChanges: z.record(z.string(), z.record(z.string(), z.array(priceChange).min(1))),
  /** Entries that the source lacks, by source provider and in the source's format; numbers are text. */
  notListed: z.record(z.string(), z.array(sourceModelSchema)),
  /**
   * Models that are not for conversations, and that the source lists without prices or not at all. Once the catalog has the id from another
   * source, that entry is used.
   */
  further: z.array(furtherRule),
});

export type ProviderRule = z.infer<typeof providerRule>;
export type PriceMapProvider = z.infer<typeof priceMapProvider>;
export type PriceMapRules = z.infer<typeof priceMapRules>;
export type ImportRules = Omit<z.infer<typeof importRulesSchema>, "priceChanges"> & {
  readonly priceChanges: Readonly<Record<string, Readonly<Record<string, readonly PriceChange[]>>>>;
};

/** Parses `catalog/import-rules.json`. Throws if it is invalid: the file ships with the program. */
export function parseImportRules(text: string): ImportRules {
  return importRulesSchema.parse(JSON.parse(text)) as ImportRules;
}
