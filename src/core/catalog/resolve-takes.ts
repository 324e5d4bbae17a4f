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
  TakenParameter,
  TakenParameters,
} from "./records.ts";
import { hasTemperature } from "./sampling-parameters.ts";

/** A model endpoint, and what decides about the parameters that it takes. */
export interface TakingEndpoint {
  readonly endpoint: ModelEndpoint;
  readonly model: ModelRecord;
  readonly format: ProviderFormat;
  /** Those of the format in which it is called. */
  readonly quirks: ProviderQuirks;
  /** The profiles of the model's families at its provider (`findFamilies`). */
  readonly families: readonly FamilyProfile[];
}

/** Returns the profiles of the families that a model belongs to at a provider, in their order. */
export function findFamilies(
  all: readonly FamilyProfile[],
  modelId: string,
  provider: string,
): readonly FamilyProfile[] {
  const matches = (pattern: string) => matchPattern(pattern, modelId);
  return all.filter(
    ({ models, except = [], providers }) =>
      (providers === undefined || providers.includes(provider)) &&
      models.some(matches) &&
      !except.some(matches),
  );
}

/**
 * Returns what an endpoint takes of the parameters of a request; null: everything. The provider's own refusals come first, then what is
 * known of the model's family, where later rows change earlier ones, then what the catalog says of the model, the provider of others, and
 * the format.
 */
export function resolveTakes({
  endpoint,
  model,
  format,
  quirks,
  families,
}: TakingEndpoint): ParameterRules | null {
  const taken: Record<string, TakenParameter> = {
    ...TAKEN_BY_FORMAT[format],
    ...quirks.takes,
    ...takenByModel(model, endpoint),
  };
  for (const { parameters } of families) Object.assign(taken, parameters);
  Object.assign(taken, refusalsOf(quirks.takes));
  const rules = new Map(Object.entries(taken).flatMap(([name, rule]) => toRule(name, rule)));
  if (rules.size === 0) return null;
  const reasonsByDefault = lastOf(families, "reasonsByDefault");
  const habit = factsOf(model, endpoint).reasoning;
  return {
    rules,
    reasonsByDefault: reasonsByDefault ?? habit !== "when-told",
    alwaysReasons: habit === "always" || cannotStop(model),
  };
}

/** Whether no effort of a model is none. It then gets its least effort instead. */
function cannotStop({ reasoning }: ModelRecord): boolean {
  const { efforts = [], canDisable, onlyWhenTold } = reasoning ?? {};
  return efforts.length > 0 && !efforts.includes("none") && canDisable !== true && onlyWhenTold !== true;
}

/** What is known of the model at this endpoint. */
function factsOf(model: ModelRecord, endpoint: ModelEndpoint): ModelTakes {
  return { ...model.takes, ...endpoint.takesHere };
}

/** Returns what a model takes of turns and forced calls at an endpoint; an absent member is unknown, or always. */
export function resolveTurns({
  endpoint,
  model,
  families,
}: Omit<TakingEndpoint, "format" | "quirks">): Pick<
  ModelTarget,
  "forcedTools" | "takesMidSystem" | "takesPrefill" | "takesUnsigned"
> {
  const { forcedTools, reasoning, midConversationSystem, prefill } = factsOf(model, endpoint);
  const unsigned = lastOf(families, "unsignedThinking");
  const byFacts = reasoning === "always" ? "never" : "without-reasoning";
  const forced = lastOf(families, "forcedTools") ?? (forcedTools === false ? byFacts : undefined);
  return {
    ...(forced === undefined ? {} : { forcedTools: forced }),
    ...(midConversationSystem === undefined ? {} : { takesMidSystem: midConversationSystem }),
    ...(prefill === undefined ? {} : { takesPrefill: prefill }),
    ...(unsigned === undefined ? {} : { takesUnsigned: unsigned }),
  };
}

/** Returns a member of the last profile that has it; undefined if none has. */
function lastOf<K extends keyof FamilyProfile>(
  families: readonly FamilyProfile[],
  member: K,
): FamilyProfile[K] | undefined {
  return families.findLast((family) => family[member] !== undefined)?.[member];
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
  return hasTemperature(model, endpoint) ? {} : ONLY_DEFAULT_SAMPLING;
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
