import { matchPattern } from "../../base/match-pattern.ts";
import type { ModelTarget } from "../../wire/canonical/format.ts";
import type { ProviderFormat } from "../../wire/conversation/format-name.ts";
import type { ParameterRule, ParameterRules } from "../../wire/conversation/parameter-rules.ts";
import { actionOf } from "./action-of.ts";
import type {
  FamilyProfile,
  ModelEndpoint,
  ModelRecord,
  ModelTakes,
  ProviderQuirks,
  ProviderRecord,
  TakenParameter,
  TakenParameters,
} from "./records.ts";

/** A model endpoint, and what decides about the parameters that it takes. */
export interface TakingEndpoint {
  readonly endpoint: ModelEndpoint;
  readonly model: ModelRecord;
  readonly record: Pick<ProviderRecord, "slug">;
  readonly format: ProviderFormat;
  /** Those of the format in which it is called. */
  readonly quirks: ProviderQuirks;
  readonly families: readonly FamilyProfile[];
}

/**
 * Returns what an endpoint takes of the parameters of a request; null: everything. The provider's own refusals come first, then what is
 * known of the model's family, where later rows change earlier ones, then what the catalog says of the model, the provider of others, and
 * the format.
 */
export function resolveTakes({
  endpoint,
  model,
  record,
  format,
  quirks,
  families,
}: TakingEndpoint): ParameterRules | null {
  const rows = families.filter((row) => isOfFamily(row, model.id, record.slug));
  const taken: Record<string, TakenParameter> = {
    ...TAKEN_BY_FORMAT[format],
    ...quirks.takes,
    ...takenByModel(model, endpoint),
  };
  for (const { parameters } of rows) Object.assign(taken, parameters);
  Object.assign(taken, refusalsOf(quirks.takes));
  const rules = new Map(Object.entries(taken).flatMap(([name, rule]) => toRule(name, rule)));
  if (rules.size === 0) return null;
  const reasonsByDefault = rows.findLast((row) => row.reasonsByDefault !== undefined)?.reasonsByDefault;
  const habit = factsOf(model, endpoint).reasoning;
  return { rules, reasonsByDefault: reasonsByDefault ?? habit !== "when-told" };
}

/** What is known of the model at this endpoint. */
function factsOf(model: ModelRecord, endpoint: ModelEndpoint): ModelTakes {
  return { ...model.takes, ...endpoint.takesHere };
}

/** Returns what a model takes of turns and forced calls at an endpoint; an absent member is unknown, or always. */
export function resolveTurns({
  endpoint,
  model,
  record,
  families,
}: Omit<TakingEndpoint, "format" | "quirks">): Pick<
  ModelTarget,
  "forcedTools" | "takesMidSystem" | "takesPrefill" | "takesUnsigned"
> {
  const { forcedTools, reasoning, midConversationSystem, prefill } = factsOf(model, endpoint);
  const rows = families.filter((row) => isOfFamily(row, model.id, record.slug));
  const inFamily = rows.findLast((row) => row.forcedTools !== undefined)?.forcedTools;
  const unsigned = rows.findLast((row) => row.unsignedThinking !== undefined)?.unsignedThinking;
  const byFacts = reasoning === "always" ? "never" : "without-reasoning";
  const forced = inFamily ?? (forcedTools === false ? byFacts : undefined);
  return {
    ...(forced === undefined ? {} : { forcedTools: forced }),
    ...(midConversationSystem === undefined ? {} : { takesMidSystem: midConversationSystem }),
    ...(prefill === undefined ? {} : { takesPrefill: prefill }),
    ...(unsigned === undefined ? {} : { takesUnsigned: unsigned }),
  };
}

function isOfFamily({ models, except = [], providers }: FamilyProfile, id: string, slug: string): boolean {
  const matches = (pattern: string) => matchPattern(pattern, id);
  if (providers !== undefined && !providers.includes(slug)) return false;
  return models.some(matches) && !except.some(matches);
}

/**
 * What hosts of a format take unless their rows say otherwise. OpenAI's Responses API rejects less than 16 tokens, and so do the hosts that
 * follow it (https://github.com/vectorize-io/hindsight/issues/58, https://github.com/earendil-works/pi/issues/6265, 2026-11-28).
 */
const TAKEN_BY_FORMAT: Readonly<Partial<Record<ProviderFormat, TakenParameters>>> = {
  "openai-responses": { max_output_tokens: { min: 16 } },
};

/** A model of the catalog that has no temperature takes only the default. */
function takenByModel(model: ModelRecord, endpoint: ModelEndpoint): TakenParameters {
  if (model.isUndescribed === true || actionOf(model) !== "chat") return {};
  if (factsOf(model, endpoint).sampling === false) return { ...ONLY_DEFAULT_SAMPLING, top_k: "no" };
  const hasTemperature =
    model.supportedParameters.includes("temperature") && endpoint.lacks?.includes("temperature") !== true;
  return hasTemperature ? {} : ONLY_DEFAULT_SAMPLING;
}

const ONLY_DEFAULT_SAMPLING: TakenParameters = { temperature: { values: [1] }, top_p: { values: [1] } };

/** What a provider takes for no model at all. */
function refusalsOf(taken: TakenParameters = {}): TakenParameters {
  return Object.fromEntries(Object.entries(taken).filter(([, rule]) => rule === "no"));
}

function toRule(name: string, taken: TakenParameter): [string, ParameterRule][] {
  if (taken === "yes") return [];
  return [[name, taken === "no" ? NOT_TAKEN : taken]];
}

const NOT_TAKEN: ParameterRule = { values: [] };
