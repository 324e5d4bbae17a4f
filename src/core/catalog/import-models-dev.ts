import { parseDay } from "../../base/time.ts";
import { compareText } from "./format-catalog.ts";
import {
  addCacheHour,
  addCharges,
  type ImportedPrices,
  importEmbeddingPrices,
  importPrices,
} from "./import-prices.ts";
import type { ImportRules, ProviderRule } from "./import-rules.ts";
import { isFreeId } from "./is-free-id.ts";
import { isSoundModel } from "./is-sound-model.ts";
import { type ParsedName, parseName, spellingKey } from "./model-names.ts";
import type { ModelEndpoint, ModelRecord, Prices, ReasoningControl } from "./records.ts";
import { readModelsDev, type SourceModel, type SourceProvider } from "./source-models-dev.ts";

/** What an import gives, or why there is none. */
export type Imported =
  | {
      readonly models: readonly ModelRecord[];
      readonly problems: readonly string[];
      readonly leftOut: LeftOut;
    }
  | { readonly refused: string };

/** How many entries of the source were left out, by reason. */
export type LeftOut = Readonly<Record<string, number>>;

/** One entry of the source that becomes an endpoint. */
interface Deployment {
  readonly sourceProvider: string;
  readonly provider: string;
  readonly source: SourceModel;
  /** The provider's name for the model; the source's, but for deployments of `servedAlso`. */
  readonly name: string;
  readonly author: string;
  /** `author/name`, in the spelling of this deployment. */
  readonly id: string;
  /** The id stands in the rules, so its spelling is ours. */
  readonly decided: boolean;
  readonly regionRank: number | null;
  /** It makes vectors, though the source says text. */
  readonly isEmbedding: boolean;
  /** Of `servedAlso`: the facts are another entry's, so any entry of its own is believed before it. */
  readonly borrowed: boolean;
}

/** What the deployments of one model are held against. */
interface ModelShape {
  readonly id: string;
  readonly reference: Deployment;
  readonly outputModalities: readonly string[];
  /** Input modalities and parameters. */
  readonly features: readonly string[];
}

interface Work {
  readonly rules: ImportRules;
  readonly notChat: readonly RegExp[];
  readonly embedding: readonly RegExp[];
  readonly problems: string[];
  readonly leftOut: Record<string, number>;
}

const MODALITIES: Readonly<Record<string, string>> = { pdf: "file" };
const MODALITY_ORDER = ["text", "image", "file", "audio", "video"];
const STRUCTURED_OUTPUT = ["response_format", "structured_outputs"];
const SPELLING_SOURCE = "openrouter";

/**
 * Turns the text of models.dev's list into our records. Pure: the same text and rules give the same records in the
 * same order. One model that several providers serve becomes one record where its names differ in spelling only or
 * the rules say so; everything else stays apart.
 */
export function importModelsDev(text: string, rules: ImportRules): Imported {
  const source = readModelsDev(text);
  if ("refused" in source) return source;
  const work: Work = {
    rules,
    notChat: rules.notChat.map((pattern) => new RegExp(pattern)),
    embedding: rules.embedding.map((pattern) => new RegExp(pattern)),
    problems: [...source.problems],
    leftOut: {},
  };
  const deployments = source.providers.flatMap((provider) => {
    const rule = rules.providers[provider.id];
    if (rule === undefined) return reportUnknown(provider.id, provider.models.length, work);
    return addNotListed(provider, rules).flatMap((model) => listOffers(provider.id, model, rule, work));
  });
  const models = groupOffers(deployments)
    .map((group) => buildModel(group, work))
    .filter((model) => isFit(model, work));
  return {
    models: models.sort((a, b) => compareText(a.id, b.id)),
    problems: work.problems,
    leftOut: work.leftOut,
  };
}

/** A provider's entries, with those that the source lacks; where it has come to list one, it is believed. */
function addNotListed({ id, models }: SourceProvider, rules: ImportRules): readonly SourceModel[] {
  const listed = new Set(models.map((model) => model.id));
  return [...models, ...(rules.notListed[id] ?? []).filter((model) => !listed.has(model.id))];
}

/** One odd entry of the source costs that entry, not the import. */
function isFit(model: ModelRecord, work: Work): boolean {
  const { id } = model;
  if (isSoundModel(model)) return true;
  work.problems.push(`${id}: does not make a sound record; left out`);
  countLeftOut(work, "unsound");
  return false;
}

function reportUnknown(provider: string, models: number, work: Work): [] {
  countLeftOut(work, "provider not taken", models);
  if (work.rules.ignoredProviders[provider] === undefined) {
    work.problems.push(
      `${provider}: unknown provider with ${models} models; add it to providers.json and import-rules.json to take them`,
    );
  }
  return [];
}

function countLeftOut(work: Work, reason: string, count = 1): [] {
  work.leftOut[reason] = (work.leftOut[reason] ?? 0) + count;
  return [];
}

function listOffers(
  sourceProvider: string,
  source: SourceModel,
  rule: ProviderRule,
  work: Work,
): Deployment[] {
  if (source.status === "deprecated") return countLeftOut(work, "deprecated");
  if (!source.modalities.output.includes("text") || !source.modalities.input.includes("text")) {
    return countLeftOut(work, "no text in or out");
  }
  if (toTokens(source.limit.context) === null) return countLeftOut(work, "context length unknown");
  const provider = findProvider(source, rule);
  if (provider === null) return countLeftOut(work, "another format than its provider's");
  const deployment = nameOffer(sourceProvider, provider, source, rule, work);
  if (deployment === null) return [];
  return [deployment, ...listServedAlso(deployment, work.rules)];
}

function findProvider(source: SourceModel, rule: ProviderRule): string | null {
  const client = source.provider?.npm;
  if (client === undefined) return rule.slug;
  return rule.byPackage?.[client] ?? null;
}

function nameOffer(
  sourceProvider: string,
  provider: string,
  source: SourceModel,
  rule: ProviderRule,
  work: Work,
): Deployment | null {
  const entry = `${sourceProvider}/${source.id}`;
  const parsed = parseName(source.id, rule, work.rules);
  if (parsed === "region") return leaveOut(work, "for one region");
  const named = work.rules.entries[entry];
  if (named === null) return leaveOut(work, "by rule");
  const id = named ?? (parsed === null ? null : identify(parsed, work.rules));
  const matches = (pattern: RegExp) => pattern.test(id ?? source.id);
  if (work.notChat.some(matches)) return leaveOut(work, "not a chat model");
  const isEmbedding = work.embedding.some(matches);
  if (isEmbedding && rule.embeddings !== true) return leaveOut(work, "no embeddings endpoint known");
  if (id === null) {
    work.problems.push(`${entry}: no telling whose model it is; add it to import-rules.json`);
    return leaveOut(work, "author unknown");
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

function leaveOut(work: Work, reason: string): null {
  countLeftOut(work, reason);
  return null;
}

function listServedAlso(deployment: Deployment, rules: ImportRules): Deployment[] {
  return rules.servedAlso
    .filter((also) => also.like === `${deployment.sourceProvider}/${deployment.source.id}`)
    .map((also) => ({
      ...deployment,
      provider: also.provider,
      name: also.name,
      id: also.id,
      decided: true,
      borrowed: true,
    }));
}

/** Offers of one model together: those whose ids differ in spelling only. */
function groupOffers(deployments: readonly Deployment[]): Deployment[][] {
  const groups = new Map<string, Deployment[]>();
  for (const deployment of deployments) {
    const key = `${deployment.author}/${spellingKey(deployment.id.slice(deployment.author.length + 1))}`;
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [deployment]);
    else group.push(deployment);
  }
  return [...groups.values()];
}

function buildModel(group: readonly Deployment[], work: Work): ModelRecord {
  const { rules } = work;
  const believed = [...group].sort(
    (a, b) => rankSource(a, rules) - rankSource(b, rules) || compareText(a.name, b.name),
  );
  const reference = believed[0] as Deployment;
  const id = spellId(believed);
  const inputModalities = agreeOn(believed, (deployment) => inputsOf(deployment, rules), MODALITY_ORDER);
  const parameters = agreeOn(believed, parametersOf);
  const outputModalities = reference.isEmbedding
    ? ["embedding"]
    : inOrder(reference.source.modalities.output, MODALITY_ORDER);
  const reasoning = readReasoning(reference.source, rules.authors[reference.author]);
  const shape: ModelShape = {
    id,
    reference,
    outputModalities,
    features: [...inputModalities, ...parameters],
  };
  return {
    id,
    name: tidyName(reference.source.name),
    description: null,
    released:
      believed.map((deployment) => readDay(deployment.source.release_date)).find((day) => day !== null) ??
      null,
    inputModalities,
    outputModalities,
    tokenizer: rules.authors[reference.author]?.tokenizer ?? null,
    supportedParameters: parameters,
    ...(reasoning !== null && parameters.includes("reasoning") ? { reasoning } : {}),
    expires: null,
    endpoints: buildEndpoints(shape, believed, work),
  };
}

/** The author's own API is believed first on what a model is, then sources as the rules list them. */
function rankSource(deployment: Deployment, rules: ImportRules): number {
  if (deployment.borrowed) return Number.MAX_SAFE_INTEGER;
  if (isAuthors(deployment, rules)) return -1;
  return Object.keys(rules.providers).indexOf(deployment.sourceProvider);
}

/** The rules' spelling, else the one clients know, else that of who is believed first. */
function spellId(believed: readonly Deployment[]): string {
  const spelled =
    believed.find((deployment) => deployment.decided) ??
    believed.find((deployment) => deployment.sourceProvider === SPELLING_SOURCE) ??
    (believed[0] as Deployment);
  return spelled.id;
}

/** What the most believed deployment has, and what at least two others have: one host alone may be mistaken. */
function agreeOn(
  believed: readonly Deployment[],
  list: (deployment: Deployment) => readonly string[],
  order?: readonly string[],
): string[] {
  const counts = new Map<string, number>();
  for (const [index, deployment] of believed.entries()) {
    for (const item of list(deployment)) counts.set(item, (counts.get(item) ?? 0) + (index === 0 ? 2 : 1));
  }
  const agreed = [...counts].filter(([, count]) => count >= 2).map(([item]) => item);
  return order === undefined ? agreed.sort(compareText) : inOrder(agreed, order);
}

function inputsOf(deployment: Deployment, { inputs }: ImportRules): string[] {
  // Clients of OpenAI's embeddings API can send nothing else.
  if (deployment.isEmbedding) return ["text"];
  const { input } = deployment.source.modalities;
  const added = inputs
    .filter((rule) => rule.provider === deployment.provider && new RegExp(rule.names).test(deployment.name))
    .flatMap((rule) => (input.includes(rule.with) ? rule.adds : []));
  return inOrder([...input, ...added], MODALITY_ORDER);
}

function inOrder(items: readonly string[], order: readonly string[]): string[] {
  const known = new Set(items.map((item) => MODALITIES[item] ?? item));
  return order.filter((item) => known.has(item));
}

function parametersOf(deployment: Deployment): string[] {
  const { source } = deployment;
  if (deployment.isEmbedding) return [];
  return [
    "max_tokens",
    ...(source.temperature === false ? [] : ["temperature", "top_p"]),
    ...(source.tool_call ? ["tools", "tool_choice"] : []),
    ...(source.structured_output === true ? STRUCTURED_OUTPUT : []),
    ...(source.reasoning ? ["include_reasoning", "reasoning"] : []),
    ...(source.reasoning_options?.some((option) => option.type === "effort") ? ["reasoning_effort"] : []),
  ];
}

/** Parameters a source says nothing of; that is not the same as lacking them. */
function unspokenOf(source: SourceModel): readonly string[] {
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

function buildEndpoints(shape: ModelShape, believed: readonly Deployment[], work: Work): ModelEndpoint[] {
  const byProvider = new Map<string, Deployment>();
  for (const deployment of believed) {
    const other = byProvider.get(deployment.provider);
    if (other === undefined || isBetterRegion(deployment, other))
      byProvider.set(deployment.provider, deployment);
    if (other !== undefined) reportSecondName(shape.id, deployment, other, work);
  }
  return [...byProvider.values()]
    .sort((a, b) => compareText(a.provider, b.provider))
    .map((deployment) => buildEndpoint(shape, deployment, work));
}

function isBetterRegion(deployment: Deployment, other: Deployment): boolean {
  return (
    deployment.regionRank !== null && other.regionRank !== null && deployment.regionRank < other.regionRank
  );
}

function reportSecondName(id: string, deployment: Deployment, other: Deployment, work: Work): void {
  if (deployment.regionRank !== other.regionRank) countLeftOut(work, "for one region");
  else
    work.problems.push(
      `${id}: two names at ${deployment.provider}, ${other.name} and ${deployment.name}; took the first`,
    );
}

function buildEndpoint(shape: ModelShape, deployment: Deployment, work: Work): ModelEndpoint {
  const { source } = deployment;
  const { problem, ...imported } = priceOffer(shape, deployment, work.rules);
  const prices = addCacheHour(imported, work.rules.cacheWrite1h[deployment.author]);
  if (problem !== undefined)
    work.problems.push(`${deployment.provider}/${deployment.name}: ${problem}; not offered`);
  const contextLength = toTokens(source.limit.context) as number;
  const maxPrompt = toTokens(source.limit.input);
  // The source puts the length of a vector there.
  const maxOutput = deployment.isEmbedding ? null : toTokens(source.limit.output);
  const priceChanges = work.rules.priceChanges[deployment.provider]?.[deployment.name];
  const has = new Set([
    ...inputsOf(deployment, work.rules),
    ...parametersOf(deployment),
    ...unspokenOf(source),
  ]);
  if (isAudioUnpriced(shape, prices.prices, work.rules)) has.delete("audio");
  const lacks = shape.features.filter((feature) => !has.has(feature));
  const endpoint = {
    provider: deployment.provider,
    name: deployment.name,
    ...(deployment.isEmbedding ? {} : findFormats(deployment, work.rules)),
    contextLength,
    ...(maxPrompt !== null && maxPrompt < contextLength ? { maxPromptTokens: maxPrompt } : {}),
    maxOutputTokens: maxOutput === null ? null : Math.min(maxOutput, contextLength),
    ...prices,
    ...(priceChanges !== undefined && prices.prices !== null ? { priceChanges } : {}),
    ...(lacks.length > 0 ? { lacks } : {}),
  };
  return addCharges(endpoint, findCharges(deployment, work.rules));
}

/** The formats that the rules name for an deployment; nothing where it is served in all of its provider's. */
function findFormats(
  { provider, name }: Deployment,
  { formats }: ImportRules,
): Pick<ModelEndpoint, "formats" | "noToolsWhileReasoning"> {
  const rule = formats[provider]?.find(({ names }) => new RegExp(names).test(name));
  if (rule === undefined) return {};
  const { formats: named, noToolsWhileReasoning } = rule;
  return { formats: named, ...(noToolsWhileReasoning === undefined ? {} : { noToolsWhileReasoning }) };
}

/** What the rules say that an deployment charges beside its tokens. */
function findCharges({ provider, name }: Deployment, { charges }: ImportRules): Partial<Prices> {
  const rules = charges.filter((rule) => rule.provider === provider && new RegExp(rule.names).test(name));
  return Object.assign({}, ...rules.map((rule) => rule.prices)) as Partial<Prices>;
}

/**
 * An offer's prices, and none where they would be too low: images and audio in the answer cost many times the text,
 * and resellers' prices in the source leave that out. A host that asks the author's price for text asks the
 * author's price for audio and long prompts too, though its entry forgets to say so.
 */
function priceOffer(shape: ModelShape, deployment: Deployment, rules: ImportRules): ImportedPrices {
  const isFree = isFreeId(shape.id);
  if (deployment.isEmbedding) return importEmbeddingPrices(deployment.source.cost, isFree);
  const imported = importPrices(deployment.source.cost, isFree);
  const { prices } = imported;
  if (prices === null) return imported;
  const makes = shape.outputModalities;
  if (makes.includes("audio") && prices.audioOut === undefined) return unpriced("audio");
  if (makes.includes("image") && !isAuthors(deployment, rules)) return unpriced("images");
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
  return { prices: null, problem: `names no price for ${what} in the answer` };
}

/** The author's own prices, where the author sells the model itself. */
function readAuthorsPrices(
  shape: ModelShape,
  rules: ImportRules,
): (ImportedPrices & { prices: Prices }) | null {
  if (!isAuthors(shape.reference, rules)) return null;
  const imported = importPrices(shape.reference.source.cost, false);
  return imported.prices === null ? null : { ...imported, prices: imported.prices };
}

function isAuthors(deployment: Deployment, rules: ImportRules): boolean {
  return rules.authors[deployment.author]?.source === deployment.sourceProvider;
}

function isSameTariff(prices: Prices, authors: Prices): boolean {
  return prices.prompt === authors.prompt && prices.completion === authors.completion;
}

/** The author prices audio apart and this host, at other prices, does not say what it costs. */
function isAudioUnpriced(shape: ModelShape, prices: Prices | null, rules: ImportRules): boolean {
  if (prices === null || prices.audioIn !== undefined) return false;
  return readAuthorsPrices(shape, rules)?.prices.audioIn !== undefined;
}

/** Whole and positive, else unknown. */
function toTokens(text: string | undefined): number | null {
  const tokens = Number(text);
  return Number.isSafeInteger(tokens) && tokens > 0 ? tokens : null;
}

/** `2025-04-28`; a month alone is its first day; anything else is unknown. */
function readDay(text: string | undefined): string | null {
  if (text === undefined) return null;
  const day = /^\d{4}-\d{2}$/.test(text) ? `${text}-01` : text;
  return parseDay(day) === null ? null : day;
}

function tidyName(name: string): string {
  const plain = name
    .replace(/\s+/g, " ")
    .replace(/ \(latest\)$/i, "")
    .trim();
  return plain.slice(plain.lastIndexOf("/") + 1);
}
