import { cleanName } from "../../../base/text/plain-text.ts";
import { parseDay } from "../../../base/time/time.ts";
import { compareText } from "../records/format-catalog.ts";
import { isFreeId } from "../records/is-free-id.ts";
import { completeModel, isSoundModel } from "../records/is-sound-model.ts";
import type { ModelEndpoint, ModelRecord, ModelTakes, Prices, ReasoningControl } from "../records/records.ts";
import {
  addCacheHour,
  addCharges,
  type ImportedPrices,
  importEmbeddingPrices,
  importPrices,
} from "./import-prices.ts";
import type { ImportRules, ProviderRule } from "./import-rules.ts";
import { alignReasoning, inheritReasoning, TakesReader } from "./import-takes.ts";
import { type MergedModel, mergeSources } from "./merge-sources.ts";
import { type ParsedName, parseName, spellingKey } from "./model-names.ts";
import { readModelsDev, type SourceModel } from "./source-models-dev.ts";
import { readPriceMap } from "./source-price-map.ts";

/** The result of an import, or why the source was rejected. */
export type Imported =
  | {
      readonly models: readonly ModelRecord[];
      readonly problems: readonly string[];
      readonly omitted: Omitted;
    }
  | { readonly rejected: string };

/** The number of omitted entries of the source by reason. */
type Omitted = Readonly<Record<string, number>>;

/** The texts that an import reads. */
export interface ImportSources {
  /** The list of models.dev. */
  readonly list: string;
  /** The price map of litellm, and the day, `YYYY-MM-DD`, on which its entries must not have been retired. */
  readonly priceMap?: { readonly text: string; readonly today: string } | undefined;
  /** Models of a catalog whose `takes` apply if the sources claim nothing: models.dev does not say what models take. */
  readonly known?: readonly ModelRecord[];
}

/** A model as a provider of the source lists it, and the rule for that provider. */
interface ListedModel {
  readonly sourceProvider: string;
  readonly source: MergedModel;
  readonly rule: ProviderRule;
}

/** One entry of the source that becomes a model endpoint. */
interface SourceEntry {
  readonly sourceProvider: string;
  readonly provider: string;
  readonly source: MergedModel;
  /** The provider's name of the model: the source's, except for entries of `servedAlso`. */
  readonly name: string;
  readonly author: string;
  /** `author/name`, in the spelling of this entry. */
  readonly id: string;
  /** The rules name the id, so that its spelling takes precedence. */
  readonly decided: boolean;
  readonly regionRank: number | null;
  /** It returns vectors, although the source lists text as its output. */
  readonly isEmbedding: boolean;
  /** From `servedAlso`: the facts come from another entry, so that other entries of the model take precedence. */
  readonly borrowed: boolean;
}

/** The facts of a model with which its entries are compared. */
interface ModelShape {
  readonly id: string;
  readonly reference: SourceEntry;
  readonly outputModalities: readonly string[];
  /** Input modalities and parameters. */
  readonly features: readonly string[];
  readonly takes: ModelTakes | undefined;
}

interface Work {
  readonly rules: ImportRules;
  readonly notChat: readonly RegExp[];
  readonly embedding: readonly RegExp[];
  readonly takes: TakesReader;
  readonly problems: string[];
  readonly omitted: Record<string, number>;
}

const MODALITIES: Readonly<Record<string, string>> = { pdf: "file" };
const MODALITY_ORDER = ["text", "image", "file", "audio", "video"];
const STRUCTURED_OUTPUT = ["response_format", "structured_outputs"];
const SPELLING_SOURCE = "openrouter";
/** Parameters that a model without sampling rejects. */
const SAMPLING: ReadonlySet<string> = new Set(["temperature", "top_p"]);

/** Converts the text of models.dev's list alone to model records. */
export function importModelsDev(text: string, rules: ImportRules): Imported {
  return importModels({ list: text }, rules);
}

/**
 * Converts the texts of the sources to model records. Pure: the same texts and rules give the same records in the same order. A model that
 * several providers serve becomes one record if its names differ only in spelling, or if the rules list them as one model.
 */
export function importModels({ list, priceMap, known = [] }: ImportSources, rules: ImportRules): Imported {
  const source = readModelsDev(list);
  if ("rejected" in source) return source;
  const priced = priceMap === undefined ? null : readPriceMap(priceMap.text, rules.priceMap, priceMap.today);
  if (priced !== null && "rejected" in priced)
    return { rejected: `with a price map that ${priced.rejected}` };
  const work: Work = {
    rules,
    notChat: rules.notChat.map((pattern) => new RegExp(pattern)),
    embedding: rules.embedding.map((pattern) => new RegExp(pattern)),
    takes: new TakesReader(rules, known),
    problems: [...source.problems, ...(priced?.problems ?? [])],
    omitted: { ...priced?.omitted },
  };
  const listed = source.providers.map(({ id, models }) => ({ id, models: addNotListed(id, models, rules) }));
  const providers = priced === null ? listed : mergeSources(listed, priced.providers);
  const entries = providers.flatMap((provider) => {
    const rule = rules.providers[provider.id];
    if (rule === undefined) return reportUnknown(provider.id, provider.models.length, work);
    return provider.models.flatMap((model) =>
      readEntries({ sourceProvider: provider.id, source: model, rule }, work),
    );
  });
  const groups = groupEntries(entries).map((group) => dropOldModels(group, work));
  const built = groups.filter((group) => group.length > 0).map((group) => buildModel(group, work));
  const imported = inheritReasoning(built, rules);
  // A source without any model stays empty, so that it is rejected.
  const further = imported.length === 0 ? [] : listFurther(imported, rules);
  const models = [...imported, ...further].filter((model) => checkModel(model, work));
  return {
    models: models.sort((a, b) => compareText(a.id, b.id)),
    problems: work.problems,
    omitted: work.omitted,
  };
}

/** Drops entries of hosts in the price map for models that models.dev has at other providers. */
function dropOldModels(group: readonly SourceEntry[], work: Work): SourceEntry[] {
  const isKnown = group.some(({ source }) => source.isFromPriceMap !== true);
  const kept = group.filter(({ source }) => !(isKnown && source.isOnlyIfNew && source.isFromPriceMap));
  if (kept.length < group.length)
    countOmitted(work, "price map, older model of a host", group.length - kept.length);
  return kept;
}

/** Returns a provider's models, including models that the source lacks. Once the source lists such a model, its entry is used. */
function addNotListed(
  provider: string,
  models: readonly SourceModel[],
  { notListed }: ImportRules,
): readonly SourceModel[] {
  const listed = new Set(models.map(({ id }) => id));
  return [...models, ...(notListed[provider] ?? []).filter(({ id }) => !listed.has(id))];
}

/** Lists the models of the rules that the source does not have. */
function listFurther(imported: readonly ModelRecord[], { further }: ImportRules): ModelRecord[] {
  const known = new Set(imported.map(({ id }) => id));
  return further.flatMap(({ model }) =>
    known.has(model.id) ? [] : completeModel(model as Partial<ModelRecord>),
  );
}

/** Whether a model is valid. An invalid one is reported and omitted, and does not fail the import. */
function checkModel(model: ModelRecord, work: Work): boolean {
  const { id } = model;
  if (isSoundModel(model)) return true;
  work.problems.push(`${id}: is not a valid model record; omitted`);
  countOmitted(work, "unsound");
  return false;
}

function reportUnknown(provider: string, models: number, work: Work): [] {
  countOmitted(work, "provider not imported", models);
  if (work.rules.ignoredProviders[provider] === undefined) {
    work.problems.push(
      `${provider}: unknown provider with ${models} models; add it to providers.json and import-rules.json to take them`,
    );
  }
  return [];
}

function countOmitted(work: Work, reason: string, count = 1): [] {
  work.omitted[reason] = (work.omitted[reason] ?? 0) + count;
  return [];
}

function readEntries(listed: ListedModel, work: Work): SourceEntry[] {
  const { source, rule } = listed;
  if (source.status === "deprecated") return countOmitted(work, "deprecated");
  if (!source.modalities.output.includes("text") || !source.modalities.input.includes("text")) {
    return countOmitted(work, "no text in or out");
  }
  if (toTokens(source.limit.context) === null) return countOmitted(work, "context length unknown");
  const provider = findProvider(source, rule);
  if (provider === null) return countOmitted(work, "another format than its provider's");
  const entry = nameEntry(listed, provider, work);
  if (entry === null) return [];
  return [entry, ...listServedAlso(entry, work.rules)];
}

function findProvider(source: SourceModel, rule: ProviderRule): string | null {
  const client = source.provider?.npm;
  if (client === undefined) return rule.slug;
  return rule.byPackage?.[client] ?? null;
}

function nameEntry(
  { sourceProvider, source, rule }: ListedModel,
  provider: string,
  work: Work,
): SourceEntry | null {
  const sourceName = `${sourceProvider}/${source.id}`;
  const parsed = parseName(source.id, rule, work.rules);
  if (parsed === "region") return omit(work, "for one region");
  const named = work.rules.entries[sourceName];
  if (named === null) return omit(work, "by rule");
  const id = named ?? (parsed === null ? null : identify(parsed, work.rules));
  const matches = (pattern: RegExp) => pattern.test(id ?? source.id);
  if (work.notChat.some(matches)) return omit(work, "not a chat model");
  const isEmbedding = work.embedding.some(matches);
  if (isEmbedding && rule.embeddings !== true) return omit(work, "no embeddings endpoint known");
  if (id === null) {
    work.problems.push(`${sourceName}: unknown author; add it to import-rules.json`);
    return omit(work, "author unknown");
  }
  const decided =
    named !== undefined || (parsed !== null && id !== `${parsed.author}/${parsed.name}${parsed.variant}`);
  const author = id.slice(0, id.indexOf("/"));
  return {
    sourceProvider,
    provider,
    source,
    name: source.id,
    author,
    id,
    decided,
    regionRank: parsed?.regionRank ?? null,
    isEmbedding,
    borrowed: false,
  };
}

function identify(parsed: ParsedName, rules: ImportRules): string {
  const plain = `${parsed.author}/${parsed.name}`;
  return (rules.sameModel[plain] ?? plain) + parsed.variant;
}

function omit(work: Work, reason: string): null {
  countOmitted(work, reason);
  return null;
}

function listServedAlso(entry: SourceEntry, rules: ImportRules): SourceEntry[] {
  return rules.servedAlso
    .filter((also) => also.like === `${entry.sourceProvider}/${entry.source.id}`)
    .map((also) => ({
      ...entry,
      provider: also.provider,
      name: also.name,
      id: also.id,
      decided: true,
      borrowed: true,
    }));
}

/** Groups the entries of one model. Their ids differ only in spelling. */
function groupEntries(entries: readonly SourceEntry[]): SourceEntry[][] {
  const groups = new Map<string, SourceEntry[]>();
  for (const entry of entries) {
    const key = `${entry.author}/${spellingKey(entry.id.slice(entry.author.length + 1))}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [entry]);
    else group.push(entry);
  }
  return [...groups.values()];
}

function buildModel(group: readonly SourceEntry[], work: Work): ModelRecord {
  const { rules } = work;
  const ranked = [...group].sort(
    (a, b) => rankSource(a, rules) - rankSource(b, rules) || compareText(a.name, b.name),
  );
  const reference = ranked[0] as SourceEntry;
  const id = spellId(ranked, rules);
  const inputModalities = agreeOn(ranked, (entry) => inputsOf(entry, rules), MODALITY_ORDER);
  const authors = ranked.find((entry) => isAuthors(entry, rules) && entry.source.takes !== undefined);
  const takes = work.takes.readModel(id, authors?.source.takes);
  const agreed = agreeOn(ranked, parametersOf);
  const parameters = takes?.sampling === false ? agreed.filter((name) => !SAMPLING.has(name)) : agreed;
  const outputModalities = reference.isEmbedding
    ? ["embedding"]
    : sortByOrder(reference.source.modalities.output, MODALITY_ORDER);
  const control = readReasoning(reference.source, rules.authors[reference.author]);
  const reasoning = alignReasoning(control, takes);
  const shape: ModelShape = {
    id,
    reference,
    outputModalities,
    features: [...inputModalities, ...parameters],
    takes,
  };
  return {
    id,
    name: nameModel(id, ranked, rules),
    description: null,
    released: ranked.map((entry) => readDay(entry.source.release_date)).find((day) => day !== null) ?? null,
    inputModalities,
    outputModalities,
    tokenizer: rules.authors[reference.author]?.tokenizer ?? null,
    supportedParameters: parameters,
    ...(reasoning !== null && parameters.includes("reasoning") ? { reasoning } : {}),
    ...(takes === undefined ? {} : { takes }),
    expires: null,
    endpoints: buildEndpoints(shape, ranked, work),
  };
}

/** Returns the precedence of an entry's facts: first the author's own API, then source providers in the order of the rules. */
function rankSource(entry: SourceEntry, rules: ImportRules): number {
  if (entry.borrowed) return Number.MAX_SAFE_INTEGER;
  const order = Object.keys(rules.providers);
  const rank = isAuthors(entry, rules) ? -1 : order.indexOf(entry.sourceProvider);
  // The price map knows fewer facts than models.dev.
  return entry.source.isFromPriceMap === true ? rank + order.length + 1 : rank;
}

/**
 * Returns the id in the spelling of the rules, otherwise of OpenRouter, which clients know, otherwise of the first entry. If only the price
 * map lists the model, and the author's API writes `5-5` for version 5.5, the id gets the dot.
 */
function spellId(ranked: readonly SourceEntry[], { authors }: ImportRules): string {
  const [first] = ranked as readonly [SourceEntry];
  const known =
    ranked.find((entry) => entry.decided) ?? ranked.find((entry) => entry.sourceProvider === SPELLING_SOURCE);
  if (known !== undefined) return known.id;
  const isDotted = authors[first.author]?.dottedVersions === true && first.source.isFromPriceMap === true;
  return isDotted ? first.id.replace(/-(\d{1,2})-(\d{1,2})$/, "-$1.$2") : first.id;
}

/** Returns the items that the first entry has, or at least two others: an item of a single entry may be wrong. */
function agreeOn(
  ranked: readonly SourceEntry[],
  list: (entry: SourceEntry) => readonly string[],
  order?: readonly string[],
): string[] {
  const counts = new Map<string, number>();
  for (const [index, entry] of ranked.entries()) {
    for (const item of list(entry)) counts.set(item, (counts.get(item) ?? 0) + (index === 0 ? 2 : 1));
  }
  const agreed = [...counts].filter(([, count]) => count >= 2).map(([item]) => item);
  return order === undefined ? agreed.sort(compareText) : sortByOrder(agreed, order);
}

function inputsOf(entry: SourceEntry, { inputs }: ImportRules): string[] {
  // OpenAI's embeddings API accepts only text.
  if (entry.isEmbedding) return ["text"];
  const { input } = entry.source.modalities;
  const added = inputs
    .filter((rule) => rule.provider === entry.provider && new RegExp(rule.names).test(entry.name))
    .flatMap((rule) => (input.includes(rule.with) ? rule.adds : []));
  return sortByOrder([...input, ...added], MODALITY_ORDER);
}

function sortByOrder(items: readonly string[], order: readonly string[]): string[] {
  const known = new Set(items.map((item) => MODALITIES[item] ?? item));
  return order.filter((item) => known.has(item));
}

function parametersOf(entry: SourceEntry): string[] {
  const { source } = entry;
  if (entry.isEmbedding) return [];
  return [
    "max_tokens",
    ...(source.temperature === false ? [] : ["temperature", "top_p"]),
    ...(source.tool_call ? ["tools", "tool_choice"] : []),
    ...(source.structured_output === true ? STRUCTURED_OUTPUT : []),
    ...(source.reasoning ? ["include_reasoning", "reasoning"] : []),
    ...(source.reasoning_options?.some((option) => option.type === "effort") ? ["reasoning_effort"] : []),
  ];
}

/** Returns the parameters that the source does not mention. The model may still have them. */
function unknownParametersOf(source: SourceModel): readonly string[] {
  return [
    ...(source.structured_output === undefined ? STRUCTURED_OUTPUT : []),
    ...(source.reasoning ? ["reasoning_effort"] : []),
  ];
}

function readReasoning(
  source: SourceModel,
  author: ImportRules["authors"][string] | undefined,
): ReasoningControl | null {
  const options = source.reasoning_options ?? [];
  const efforts = options.flatMap((option) => (option.type === "effort" ? (option.values ?? []) : []));
  const named = efforts.filter((effort): effort is string => effort !== null);
  const budget = options.find((option) => option.type === "budget_tokens");
  const min = toTokens(budget?.min);
  const max = toTokens(budget?.max);
  const canDisable = options.some((option) => option.type === "toggle") || named.includes("none");
  const control: ReasoningControl = {
    ...(named.length > 0 ? { efforts: named } : {}),
    ...(budget !== undefined
      ? { budgetTokens: { ...(min !== null ? { min } : {}), ...(max !== null ? { max } : {}) } }
      : {}),
    ...(canDisable ? { canDisable } : {}),
  };
  if (Object.keys(control).length === 0) return null;
  return author?.reasonsOnlyWhenTold ? { ...control, onlyWhenTold: true } : control;
}

function buildEndpoints(shape: ModelShape, ranked: readonly SourceEntry[], work: Work): ModelEndpoint[] {
  const byProvider = new Map<string, SourceEntry>();
  for (const entry of ranked) {
    const { provider, name } = entry;
    const other = byProvider.get(provider);
    if (other === undefined || isBetterRegion(entry, other)) byProvider.set(provider, entry);
    if (other === undefined) continue;
    if (entry.regionRank !== other.regionRank) countOmitted(work, "for one region");
    else
      work.problems.push(`${shape.id}: two names at ${provider}, ${other.name} and ${name}; used the first`);
  }
  return [...byProvider.values()]
    .sort((a, b) => compareText(a.provider, b.provider))
    .map((entry) => buildEndpoint(shape, entry, work));
}

/** A name from models.dev is not replaced by one from the price map. */
function isBetterRegion(entry: SourceEntry, other: SourceEntry): boolean {
  if (entry.source.isFromPriceMap === true && other.source.isFromPriceMap !== true) return false;
  return entry.regionRank !== null && other.regionRank !== null && entry.regionRank < other.regionRank;
}

function buildEndpoint(shape: ModelShape, entry: SourceEntry, work: Work): ModelEndpoint {
  const { source } = entry;
  const { problem, ...imported } = priceEntry(shape, entry, work.rules);
  const prices = addCacheHour(imported, work.rules.cacheWrite1h[entry.author]);
  if (problem !== undefined) work.problems.push(`${entry.provider}/${entry.name}: ${problem}; not served`);
  const contextLength = toTokens(source.limit.context) as number;
  const maxPrompt = toTokens(source.limit.input);
  // For embedding models the source states the length of a vector in `output`.
  const maxOutput = entry.isEmbedding ? null : toTokens(source.limit.output);
  const priceChanges = work.rules.priceChanges[entry.provider]?.[entry.name];
  const has = new Set([
    ...inputsOf(entry, work.rules),
    ...parametersOf(entry),
    ...unknownParametersOf(source),
  ]);
  const takesHere = work.takes.readEndpoint(shape.id, shape.takes, source.takes);
  if (isAudioUnpriced(shape, prices.prices, work.rules)) has.delete("audio");
  const lacks = shape.features.filter((feature) => !has.has(feature));
  const endpoint = {
    provider: entry.provider,
    name: entry.name,
    ...(entry.isEmbedding ? {} : findFormats(entry, work.rules)),
    contextLength,
    ...(maxPrompt !== null && maxPrompt < contextLength ? { maxPromptTokens: maxPrompt } : {}),
    maxOutputTokens: maxOutput === null ? null : Math.min(maxOutput, contextLength),
    ...prices,
    ...(priceChanges !== undefined && prices.prices !== null ? { priceChanges } : {}),
    ...(lacks.length > 0 ? { lacks } : {}),
    ...(takesHere === undefined ? {} : { takesHere }),
    ...(source.isFromPriceMap === true ? { fromPriceMap: true as const } : {}),
  };
  return addCharges(endpoint, findCharges(entry, work.rules));
}

/** Returns the formats that the rules name for an entry; none if it is served in all formats of its provider. */
function findFormats(
  { provider, name }: SourceEntry,
  { formats }: ImportRules,
): Pick<ModelEndpoint, "formats" | "noToolsWhileReasoning"> {
  const rule = formats[provider]?.find(({ names }) => new RegExp(names).test(name));
  if (rule === undefined) return {};
  const { formats: named, noToolsWhileReasoning } = rule;
  return { formats: named, ...(noToolsWhileReasoning === undefined ? {} : { noToolsWhileReasoning }) };
}

/** Returns the charges of an entry that are not per token, from the rules. */
function findCharges({ provider, name }: SourceEntry, { charges }: ImportRules): Partial<Prices> {
  const rules = charges.filter((rule) => rule.provider === provider && new RegExp(rule.names).test(name));
  return Object.assign({}, ...rules.map((rule) => rule.prices)) as Partial<Prices>;
}

/**
 * Returns an entry's prices, or none if they would be too low: images and audio in the answer cost many times the price of
 * text, and the source omits these prices for resellers. A host with the author's price for text is assumed to have the
 * author's price for audio and long prompts too if its entry omits them.
 */
function priceEntry(shape: ModelShape, entry: SourceEntry, rules: ImportRules): ImportedPrices {
  const isFree = isFreeId(shape.id);
  if (entry.isEmbedding) return importEmbeddingPrices(entry.source.cost, isFree);
  const imported = importPrices(entry.source.cost, isFree);
  const { prices } = imported;
  if (prices === null) return imported;
  const makes = shape.outputModalities;
  if (makes.includes("audio") && prices.audioOut === undefined) return unpriced("audio");
  if (makes.includes("image") && !isAuthors(entry, rules)) return unpriced("images");
  const authors = readAuthorsPrices(shape, rules);
  if (authors === null || !isSameTariff(prices, authors.prices)) return imported;
  const audioIn = prices.audioIn ?? authors.prices.audioIn;
  const priceTiers = imported.priceTiers ?? authors.priceTiers;
  return {
    prices: audioIn === undefined ? prices : { ...prices, audioIn },
    ...(priceTiers !== undefined ? { priceTiers } : {}),
  };
}

function unpriced(what: string): ImportedPrices {
  return { prices: null, problem: `has no price for ${what} in the answer` };
}

/** Returns the author's own prices; null if the author does not serve the model. */
function readAuthorsPrices(
  shape: ModelShape,
  rules: ImportRules,
): (ImportedPrices & { prices: Prices }) | null {
  if (!isAuthors(shape.reference, rules)) return null;
  const imported = importPrices(shape.reference.source.cost, false);
  return imported.prices === null ? null : { ...imported, prices: imported.prices };
}

function isAuthors(entry: SourceEntry, rules: ImportRules): boolean {
  return rules.authors[entry.author]?.source === entry.sourceProvider;
}

function isSameTariff(prices: Prices, authors: Prices): boolean {
  return prices.prompt === authors.prompt && prices.completion === authors.completion;
}

/** Whether the author has a separate price for audio, and this host has other prices and none for audio. */
function isAudioUnpriced(shape: ModelShape, prices: Prices | null, rules: ImportRules): boolean {
  if (prices === null || prices.audioIn !== undefined) return false;
  return readAuthorsPrices(shape, rules)?.prices.audioIn !== undefined;
}

/** Parses a positive integer; returns null for other texts. */
function toTokens(text: string | undefined): number | null {
  const tokens = Number(text);
  return Number.isSafeInteger(tokens) && tokens > 0 ? tokens : null;
}

/** Parses a day such as `2025-04-28`. A month means its first day. Returns null for other text. */
function readDay(text: string | undefined): string | null {
  if (text === undefined) return null;
  const day = /^\d{4}-\d{2}$/.test(text) ? `${text}-01` : text;
  return parseDay(day) === null ? null : day;
}

/** Returns the name of a model at models.dev, otherwise a name derived from its id: `gpt-6-sol` becomes GPT-6 Sol. */
function nameModel(id: string, ranked: readonly SourceEntry[], { priceMap }: ImportRules): string {
  const listed = ranked.find(({ source }) => source.isFromPriceMap !== true);
  if (listed !== undefined) return tidyName(listed.source.name);
  const words = id.slice(id.indexOf("/") + 1).split("-");
  const written = words.map((word) => priceMap.words[word] ?? word.charAt(0).toUpperCase() + word.slice(1));
  return written.reduce((text, word) => (text.endsWith("-") ? text + word : `${text} ${word}`));
}

function tidyName(name: string): string {
  const plain = cleanName(name)
    .replace(/\s+/g, " ")
    .replace(/ \(latest\)$/i, "")
    .trim();
  return plain.slice(plain.lastIndexOf("/") + 1);
}
