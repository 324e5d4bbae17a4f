import { z } from "zod";
import { FORMAT_NAMES } from "../../wire/conversation/format-name.ts";
import type { PriceChange } from "./records.ts";
import { sourceModelSchema } from "./source-models-dev.ts";

/**
 * What people decided about a source's names: `catalog/import-rules.json`. The importer knows how to match names;
 * which names mean the same model is classification and stands there, to be reviewed like code.
 */

const providerRule = z.strictObject({
  /** Our provider; the others of this source provider's entries go by `byPackage`. */
  slug: z.string(),
  /** Entries that speak another format than the rest of their provider, by client package; null leaves them out. */
  byPackage: z.record(z.string(), z.string().nullable()).optional(),
  /** Author of names that neither carry one nor tell it. */
  author: z.string().optional(),
  /** Path before the organisation, such as `@cf/`. */
  stripPrefixes: z.array(z.string()).optional(),
  /** What a host adds to a name without changing the model, such as `-TEE`. */
  stripSuffixes: z.array(z.string()).optional(),
  /** Ways an organisation is put before the name, such as `openai-` or `anthropic.`. */
  orgPrefixes: z.record(z.string(), z.string()).optional(),
  /** The host writes `4p5` for `4.5`. */
  decimalP: z.literal(true).optional(),
  /** It has an embeddings endpoint that can be addressed; its embedding models are left out otherwise. */
  embeddings: z.literal(true).optional(),
  /** Prefixes that tell regions: of one model's names the first listed wins, names with any other are left out. */
  regions: z.strictObject({ keep: z.array(z.string()), all: z.array(z.string()) }).optional(),
});

const authorRule = z.strictObject({
  /** Source provider whose word on the model is first: the author's own API. */
  source: z.string().optional(),
  tokenizer: z.string().optional(),
  /** The author's models that reason do so only where a request asks for it. */
  reasonsOnlyWhenTold: z.literal(true).optional(),
  /** Prefixes that repeat the author in the name. */
  stripPrefixes: z.array(z.string()).optional(),
});

/** What a vendor charges for its cache beside the prompt: factors on the prompt's price. */
const cacheWriteRule = z.strictObject({
  /** Held against the price that the source gives: where it is another, nothing is known of the hour. */
  fiveMinutes: z.string(),
  hour: z.string(),
  /** Where the vendor says so, and of which day. */
  source: z.string(),
});

/** What a vendor charges that the source does not say: prices that are put over the source's. */
const chargesRule = z.strictObject({
  /** Our provider. */
  provider: z.string(),
  /** A regular expression on the names there. */
  names: z.string(),
  /** What is wrong with them shows when the model is checked. */
  prices: z.record(z.string(), z.string()),
  /** Where the vendor says so, and of which day. */
  source: z.string(),
});

/** Input modalities that deployments take and the source does not list. */
const inputsRule = z.strictObject({
  /** Our provider. */
  provider: z.string(),
  /** A regular expression on the names there. */
  names: z.string(),
  /** Only deployments that take this as well. */
  with: z.string(),
  adds: z.array(z.string()).min(1),
  /** Where the vendor says so, and of which day. */
  source: z.string(),
});

/** The formats that some of a provider's deployments are served in; the first rule whose names fit holds. */
const formatsRule = z.strictObject({
  /** A regular expression on the names there. */
  names: z.string(),
  /** The one that requests of other formats prefer comes first. */
  formats: z.array(z.enum(FORMAT_NAMES)).min(1),
  /** Those of them in which tools are taken only while the model does not reason. */
  noToolsWhileReasoning: z.array(z.enum(FORMAT_NAMES)).min(1).optional(),
  /** Where the vendor says so, and of which day. */
  source: z.string(),
});

const pricesRule = z.looseObject({ prompt: z.string(), completion: z.string() });

/** What is wrong with its prices shows when the model is checked. */
const priceChange = z.strictObject({
  from: z.string(),
  prices: pricesRule,
  priceTiers: z.array(pricesRule.extend({ minPromptTokens: z.int() })).optional(),
});

const servedAlsoRule = z.strictObject({
  /** Source entry, `provider/name`, whose facts and prices hold. */
  like: z.string(),
  id: z.string(),
  provider: z.string(),
  name: z.string(),
});

const importRulesSchema = z.strictObject({
  /** Source providers we take, by the source's id. The order is who is believed first on a model's facts. */
  providers: z.record(z.string(), providerRule),
  /** Source providers left out on purpose, with the reason. */
  ignoredProviders: z.record(z.string(), z.string()),
  authors: z.record(z.string(), authorRule),
  /** Other spellings of an author. */
  organisations: z.record(z.string(), z.string()),
  /** Beginnings of names that tell the author where nothing else does; the longest wins. */
  nameBeginnings: z.record(z.string(), z.string()),
  /** Regular expressions on `author/name` of what is no chat model. */
  notChat: z.array(z.string()),
  /** The same of embedding models; the source says only that they make text. */
  embedding: z.array(z.string()),
  /** Source entries, `provider/name`, whose model is not what its name says; null leaves an entry out. */
  entries: z.record(z.string(), z.string().nullable()),
  /** `author/name` as it comes out of normalising, and the id of the same model. */
  sameModel: z.record(z.string(), z.string()),
  /** Formats of single deployments, by our provider: those that they are served in, where it is not all that the provider speaks. */
  formats: z.record(z.string(), z.array(formatsRule)),
  inputs: z.array(inputsRule),
  /** Offers the source does not list. */
  servedAlso: z.array(servedAlsoRule),
  /** By author: the price of the longer cache, which the source does not have. */
  cacheWrite1h: z.record(z.string(), cacheWriteRule),
  /** What deployments charge beside tokens; embedding models aside. The later of two rules wins. */
  charges: z.array(chargesRule),
  /** Prices that vendors have announced, by our provider and the name there; the source has those of today only. */
  priceChanges: z.record(z.string(), z.record(z.string(), z.array(priceChange).min(1))),
  /** Entries that the source lacks, by its provider and as it would write them; numbers are text. */
  notListed: z.record(z.string(), z.array(sourceModelSchema)),
});

export type ProviderRule = z.infer<typeof providerRule>;
export type ImportRules = Omit<z.infer<typeof importRulesSchema>, "priceChanges"> & {
  readonly priceChanges: Readonly<Record<string, Readonly<Record<string, readonly PriceChange[]>>>>;
};

/** Reads `catalog/import-rules.json`. Throws on a fault: the file ships with the program. */
export function parseImportRules(text: string): ImportRules {
  return importRulesSchema.parse(JSON.parse(text)) as ImportRules;
}
