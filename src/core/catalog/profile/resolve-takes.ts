import { matchPattern } from "../../../base/text/match-pattern.ts";
import type { ModelTarget } from "../../../wire/canonical/model/format.ts";
import type { MarkedCache } from "../../../wire/conversation/cache-marking.ts";
import type { ParameterRule, ParameterRules } from "../../../wire/conversation/parameter-rules.ts";
import type { ProviderFormat } from "../../../wire/conversation/traits/format-name.ts";
import { FORMAT_TRAITS } from "../../../wire/formats/traits.ts";
import { actionOf } from "../records/action-of.ts";
import type { TakenParameter, TakenParameters } from "../records/profile-schema.ts";
import type {
  FamilyProfile,
  ModelEndpoint,
  ModelRecord,
  ModelTakes,
  ProviderRecord,
  SourcedTaken,
  TakesSource,
} from "../records/records.ts";
import { quirksOf } from "./list-formats.ts";

/** A model endpoint in one of its formats, with everything that decides which parameters it takes. */
export interface TakingEndpoint {
  readonly endpoint: ModelEndpoint;
  readonly model: ModelRecord;
  readonly record: ProviderRecord;
  readonly format: ProviderFormat;
  /** The profiles of the model's families at its provider (`findFamilies`). */
  readonly families: readonly FamilyProfile[];
}

/** Returns the profiles of the families that a model belongs to at a provider, in their order. */
export function findFamilies(
  all: readonly FamilyProfile[],
  { id, copyOf = id }: Pick<ModelRecord, "id" | "copyOf">,
  provider: string,
): readonly FamilyProfile[] {
  const matches = (pattern: string) => matchPattern(pattern, copyOf);
  return all.filter(
    ({ models, except = [], providers }) =>
      (providers === undefined || providers.includes(provider)) &&
      models.some(matches) &&
      !except.some(matches),
  );
}

/**
 * Returns what is known about the parameters that an endpoint takes, by the names of the chat API. The order of precedence is: the
 * operator's configuration (for the endpoint, the model, then the provider), the provider's own refusals, the model's families (where later
 * rows change earlier ones), the catalog's record of the model, the provider's other rules, and the format.
 */
export function listTaken(taking: TakingEndpoint): ReadonlyMap<string, SourcedTaken> {
  const { endpoint, model, record, format, families } = taking;
  const quirks = quirksOf(record, format);
  const all = new Map<string, SourcedTaken>();
  const fit = mayNotReason(taking) ? (one: TakenParameter) => one : withoutCondition;
  const add = (source: TakesSource, taken: TakenParameters | undefined, onlyRefusals = false) => {
    for (const name in taken) {
      const one = taken[name] as TakenParameter;
      if (!onlyRefusals || one === "no") all.set(name, { taken: fit(one), source });
    }
  };
  add("format", FORMAT_TRAITS[format].parameters.taken);
  add("provider", quirks.takes);
  add("model", takenByModel(model, endpoint));
  for (const { parameters } of families) add("family", parameters);
  // What a provider takes for no model at all.
  add("provider", quirks.takes, true);
  add("configuration", takenByOperator(taking));
  return all;
}

/** Returns the rules for the parameters of a request to an endpoint (`listTaken`); null: it takes everything. */
export function resolveTakes(taking: TakingEndpoint): ParameterRules | null {
  const rules = new Map([...listTaken(taking)].flatMap(([name, { taken }]) => toRule(name, taken)));
  return rules.size === 0 ? null : { rules, reasonsByDefault: reasonsByDefault(taking) };
}

/** Whether a model reasons at an endpoint by default. */
function reasonsByDefault({
  endpoint,
  model,
  families,
}: Pick<TakingEndpoint, "endpoint" | "model" | "families">): boolean {
  return lastOf(families, "reasonsByDefault") ?? factsOf(model, endpoint).reasoning !== "when-told";
}

/** Whether a model can answer without reasoning at an endpoint, as far as is known. */
function mayNotReason(taking: Pick<TakingEndpoint, "endpoint" | "model" | "families">): boolean {
  const { reasoning } = taking.model;
  if (reasoning === undefined || reasoning.canDisable === true) return true;
  return reasoning.efforts?.includes("none") === true || !reasonsByDefault(taking);
}

/** Returns a rule without its condition that the model reasons, for a model that always reasons, whatever effort a request names. */
function withoutCondition(taken: TakenParameter): TakenParameter {
  if (typeof taken === "string") return taken;
  const { whileReasoning: _, ...rule } = taken;
  return rule;
}

/** Returns the operator's statements about the provider, the model and the endpoint. Later ones take precedence. */
function takenByOperator({
  endpoint,
  model,
  record,
}: Pick<TakingEndpoint, "endpoint" | "model" | "record">): TakenParameters | undefined {
  if ((record.takesByOperator ?? model.takesByOperator ?? endpoint.takesByOperator) === undefined) return;
  return { ...record.takesByOperator, ...model.takesByOperator, ...endpoint.takesByOperator };
}

/** Whether an endpoint lacks a parameter of its model according to the catalog, and the operator says nothing else. */
export function isLacking(
  taking: Pick<TakingEndpoint, "endpoint" | "model" | "record">,
  name: string,
): boolean {
  if (taking.endpoint.lacks?.includes(name) !== true) return false;
  return (takenByOperator(taking)?.[name] ?? "no") === "no";
}

/** The fields and features that a provider's row excludes in a format, except those that the operator allows. */
export interface RefusedFields {
  /** Fields that the provider rejects. */
  readonly refused: readonly string[];
  /** The only fields that it does not reject; null where it ignores others. */
  readonly known: readonly string[] | null;
  /** It has no parameter for a JSON Schema. */
  readonly noSchemas: boolean;
}

/** Returns what a provider's row rules out of the requests to an endpoint. */
export function resolveRefused(
  taking: Pick<TakingEndpoint, "endpoint" | "model" | "record" | "format">,
): RefusedFields {
  const { refusedFields = [], knownFields, noSchemas, randomSeed } = quirksOf(taking.record, taking.format);
  const byOperator = takenByOperator(taking);
  if (byOperator === undefined)
    return { refused: refusedFields, known: knownFields ?? null, noSchemas: noSchemas === true };
  const taken = new Set(Object.entries(byOperator).flatMap(([name, one]) => (one === "no" ? [] : name)));
  const fields = [...taken].map((name) => (randomSeed === true && name === "seed" ? "random_seed" : name));
  return {
    refused: refusedFields.filter((field) => !taken.has(field)),
    known: knownFields === undefined ? null : [...new Set([...knownFields, ...fields])],
    noSchemas:
      byOperator[STRUCTURED_OUTPUTS] === "no" || (noSchemas === true && !taken.has(STRUCTURED_OUTPUTS)),
  };
}

/** The name of the parameter for answers by a JSON Schema, which is a kind of `response_format`. */
export const STRUCTURED_OUTPUTS = "structured_outputs";

/** Returns the facts about the model at this endpoint. */
function factsOf(model: ModelRecord, endpoint: ModelEndpoint): ModelTakes {
  return { ...model.takes, ...endpoint.takesHere };
}

/** Returns what a model takes of turns, forced calls and breakpoints at an endpoint; an absent member is unknown, or always. */
export function resolveTurns({
  endpoint,
  model,
  families,
}: Pick<TakingEndpoint, "endpoint" | "model" | "families">): Pick<
  ModelTarget,
  "forcedTools" | "takesMidSystem" | "takesPrefill" | "takesUnsigned" | "takesBreakpoints" | "blankTexts"
> {
  const { forcedTools, reasoning, midConversationSystem, prefill } = factsOf(model, endpoint);
  const unsigned = lastOf(families, "unsignedThinking");
  const blankTexts = lastOf(families, "blankTexts");
  const byFacts = reasoning === "always" ? "never" : "without-reasoning";
  const forced = lastOf(families, "forcedTools") ?? (forcedTools === false ? byFacts : undefined);
  return {
    ...(forced === undefined ? {} : { forcedTools: forced }),
    ...(midConversationSystem === undefined ? {} : { takesMidSystem: midConversationSystem }),
    ...(prefill === undefined ? {} : { takesPrefill: prefill }),
    ...(unsigned === undefined ? {} : { takesUnsigned: unsigned }),
    ...(lastOf(families, "cacheBreakpoints") === true ? { takesBreakpoints: true } : {}),
    ...(blankTexts === undefined ? {} : { blankTexts }),
  };
}

/** Returns how an endpoint caches prompts by marks in a format; null if it does not, or if reading them costs as much as sending them. */
export function resolveMarkedCache({
  endpoint,
  model,
  record,
  format,
}: Pick<TakingEndpoint, "endpoint" | "model" | "format"> & {
  readonly record: Pick<ProviderRecord, "cacheKeepsZeroRetention">;
}): MarkedCache | null {
  const { cacheBreakpoints, cacheMinTokens = MAX_MIN_TOKENS } = factsOf(model, endpoint);
  const isMarked = cacheBreakpoints === true && FORMAT_TRAITS[format].cacheMarks === "blocks";
  if (!isMarked || endpoint.prices?.cacheRead === undefined) return null;
  return { minTokens: cacheMinTokens, keepsZeroRetention: record.cacheKeepsZeroRetention === true };
}

/** The minimum that is assumed for models without a known one: the largest known minimum. */
const MAX_MIN_TOKENS = 4096;

/** Returns a member of the last profile that has it; undefined if none has. */
export function lastOf<K extends keyof FamilyProfile>(
  families: readonly FamilyProfile[],
  member: K,
): FamilyProfile[K] | undefined {
  return families.findLast((family) => family[member] !== undefined)?.[member];
}

/** A model of the catalog that has no temperature takes only the default. */
function takenByModel(model: ModelRecord, endpoint: ModelEndpoint): TakenParameters {
  if (model.isUndescribed === true || actionOf(model) !== "chat") return {};
  if (factsOf(model, endpoint).sampling === false) return { ...ONLY_DEFAULT_SAMPLING, top_k: "no" };
  return hasTemperature(model, endpoint) ? {} : ONLY_DEFAULT_SAMPLING;
}

/** Whether a model takes a temperature at an endpoint. */
function hasTemperature(model: ModelRecord, endpoint: ModelEndpoint): boolean {
  return (
    model.supportedParameters.includes("temperature") && endpoint.lacks?.includes("temperature") !== true
  );
}

const ONLY_DEFAULT_SAMPLING: TakenParameters = { temperature: { values: [1] }, top_p: { values: [1] } };

function toRule(name: string, taken: TakenParameter): [string, ParameterRule][] {
  if (taken === "yes") return [];
  return [[name, taken === "no" ? NOT_TAKEN : taken]];
}

const NOT_TAKEN: ParameterRule = { values: [] };
