import { matchPattern } from "../../../base/text/match-pattern.ts";
import { ANSWER_PARAMETERS } from "../../../wire/conversation/answer-parameters.ts";
import type { ProviderFormat } from "../../../wire/conversation/traits/format-name.ts";
import {
  SAMPLING_PARAMETERS,
  type SamplingParameter,
} from "../../../wire/conversation/traits/sampling-parameters.ts";
import { CHAT_FORMAT, FORMAT_TRAITS } from "../../../wire/formats/traits.ts";
import { actionOf } from "../records/action-of.ts";
import { compareText } from "../records/format-catalog.ts";
import type { TakenParameter } from "../records/profile-schema.ts";
import type {
  EndpointProfile,
  FamilyProfile,
  ModelEndpoint,
  ModelRecord,
  ParameterStatement,
  ProviderRecord,
  TakesSource,
} from "../records/records.ts";
import { listEndpointFormats, listProviderFormats, quirksOf } from "./list-formats.ts";
import {
  findFamilies,
  isLacking,
  listTaken,
  type RefusedFields,
  resolveRefused,
  STRUCTURED_OUTPUTS,
  type TakingEndpoint,
} from "./resolve-takes.ts";

/** The parameters that a provider accepts if its row names none. Providers differ in all others. */
const DEFAULT_PARAMETERS: readonly SamplingParameter[] = ["stop"];

/** Parameters that have a field of their own in every format, or are respelled for the provider. */
const EVERYWHERE: ReadonlySet<string> = new Set([
  "max_tokens",
  "temperature",
  "top_p",
  "tools",
  "tool_choice",
  "response_format",
  STRUCTURED_OUTPUTS,
  "reasoning",
  "include_reasoning",
  "reasoning_effort",
]);

/** The parameters of `EVERYWHERE` that are fields of the body under their own name. */
const PLAIN: ReadonlySet<string> = new Set(["temperature", "top_p"]);

/**
 * Returns the models with the profile of each conversation endpoint. A profile lists the parameters that the model, its families, the
 * provider or the operator names. It leaves out a parameter if the endpoint accepts no value, or a single one. `providers` must contain all
 * providers of these endpoints.
 */
export function addProfiles(
  models: readonly ModelRecord[],
  providers: readonly ProviderRecord[],
  families: readonly FamilyProfile[],
): ModelRecord[] {
  const bySlug = new Map(providers.map((provider) => [provider.slug, provider]));
  const lists = new SharedLists();
  return models.map((model) => {
    if (actionOf(model) !== "chat") return model;
    const endpoints = model.endpoints.map((endpoint) => {
      const record = bySlug.get(endpoint.provider);
      if (record === undefined) return endpoint;
      return { ...endpoint, profile: new LazyProfile({ model, endpoint, record, families }, lists) };
    });
    return { ...model, endpoints };
  });
}

/** A profile that is resolved on demand: a start has thousands of endpoints, and needs none of their lists. */
class LazyProfile implements EndpointProfile {
  private listed: readonly string[] | null = null;

  /** `families` contains all families, including those of other models. */
  constructor(
    private readonly sources: Omit<TakingEndpoint, "format">,
    private readonly lists: SharedLists,
  ) {}

  get parameters(): readonly string[] {
    if (this.listed === null) {
      const { model, record, families } = this.sources;
      const ofModel = findFamilies(families, model, record.slug);
      this.listed = this.lists.share(listParameters({ ...this.sources, families: ofModel }));
    }
    return this.listed;
  }

  get chatFormat(): ProviderFormat {
    const { endpoint, record } = this.sources;
    return formatsForChats(endpoint, record)[0] ?? record.format;
  }

  listRules(format: ProviderFormat): readonly ParameterStatement[] {
    const { model, record, families } = this.sources;
    const ofModel = findFamilies(families, model, record.slug);
    return listRules({ ...this.sources, format, families: ofModel });
  }
}

/** Sorted lists. Thousands of endpoints have a few of them. */
class SharedLists {
  private readonly known = new Map<string, readonly string[]>();

  share(names: ReadonlySet<string>): readonly string[] {
    const key = [...names].join();
    const list = this.known.get(key) ?? [...names].sort(compareText);
    this.known.set(key, list);
    return list;
  }
}

function listParameters(taking: Omit<TakingEndpoint, "format">): ReadonlySet<string> {
  const formats = formatsForChats(taking.endpoint, taking.record);
  const found = new Set(formats.flatMap((format) => listInFormat({ ...taking, format })));
  if (fillsIn(taking)) found.add("suffix");
  return found;
}

/** Lists the formats that requests of the chat API may be sent in: only the chat format where the endpoint has it. */
function formatsForChats(endpoint: ModelEndpoint, record: ProviderRecord): readonly ProviderFormat[] {
  const formats = listEndpointFormats(endpoint, listProviderFormats(record));
  return formats.includes(CHAT_FORMAT) ? CHAT : formats;
}

const CHAT: readonly ProviderFormat[] = [CHAT_FORMAT];

/** Parameters that decide the answer come before other fields. */
function rankOf({ parameter }: ParameterStatement): number {
  return ANSWER_PARAMETERS.has(parameter) ? 0 : 1;
}

/** Lists the statements about parameters that are not fully taken, and the fields that the provider's row excludes. */
function listRules(taking: TakingEndpoint): readonly ParameterStatement[] {
  const { refused, known, noSchemas } = resolveRefused(taking);
  const rules = new Map(listTaken(taking));
  const refuse = (source: TakesSource, names: Iterable<string>) => {
    for (const name of names) if (!rules.has(name)) rules.set(name, { taken: "no", source });
  };
  const fields = toFields(taking, { refused, known });
  refuse(
    "provider",
    refused.filter((name) => !isRespelled(name)),
  );
  refuse("provider", noSchemas ? [STRUCTURED_OUTPUTS] : []);
  refuse(
    "provider",
    known === null ? [] : [...ANSWER_PARAMETERS].filter((name) => !reachesField(name, fields)),
  );
  refuse(
    "model",
    [...ANSWER_PARAMETERS].filter((name) => isLacking(taking, name)),
  );
  return [...rules]
    .filter(([, { taken, source }]) => taken !== "yes" || source === "configuration")
    .map(([parameter, one]) => ({ parameter, ...one }))
    .sort((a, b) => rankOf(a) - rankOf(b) || compareText(a.parameter, b.parameter));
}

function listInFormat(taking: TakingEndpoint): readonly string[] {
  const { model, record } = taking;
  const rules = listTaken(taking);
  const { refused, known, noSchemas } = resolveRefused(taking);
  const fields = toFields(taking, { refused, known });
  const isTaken = (name: string): boolean => {
    const rule = rules.get(name);
    if (rule !== undefined && !leavesChoice(rule.taken)) return false;
    if (isLacking(taking, name)) return false;
    return name === STRUCTURED_OUTPUTS ? !noSchemas : reachesField(name, fields);
  };
  const named = [...rules].flatMap(([name, { taken, source }]) =>
    taken !== "no" && (source === "configuration" || ANSWER_PARAMETERS.has(name)) ? name : [],
  );
  const all = [...model.supportedParameters, ...(record.parameters ?? DEFAULT_PARAMETERS), ...named];
  return all.filter(isTaken);
}

/** Whether more than one value of a parameter is taken, perhaps only while the model does not reason, or without another parameter. */
function leavesChoice(taken: TakenParameter): boolean {
  if (typeof taken === "string") return taken === "yes";
  const { values, notWith, whileReasoning } = taken;
  return values === undefined || values.length > 1 || notWith !== undefined || whileReasoning === true;
}

/** The fields of requests that reach a provider in a format. */
interface ProviderFields {
  readonly format: ProviderFormat;
  readonly refused: ReadonlySet<string>;
  /** Null: all that are not refused. */
  readonly known: ReadonlySet<string> | null;
  /** The provider's name of `seed`. */
  readonly seedField: string;
}

function toFields(
  { record, format }: TakingEndpoint,
  { refused, known }: Pick<RefusedFields, "refused" | "known">,
): ProviderFields {
  const seedField = quirksOf(record, format).randomSeed === true ? "random_seed" : "seed";
  return { format, refused: new Set(refused), known: known && new Set(known), seedField };
}

/** Whether a provider has a field for a parameter, and takes it. */
export function reachesField(name: string, { format, refused, known, seedField }: ProviderFields): boolean {
  if (isRespelled(name)) return true;
  const field = name === "seed" ? seedField : name;
  return isExpressible(name, format) && !refused.has(field) && known?.has(field) !== false;
}

/** Whether a parameter is sent in the provider's own fields for it, whatever their names are. */
function isRespelled(name: string): boolean {
  return EVERYWHERE.has(name) && !PLAIN.has(name);
}

function isExpressible(name: string, format: ProviderFormat): boolean {
  if (EVERYWHERE.has(name)) return true;
  const { sampling, lacksTopK, hasHostFields } = FORMAT_TRAITS[format].parameters;
  if (SAMPLING.has(name)) return sampling.some((one) => one === name);
  return name === "top_k" ? lacksTopK !== true : hasHostFields === true;
}

const SAMPLING: ReadonlySet<string> = new Set(SAMPLING_PARAMETERS);

/** Whether an endpoint supports fill in the middle: its provider has a path for it, and the model's author documents it. */
function fillsIn({ model, record }: Pick<TakingEndpoint, "model" | "record">): boolean {
  return record.paths?.fim !== undefined && matchPattern(CODE_MODELS, model.id);
}

/** The models that fill in the middle, according to their author (https://docs.mistral.ai/capabilities/code_generation, 2026-11-28). */
const CODE_MODELS = "mistralai/codestral*";

/** Returns the parameters that an endpoint of a model is known to take. */
export function parametersOf(model: ModelRecord, { profile, lacks }: ModelEndpoint): readonly string[] {
  return profile?.parameters ?? model.supportedParameters.filter((name) => lacks?.includes(name) !== true);
}
