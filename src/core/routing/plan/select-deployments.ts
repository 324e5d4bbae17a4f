import { type Failure, GatewayError } from "../../../base/failures/errors.ts";
import { parsePrice } from "../../../base/numbers/money.ts";
import type { RequestNeeds } from "../../../wire/conversation/needs.ts";
import type { MaxPrice, ProviderPreferences } from "../../../wire/conversation/preferences.ts";
import { SAMPLING_PARAMETERS } from "../../../wire/conversation/traits/sampling-parameters.ts";
import type { Warning } from "../../../wire/conversation/warning.ts";
import {
  allowsChoice,
  type EffectivePolicy,
  type PolicyLevel,
  type PolicyRule,
  ruleAllows,
  WHOSE_POLICY,
} from "../../accounts/records/merge-policies.ts";
import { parametersOf } from "../../catalog/profile/endpoint-profile.ts";
import type { ModelEndpoint, Prices } from "../../catalog/records/records.ts";
import type { Deployment } from "../../deployments/served-models.ts";
import type { FilterName } from "../../usage/records/plan-entry.ts";
import { keepUsable, rejectUnusable } from "../health/unusable-keys.ts";
import type { PromptTokens } from "./prompt-tokens.ts";
import { mayHold, rejectByContextWindow } from "./window.ts";

/** The rules by which a request's deployments are selected. */
interface SelectionRules {
  readonly policy: EffectivePolicy;
  /** The requested tier or named route; null if a model was requested. */
  readonly choiceId: string | null;
  readonly preferences: ProviderPreferences;
  /** Returns the features and parameters that the request uses. Called only if a filter depends on them. */
  readonly listNeeds: () => RequestNeeds;
  /** Whether the request may contain more than text. */
  readonly mayHaveMedia: boolean;
  /** An upper bound of the prompt's tokens, on which prices depend. */
  readonly maxPromptTokens: number;
  /** The measured size of the prompt; null if it fits all context windows. */
  readonly promptTokens: PromptTokens | null;
}

/** A reason to filter deployments out, and the failure if it leaves none. */
interface DeploymentFilter {
  readonly name: FilterName;
  /** The rule, feature or parameter; null if the name suffices. */
  readonly about: string | null;
  readonly keeps: (deployment: Deployment) => boolean;
  /** Returns the failure. `left` are the deployments that it filtered out, `first` is the first of them. */
  readonly rejection: (first: Deployment, left: readonly Deployment[]) => Failure;
}

/** A deployment that was filtered out, and why. */
export interface FilteredOut {
  readonly deployment: Deployment;
  readonly why: FilterName;
  readonly about: string | null;
}

/** The deployments that all filters keep. */
interface Selection {
  /** By model, without models that have none. */
  readonly deployments: readonly (readonly Deployment[])[];
  readonly filteredOut: readonly FilteredOut[];
  /**
   * The failure if no deployment is left: `model_not_allowed` because of a policy, `invalid_request` because of the request,
   * `unavailable` because BYOK keys cannot be used. Null otherwise.
   */
  readonly rejection: Failure | null;
}

/** Filters deployments by policy, the request's preferences and the features it uses. Pure. */
export function filterDeployments(
  deployments: readonly (readonly Deployment[])[],
  rules: SelectionRules,
): Selection {
  const filteredOut: FilteredOut[] = [];
  let left = deployments;
  for (const filter of listFilters(deployments, rules)) {
    const { name: why, about, keeps, rejection } = filter;
    const keepOrRecord = (deployment: Deployment): boolean => {
      const isKept = keeps(deployment);
      if (!isKept) filteredOut.push({ deployment, why, about });
      return isKept;
    };
    const before = left;
    left = before.map((ofModel) => ofModel.filter(keepOrRecord)).filter((ofModel) => ofModel.length > 0);
    if (left.length === 0) {
      const all = before.flat();
      return { deployments: left, filteredOut: filteredOut, rejection: rejection(all[0] as Deployment, all) };
    }
  }
  const isUsable = keepUsable(left);
  return isUsable === null
    ? { deployments: left, filteredOut: filteredOut, rejection: null }
    : filterOutUnusable(left, isUsable, filteredOut);
}

/** Filters out deployments whose BYOK keys cannot be used. Runs last, because these keys matter only if policy and request allow the deployment. */
function filterOutUnusable(
  deployments: readonly (readonly Deployment[])[],
  isUsable: (deployment: Deployment, modelIndex: number) => boolean,
  filteredOut: readonly FilteredOut[],
): Selection {
  const unusable = deployments.flatMap((ofModel, index) =>
    ofModel.filter((deployment) => !isUsable(deployment, index)),
  );
  const left = deployments
    .map((ofModel, index) => ofModel.filter((deployment) => isUsable(deployment, index)))
    .filter((ofModel) => ofModel.length > 0);
  return {
    deployments: left,
    filteredOut: [
      ...filteredOut,
      ...unusable.map((deployment) => ({
        deployment,
        why: "own_key_unusable" as const,
        about: null,
      })),
    ],
    rejection: left.length === 0 ? rejectUnusable(unusable) : null,
  };
}

/**
 * Filters deployments as `filterDeployments` does.
 * @throws GatewayError if none is left; it names the rule.
 */
export function selectDeployments(
  deployments: readonly (readonly Deployment[])[],
  rules: SelectionRules,
): readonly (readonly Deployment[])[] {
  const { deployments: left, rejection } = filterDeployments(deployments, rules);
  if (rejection !== null) throw new GatewayError(rejection);
  return left;
}

/** Returns a predicate for the deployments that a policy allows, its data rules included. */
export function createPolicyFilter(policy: EffectivePolicy): (deployment: Deployment) => boolean {
  const filters = listPolicyFilters(policy, null);
  return (deployment) => filters.every(({ keeps }) => keeps(deployment));
}

/** Returns a warning if the catalog does not know which endpoints support a required parameter. */
export function warnOfParameters(
  { requireParameters }: ProviderPreferences,
  listNeeds: () => RequestNeeds,
): readonly Warning[] {
  const unknown = requireParameters
    ? listNeeds().parameters.filter((name) => !KNOWN_PARAMETERS.has(name))
    : [];
  if (unknown.length === 0) return [];
  const message = `The catalog does not know which providers support ${unknown.join(", ")}. The rule was not applied to them.`;
  return [{ field: "provider.require_parameters", message }];
}

function listFilters(
  deployments: readonly (readonly Deployment[])[],
  rules: SelectionRules,
): readonly DeploymentFilter[] {
  const { policy, choiceId, preferences, listNeeds, mayHaveMedia, maxPromptTokens, promptTokens } = rules;
  const filters = listPolicyFilters(policy, choiceId);
  addPreferenceFilters(filters, preferences);
  const { maxPrice, requireParameters } = preferences;
  if (mayHaveMedia || deployments.some((ofModel) => ofModel.some(isLacking))) {
    const needs = listNeeds();
    filters.push(...listFeatures(needs).map((feature) => filterByFeature(feature, needs.contentField)));
  }
  if (requireParameters)
    filters.push(
      ...listNeeds()
        .parameters.filter((name) => KNOWN_PARAMETERS.has(name))
        .map(filterByParameter),
    );
  if (maxPrice !== null) filters.push(filterByPrice(maxPrice, maxPromptTokens));
  if (promptTokens !== null) filters.push(filterByWindow(deployments, promptTokens));
  return filters;
}

const isLacking = ({ endpoint }: Deployment): boolean => endpoint.lacks !== undefined;
const isWithoutTraining = ({ provider }: Deployment): boolean => provider.record.trainsOnData === false;
const isWithoutRetention = ({ provider }: Deployment): boolean => provider.record.retainsData === false;

/** `choiceId` is the requested tier or named route. Failures name it instead of the models that it resolved to. */
function listPolicyFilters(
  { rules, denyDataCollection, zeroRetention }: EffectivePolicy,
  choiceId: string | null,
): DeploymentFilter[] {
  const filters = rules.map(
    (rule): DeploymentFilter => ({
      name: "policy",
      about: `${rule.level}.${rule.list}`,
      keeps: ({ model, provider, choices = [] }) =>
        ruleAllows(rule, model.id, provider.record.slug) || choices.some((name) => allowsChoice(rule, name)),
      rejection: (deployment) => rejectByPolicy(rule, deployment, choiceId),
    }),
  );
  if (denyDataCollection !== null)
    filters.push(filterByDataRule(denyDataCollection, DENY_DATA_COLLECTION, choiceId));
  if (zeroRetention !== null) filters.push(filterByDataRule(zeroRetention, ZERO_RETENTION, choiceId));
  return filters;
}

/** A rule of a policy about the data that providers receive. */
interface DataRule {
  readonly name: string;
  /** Completes "providers known …". */
  readonly known: string;
  readonly keeps: (deployment: Deployment) => boolean;
}

const DENY_DATA_COLLECTION: DataRule = {
  name: "deny_data_collection",
  known: "not to train on request data",
  keeps: isWithoutTraining,
};
const ZERO_RETENTION: DataRule = {
  name: "zero_retention",
  known: "to retain no request data",
  keeps: isWithoutRetention,
};

const ALLOWED =
  "GET /api/gateway/models with this key lists the allowed models. Only the owner of the policy can change it.";

function rejectByPolicy(
  { level, list }: PolicyRule,
  { model, provider }: Deployment,
  choiceId: string | null,
): Failure {
  const asked = JSON.stringify(choiceId ?? model.id);
  const of = list.endsWith("models") ? "" : `${provider.record.name} for `;
  const what =
    choiceId === null
      ? of + asked
      : `any model that ${asked} resolves to, such as ${of}${JSON.stringify(model.id)}`;
  return {
    code: "model_not_allowed",
    message: `${WHOSE_POLICY[level]} policy (${list}) does not allow ${what}. ${ALLOWED}`,
    metadata: { rule: `${level}.${list}`, model: choiceId ?? model.id },
  };
}

function filterByDataRule(
  level: PolicyLevel,
  { name, known, keeps }: DataRule,
  choiceId: string | null,
): DeploymentFilter {
  const rule = `${level}.${name}`;
  return {
    name: "policy",
    about: rule,
    keeps,
    rejection: ({ model }) => ({
      code: "model_not_allowed",
      message: `${WHOSE_POLICY[level]} policy (${name}) allows only providers known ${known}, and no provider of ${JSON.stringify(choiceId ?? model.id)} is. ${ALLOWED}`,
      metadata: { rule, model: choiceId ?? model.id },
    }),
  };
}

function rejectField(field: string, message: string): DeploymentFilter["rejection"] {
  return () => ({ code: "invalid_request", message, metadata: { field } });
}

/** Adds the filters of the request's own preferences. */
function addPreferenceFilters(
  filters: DeploymentFilter[],
  { only, ignore, denyDataCollection, zeroRetention }: ProviderPreferences,
): void {
  if (denyDataCollection) {
    const message =
      'provider.data_collection "deny" leaves no provider: no provider of this model is known not to train on request data. Request another model, or allow data collection.';
    const rejection = rejectField("provider.data_collection", message);
    filters.push({ name: "data_collection", about: null, keeps: isWithoutTraining, rejection });
  }
  if (zeroRetention) {
    const message =
      "provider.zdr leaves no provider: no provider of this model is known to retain no request data. Request another model, or omit provider.zdr.";
    const rejection = rejectField("provider.zdr", message);
    filters.push({ name: "zero_retention", about: null, keeps: isWithoutRetention, rejection });
  }
  if (only !== null || ignore.length > 0) {
    filters.push({
      name: "provider_rules",
      about: null,
      keeps: ({ provider: { record } }) =>
        !ignore.includes(record.slug) && (only === null || only.includes(record.slug)),
      rejection: rejectField(
        "provider",
        "The rules in provider (only, ignore) exclude every provider of this model. Relax them.",
      ),
    });
  }
}

/** Filters out deployments whose context window the prompt cannot fit. */
function filterByWindow(
  deployments: readonly (readonly Deployment[])[],
  promptTokens: PromptTokens,
): DeploymentFilter {
  return {
    name: "window",
    about: null,
    keeps: (deployment) => mayHold(deployment, promptTokens),
    rejection: (_first, left) => rejectByContextWindow(left, deployments.flat(), promptTokens),
  };
}

/** Returns the features that a deployment must have: those of the request's media and tools, and structured output if it is requested. */
function listFeatures({ features, parameters }: RequestNeeds): readonly string[] {
  return parameters.includes(STRUCTURED) ? [...features, STRUCTURED] : features;
}

const STRUCTURED = "structured_outputs";
const FEATURE_FIELDS: Readonly<Record<string, string>> = { tools: "tools", [STRUCTURED]: "response_format" };

/** Filters out deployments without a modality, tools or structured output. */
function filterByFeature(feature: string, contentField: string): DeploymentFilter {
  const field = FEATURE_FIELDS[feature] ?? contentField;
  return {
    name: "lacks_feature",
    about: feature,
    keeps: (deployment) =>
      isConverted(deployment, feature) ||
      (acceptsInput(deployment, feature) && !lacksParameter(deployment.endpoint, feature)),
    rejection: (first, left) => ({
      code: "invalid_request",
      message: left.some((deployment) => takesInput(deployment, feature))
        ? `No provider of ${JSON.stringify(first.model.id)} that this request may use accepts ${feature}. Remove it, or request another model.`
        : describeMissingModality(first, feature, field),
      metadata: { field, lacks: feature, model: first.model.id },
    }),
  };
}

const MODALITIES: Readonly<Record<string, string>> = {
  image: "images",
  file: "files",
  audio: "audio",
  video: "video",
};

/** Whether model or provider accepts an input modality. Features other than modalities count as accepted. */
export function takesInput(deployment: Deployment, feature: string): boolean {
  return isConverted(deployment, feature) || acceptsInput(deployment, feature);
}

/** Whether the model accepts a modality, or this is unknown. */
function acceptsInput({ model }: Deployment, feature: string): boolean {
  if (MODALITIES[feature] === undefined || model.hasUnknownInputs === true) return true;
  return model.inputModalities.includes(feature);
}

/** Whether the provider converts a modality to text for its models. */
function isConverted({ provider }: Deployment, feature: string): boolean {
  return feature === "file" && provider.record.quirks.readsFiles === true;
}

function describeMissingModality({ model }: Deployment, feature: string, field: string): string {
  const media = MODALITIES[feature];
  const takes = model.inputModalities.join(", ");
  return `${JSON.stringify(model.id)} does not accept ${media}, and there are ${media} in ${field}: its input modalities are ${takes}. Remove them, request a model that accepts them, or name one in models as a fallback. GET /api/gateway/models lists input_modalities.`;
}

/** The parameters for which the catalog lists the endpoints that support them. */
const KNOWN_PARAMETERS: ReadonlySet<string> = new Set([
  ...SAMPLING_PARAMETERS,
  "max_tokens",
  "temperature",
  "top_p",
  "tools",
  "tool_choice",
  "response_format",
  "structured_outputs",
  "reasoning",
  "reasoning_effort",
  "include_reasoning",
]);

function filterByParameter(name: string): DeploymentFilter {
  return {
    name: "lacks_parameter",
    about: name,
    keeps: ({ model, endpoint }) => parametersOf(model, endpoint).includes(name),
    rejection: rejectField(
      "provider.require_parameters",
      `provider.require_parameters leaves no provider: no provider of this model is known to support ${name}. Omit it, or request another model.`,
    ),
  };
}

function lacksParameter(endpoint: ModelEndpoint, name: string): boolean {
  return endpoint.lacks?.includes(name) === true;
}

function filterByPrice(maxPrice: MaxPrice, maxPromptTokens: number): DeploymentFilter {
  return {
    name: "max_price",
    about: null,
    keeps: ({ endpoint }) =>
      pricesWithin(endpoint, maxPromptTokens).every((prices) => isWithin(prices, maxPrice)),
    rejection: rejectField(
      "provider.max_price",
      "provider.max_price leaves no provider: none serves this model at that price (US dollars; prompt and completion per million tokens). Raise it, or request another model.",
    ),
  };
}

/** Returns all prices that may apply to a prompt of at most `maxPromptTokens`. */
function pricesWithin(
  { prices, priceTiers = [] }: ModelEndpoint,
  maxPromptTokens: number,
): readonly Prices[] {
  const tiers = priceTiers.filter(({ minPromptTokens }) => minPromptTokens <= maxPromptTokens);
  return prices === null ? tiers : [prices, ...tiers];
}

const MILLION = 1_000_000n;

function isWithin(prices: Prices, { prompt, completion, request, image }: MaxPrice): boolean {
  return (
    isAtMost(prices.prompt, MILLION, prompt) &&
    isAtMost(prices.completion, MILLION, completion) &&
    isAtMost(prices.request, 1n, request) &&
    isAtMost(prices.requestMedium, 1n, request) &&
    isAtMost(prices.requestHigh, 1n, request) &&
    isAtMost(prices.image, 1n, image)
  );
}

/** Whether `units` times a price are at most `most`. A missing price counts as 0. */
function isAtMost(price: string | undefined, units: bigint, most: bigint | null): boolean {
  return most === null || price === undefined || (parsePrice(price) ?? 0n) * units <= most;
}
