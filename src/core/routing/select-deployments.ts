import { type Failure, GatewayError } from "../../base/errors.ts";
import { parsePrice } from "../../base/money.ts";
import type { RequestNeeds } from "../../wire/conversation/needs.ts";
import type { MaxPrice, ProviderPreferences } from "../../wire/conversation/preferences.ts";
import type { Warning } from "../../wire/conversation/warning.ts";
import {
  type EffectivePolicy,
  type PolicyLevel,
  type PolicyRule,
  ruleAllows,
} from "../accounts/merge-policies.ts";
import { type ModelEndpoint, type Prices, SAMPLING_PARAMETERS } from "../catalog/records.ts";
import type { Deployment } from "../deployments/served-models.ts";
import type { FilterName } from "../usage/plan-entry.ts";
import type { PromptTokens } from "./prompt-tokens.ts";
import { keepUsable, rejectUnusable } from "./unusable-keys.ts";
import { mayHold, rejectByContextWindow } from "./window.ts";

/** The rules by which a request's deployments are selected. */
export interface SelectionRules {
  readonly policy: EffectivePolicy;
  /** The requested tier; null if a model was requested. */
  readonly tierId: string | null;
  readonly preferences: ProviderPreferences;
  /** Returns what the request uses; called only if it matters. */
  readonly listNeeds: () => RequestNeeds;
  /** Whether the request may contain more than text. */
  readonly mayHaveMedia: boolean;
  /** The most tokens that the prompt may have; prices depend on it. */
  readonly maxPromptTokens: number;
  /** The measured size of the prompt; null if it fits all windows. */
  readonly promptTokens: PromptTokens | null;
}

/** A reason to filter deployments out, and the failure if it leaves none. */
interface DeploymentFilter {
  readonly name: FilterName;
  /** The rule, feature or parameter; null if the name suffices. */
  readonly about: string | null;
  readonly keeps: (deployment: Deployment) => boolean;
  /** Returns the failure; `left` are the deployments that it filtered out, `first` the first of them. */
  readonly refusal: (first: Deployment, left: readonly Deployment[]) => Failure;
}

/** A deployment that was filtered out, and why. */
export interface FilteredOut {
  readonly deployment: Deployment;
  readonly why: FilterName;
  readonly about: string | null;
}

/** The deployments that all filters keep. */
export interface Selection {
  /** By model, without models that have none. */
  readonly deployments: readonly (readonly Deployment[])[];
  readonly filteredOut: readonly FilteredOut[];
  /**
   * The failure if no deployment is left: `model_not_allowed` because of a policy, `invalid_request` because of the request,
   * `unavailable` because BYOK keys cannot be used. Null otherwise.
   */
  readonly refusal: Failure | null;
}

/** Filters deployments by policy, the request's preferences and the features it uses. Pure. */
export function filterDeployments(
  deployments: readonly (readonly Deployment[])[],
  rules: SelectionRules,
): Selection {
  const filteredOut: FilteredOut[] = [];
  let left = deployments;
  for (const { keeps, name: why, about, refusal } of listFilters(deployments, rules)) {
    const keepOrRecord = (deployment: Deployment): boolean => {
      const isKept = keeps(deployment);
      if (!isKept) filteredOut.push({ deployment: deployment, why, about });
      return isKept;
    };
    const before = left;
    left = before.map((ofModel) => ofModel.filter(keepOrRecord)).filter((ofModel) => ofModel.length > 0);
    if (left.length === 0) {
      const all = before.flat();
      return { deployments: left, filteredOut: filteredOut, refusal: refusal(all[0] as Deployment, all) };
    }
  }
  const isUsable = keepUsable(left);
  return isUsable === null
    ? { deployments: left, filteredOut: filteredOut, refusal: null }
    : leaveOutUnusable(left, isUsable, filteredOut);
}

/** Runs last: an unusable BYOK key matters only if policy and request would allow its deployment. */
function leaveOutUnusable(
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
        deployment: deployment,
        why: "own_key_unusable" as const,
        about: null,
      })),
    ],
    refusal: left.length === 0 ? rejectUnusable(unusable) : null,
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
  const { deployments: left, refusal } = filterDeployments(deployments, rules);
  if (refusal !== null) throw new GatewayError(refusal);
  return left;
}

/** Returns a predicate for the deployments that a policy allows, its data rules included. */
export function createPolicyFilter(policy: EffectivePolicy): (deployment: Deployment) => boolean {
  const filters = listPolicyFilters(policy, null);
  return (deployment) => filters.every(({ keeps }) => keeps(deployment));
}

/** Returns warnings for required parameters of which the catalog does not know who supports them. */
export function warnOfParameters(
  { requireParameters }: ProviderPreferences,
  listNeeds: () => RequestNeeds,
): readonly Warning[] {
  const unknown = requireParameters
    ? listNeeds().parameters.filter((name) => !KNOWN_PARAMETERS.has(name))
    : [];
  if (unknown.length === 0) return [];
  const message = `The catalog does not say who takes ${unknown.join(", ")}; that was not looked at.`;
  return [{ field: "provider.require_parameters", message }];
}

function listFilters(
  deployments: readonly (readonly Deployment[])[],
  rules: SelectionRules,
): readonly DeploymentFilter[] {
  const { policy, tierId, preferences, listNeeds, mayHaveMedia, maxPromptTokens, promptTokens } = rules;
  const filters = [...listPolicyFilters(policy, tierId), ...listPreferenceFilters(preferences)];
  const { maxPrice, requireParameters } = preferences;
  const isLacking = deployments.some((ofModel) =>
    ofModel.some(({ endpoint }) => endpoint.lacks !== undefined),
  );
  if (isLacking || mayHaveMedia) {
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

const trainsNot = ({ provider }: Deployment): boolean => provider.record.trainsOnData === false;
const keepsNothing = ({ provider }: Deployment): boolean => provider.record.retainsData === false;

/** `tierId` is the requested tier, which failures name instead of the models that it resolved to. */
function listPolicyFilters(
  { rules, denyDataCollection, zeroRetention }: EffectivePolicy,
  tierId: string | null,
): DeploymentFilter[] {
  const filters = rules.map(
    (rule): DeploymentFilter => ({
      name: "policy",
      about: `${rule.level}.${rule.list}`,
      keeps: ({ model, provider }) => ruleAllows(rule, model.id, provider.record.slug),
      refusal: (deployment) => refuseByPolicy(rule, deployment, tierId),
    }),
  );
  if (denyDataCollection !== null) {
    const refusal = refuseByDataRule(
      denyDataCollection,
      "deny_data_collection",
      "not to train on what they are sent",
      tierId,
    );
    filters.push({
      name: "policy",
      about: `${denyDataCollection}.deny_data_collection`,
      keeps: trainsNot,
      refusal,
    });
  }
  if (zeroRetention !== null) {
    const refusal = refuseByDataRule(
      zeroRetention,
      "zero_retention",
      "to keep nothing of what they are sent",
      tierId,
    );
    filters.push({ name: "policy", about: `${zeroRetention}.zero_retention`, keeps: keepsNothing, refusal });
  }
  return filters;
}

const WHOSE: Readonly<Record<PolicyLevel, string>> = {
  gateway: "The gateway's",
  account: "The account's",
  key: "The key's",
};
const ALLOWED =
  "GET /api/gateway/models with this key lists what is allowed; the policy is its owner's to change.";

function refuseByPolicy(
  { level, list }: PolicyRule,
  { model, provider }: Deployment,
  tierId: string | null,
): Failure {
  const asked = JSON.stringify(tierId ?? model.id);
  const of = list.endsWith("models") ? "" : `${provider.record.name} for `;
  const what =
    tierId === null ? of + asked : `what ${asked} stands for here, such as ${of}${JSON.stringify(model.id)}`;
  return {
    code: "model_not_allowed",
    message: `${WHOSE[level]} policy (${list}) does not allow ${what}. ${ALLOWED}`,
    metadata: { rule: `${level}.${list}`, model: tierId ?? model.id },
  };
}

function refuseByDataRule(
  level: PolicyLevel,
  rule: string,
  known: string,
  tierId: string | null,
): DeploymentFilter["refusal"] {
  return ({ model }) => ({
    code: "model_not_allowed",
    message: `${WHOSE[level]} policy (${rule}) allows only providers that are known ${known}, and none of ${JSON.stringify(tierId ?? model.id)} is. ${ALLOWED}`,
    metadata: { rule: `${level}.${rule}`, model: tierId ?? model.id },
  });
}

function refuseWish(field: string, message: string): DeploymentFilter["refusal"] {
  return () => ({ code: "invalid_request", message, metadata: { field } });
}

/** The filters of the request's own preferences. */
function listPreferenceFilters({
  only,
  ignore,
  denyDataCollection,
  zeroRetention,
}: ProviderPreferences): DeploymentFilter[] {
  const filters: DeploymentFilter[] = [];
  if (denyDataCollection) {
    const message =
      'provider.data_collection "deny" leaves nobody: no provider of this model is known not to train on what it is sent. Name another model, or allow it.';
    const refusal = refuseWish("provider.data_collection", message);
    filters.push({ name: "data_collection", about: null, keeps: trainsNot, refusal });
  }
  if (zeroRetention) {
    const message =
      "provider.zdr leaves nobody: no provider of this model is known to keep nothing of what it is sent. Name another model, or do without.";
    const refusal = refuseWish("provider.zdr", message);
    filters.push({ name: "zero_retention", about: null, keeps: keepsNothing, refusal });
  }
  if (only !== null || ignore.length > 0) {
    filters.push({
      name: "provider_rules",
      about: null,
      keeps: ({ provider: { record } }) =>
        !ignore.includes(record.slug) && (only === null || only.includes(record.slug)),
      refusal: refuseWish(
        "provider",
        "The rules in provider (only, ignore) leave no provider that serves this model. Relax them.",
      ),
    });
  }
  return filters;
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
    refusal: (_first, left) => rejectByContextWindow(left, deployments.flat(), promptTokens),
  };
}

/** Returns the features that a deployment must have: the request's media and tools, and structured output if it asks for it. */
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
      readsFor(deployment, feature) || (knows(deployment, feature) && !lacks(deployment.endpoint, feature)),
    refusal: (first, left) => ({
      code: "invalid_request",
      message: left.some((deployment) => takesInput(deployment, feature))
        ? `No provider of ${JSON.stringify(first.model.id)} that this request may use takes ${feature}. Leave it out, or name another model.`
        : describeBlindness(first, feature, field),
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

/** Whether a deployment accepts an input modality. Features other than modalities count as accepted. */
export function takesInput(deployment: Deployment, feature: string): boolean {
  return readsFor(deployment, feature) || knows(deployment, feature);
}

/** Whether the model accepts a modality, or this is not known. */
function knows({ model }: Deployment, feature: string): boolean {
  if (MODALITIES[feature] === undefined || model.hasUnknownInputs === true) return true;
  return model.inputModalities.includes(feature);
}

/** Whether the provider turns a modality into text for its models. */
function readsFor({ provider }: Deployment, feature: string): boolean {
  return feature === "file" && provider.record.quirks.readsFiles === true;
}

function describeBlindness({ model }: Deployment, feature: string, field: string): string {
  const media = MODALITIES[feature];
  const takes = model.inputModalities.join(", ");
  return `${JSON.stringify(model.id)} takes no ${media}, and there are ${media} in ${field}: its input modalities are ${takes}. Leave them out, name a model that takes them, or name one in models to fall back to; GET /api/gateway/models lists input_modalities.`;
}

/** The parameters for which the catalog lists who supports them. */
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
    keeps: ({ model, endpoint }) =>
      (model.supportedParameters.includes(name) ||
        endpoint.takes?.some((taken) => taken === name) === true) &&
      !lacks(endpoint, name),
    refusal: refuseWish(
      "provider.require_parameters",
      `provider.require_parameters leaves nobody: no provider of this model is known to take ${name}. Leave it out, or name another model.`,
    ),
  };
}

function lacks(endpoint: ModelEndpoint, name: string): boolean {
  return endpoint.lacks?.includes(name) === true;
}

function filterByPrice(maxPrice: MaxPrice, maxPromptTokens: number): DeploymentFilter {
  return {
    name: "max_price",
    about: null,
    keeps: ({ endpoint }) =>
      pricesWithin(endpoint, maxPromptTokens).every((prices) => isWithin(prices, maxPrice)),
    refusal: refuseWish(
      "provider.max_price",
      "provider.max_price leaves nobody: no provider serves this model at that price (US dollars; prompt and completion per million tokens). Raise it, or name another model.",
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

/** A missing price counts as 0. */
function isAtMost(price: string | undefined, units: bigint, most: bigint | null): boolean {
  return most === null || price === undefined || (parsePrice(price) ?? 0n) * units <= most;
}
