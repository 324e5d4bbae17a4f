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

/** What a request's deployments are chosen by. */
export interface SelectionRules {
  readonly policy: EffectivePolicy;
  /** The tier that was asked for; null: a model was. */
  readonly tierId: string | null;
  readonly preferences: ProviderPreferences;
  /** Asked for only where it matters. */
  readonly listNeeds: () => RequestNeeds;
  /** Whether there may be more than text in the request. */
  readonly mayHaveMedia: boolean;
  /** Tokens that the prompt has at most: prices rise with its size. */
  readonly maxPromptTokens: number;
  /** What is known of the prompt's size. Null: it need not fit. */
  readonly promptTokens: PromptTokens | null;
}

/** One reason to leave deployments out, and what is said where it leaves none. */
interface DeploymentFilter {
  readonly name: FilterName;
  /** Which rule, feature or parameter it is about; null where the name says it. */
  readonly about: string | null;
  readonly keeps: (deployment: Deployment) => boolean;
  /** `first` is an deployment that was left out, of `left`. */
  readonly refusal: (first: Deployment, left: readonly Deployment[]) => Failure;
}

/** An deployment that may not answer, and why. */
export interface FilteredOut {
  readonly deployment: Deployment;
  readonly why: FilterName;
  readonly about: string | null;
}

/** What the sieves leave. */
export interface Selection {
  /** By model; models of which nothing is left are left out. */
  readonly deployments: readonly (readonly Deployment[])[];
  readonly filteredOut: readonly FilteredOut[];
  /**
   * What the caller is told where nothing is left at all: `model_not_allowed` where a policy did it, `invalid_request` where the
   * request did, `unavailable` where own keys cannot be used.
   */
  readonly refusal: Failure | null;
}

/** The deployments that policy, the request's own rules and what it uses leave, and why each of the others may not answer. Pure. */
export function filterDeployments(
  deployments: readonly (readonly Deployment[])[],
  rules: SelectionRules,
): Selection {
  const filteredOut: FilteredOut[] = [];
  let left = deployments;
  for (const { keeps, name: why, about, refusal } of listSieves(deployments, rules)) {
    const keepsOrTells = (deployment: Deployment): boolean => {
      const isKept = keeps(deployment);
      if (!isKept) filteredOut.push({ deployment: deployment, why, about });
      return isKept;
    };
    const before = left;
    left = before.map((ofModel) => ofModel.filter(keepsOrTells)).filter((ofModel) => ofModel.length > 0);
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

/** Runs last: an own key that cannot be used matters only where policy and request would have let it answer. */
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
 * The deployments that are left.
 * @throws GatewayError where nothing is; it names the rule.
 */
export function selectDeployments(
  deployments: readonly (readonly Deployment[])[],
  rules: SelectionRules,
): readonly (readonly Deployment[])[] {
  const { deployments: left, refusal } = filterDeployments(deployments, rules);
  if (refusal !== null) throw new GatewayError(refusal);
  return left;
}

/** Says of deployments whether a policy leaves them, its rules about data among them. */
export function createPolicyFilter(policy: EffectivePolicy): (deployment: Deployment) => boolean {
  const sieves = listPolicySieves(policy, null);
  return (deployment) => sieves.every(({ keeps }) => keeps(deployment));
}

/** What was wished for and cannot be done, for `gateway_metadata.warnings`. */
export function warnOfParameters(
  { requireParameters }: ProviderPreferences,
  listNeeds: () => RequestNeeds,
): readonly Warning[] {
  const untold = requireParameters ? listNeeds().parameters.filter((name) => !TOLD.has(name)) : [];
  if (untold.length === 0) return [];
  const message = `The catalog does not say who takes ${untold.join(", ")}; that was not looked at.`;
  return [{ field: "provider.require_parameters", message }];
}

/** Most requests have none. */
function listSieves(
  deployments: readonly (readonly Deployment[])[],
  rules: SelectionRules,
): readonly DeploymentFilter[] {
  const { policy, tierId, preferences, listNeeds, mayHaveMedia, maxPromptTokens, promptTokens } = rules;
  const sieves = [...listPolicySieves(policy, tierId), ...listWishSieves(preferences)];
  const { maxPrice, requireParameters } = preferences;
  const isLacking = deployments.some((ofModel) =>
    ofModel.some(({ endpoint }) => endpoint.lacks !== undefined),
  );
  if (isLacking || mayHaveMedia) {
    const needs = listNeeds();
    sieves.push(...listFeatures(needs).map((feature) => sieveFeature(feature, needs.contentField)));
  }
  if (requireParameters)
    sieves.push(
      ...listNeeds()
        .parameters.filter((name) => TOLD.has(name))
        .map(sieveParameter),
    );
  if (maxPrice !== null) sieves.push(sievePrice(maxPrice, maxPromptTokens));
  if (promptTokens !== null) sieves.push(sieveWindow(deployments, promptTokens));
  return sieves;
}

const trainsNot = ({ provider }: Deployment): boolean => provider.record.trainsOnData === false;
const keepsNothing = ({ provider }: Deployment): boolean => provider.record.retainsData === false;

/** `tierId` is what a refusal speaks of where the caller asked for a tier and does not know what it came to. */
function listPolicySieves(
  { rules, denyDataCollection, zeroRetention }: EffectivePolicy,
  tierId: string | null,
): DeploymentFilter[] {
  const sieves = rules.map(
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
    sieves.push({
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
    sieves.push({ name: "policy", about: `${zeroRetention}.zero_retention`, keeps: keepsNothing, refusal });
  }
  return sieves;
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

/** What the request itself says of providers. */
function listWishSieves({
  only,
  ignore,
  denyDataCollection,
  zeroRetention,
}: ProviderPreferences): DeploymentFilter[] {
  const sieves: DeploymentFilter[] = [];
  if (denyDataCollection) {
    const message =
      'provider.data_collection "deny" leaves nobody: no provider of this model is known not to train on what it is sent. Name another model, or allow it.';
    const refusal = refuseWish("provider.data_collection", message);
    sieves.push({ name: "data_collection", about: null, keeps: trainsNot, refusal });
  }
  if (zeroRetention) {
    const message =
      "provider.zdr leaves nobody: no provider of this model is known to keep nothing of what it is sent. Name another model, or do without.";
    const refusal = refuseWish("provider.zdr", message);
    sieves.push({ name: "zero_retention", about: null, keeps: keepsNothing, refusal });
  }
  if (only !== null || ignore.length > 0) {
    sieves.push({
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
  return sieves;
}

/** Whose window the prompt cannot fit. */
function sieveWindow(
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

/** What the request cannot do without: what is in it, and an answer of the shape that it names. */
function listFeatures({ features, parameters }: RequestNeeds): readonly string[] {
  return parameters.includes(STRUCTURED) ? [...features, STRUCTURED] : features;
}

const STRUCTURED = "structured_outputs";
const FEATURE_FIELDS: Readonly<Record<string, string>> = { tools: "tools", [STRUCTURED]: "response_format" };

/** Without it the request cannot be served there: a modality, tools, or structured output. */
function sieveFeature(feature: string, contentField: string): DeploymentFilter {
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

/** Whether an deployment takes a modality as far as its model goes; all else that a request needs is not the model's alone. */
export function takesInput(deployment: Deployment, feature: string): boolean {
  return readsFor(deployment, feature) || knows(deployment, feature);
}

/** Whether the model takes a modality, or nobody knows. */
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

/** The parameters of which the catalog says who takes them. */
const TOLD: ReadonlySet<string> = new Set([
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

function sieveParameter(name: string): DeploymentFilter {
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

function sievePrice(maxPrice: MaxPrice, maxPromptTokens: number): DeploymentFilter {
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

/** All prices that may come to hold for a prompt of at most so many tokens. */
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

/** What has no price of its own costs nothing apart. */
function isAtMost(price: string | undefined, units: bigint, most: bigint | null): boolean {
  return most === null || price === undefined || (parsePrice(price) ?? 0n) * units <= most;
}
