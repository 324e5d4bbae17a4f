import { type Failure, fail } from "../../../base/failures/errors.ts";
import type { InferenceRequest } from "../../../wire/client-apis/request/inference-request.ts";
import type { RequestNeeds } from "../../../wire/conversation/needs.ts";
import { type EffectivePolicy, type PolicyRule, ruleAllows } from "../../accounts/records/merge-policies.ts";
import type { InferencePrincipal } from "../../accounts/records/principal.ts";
import { isFreeId } from "../../catalog/records/is-free-id.ts";
import type { TierRecord } from "../../catalog/tiers/tier-records.ts";
import type { Deployment } from "../../deployments/served-models.ts";
import type { Ledger } from "../../ledger/credits/ledger.ts";
import { freeSessionKeyOf, type SessionRequest } from "../../routing/affinity/session-key.ts";
import { chooseDeployments, type KeyChoice } from "../../routing/plan/choose-deployments.ts";
import { type ResolvedTier, resolveTier, type TierFacts } from "../../routing/plan/resolve-tier.ts";
import { takesInput } from "../../routing/plan/select-deployments.ts";
import type { GenerationCall, Serving } from "../call/call.ts";
import { missingByokKey } from "./missing-byok-key.ts";

/** The part of a call on which the resolution of a tier depends. */
export interface TierCall {
  readonly principal: InferencePrincipal;
  readonly request: SessionRequest & Pick<InferenceRequest, "api">;
  readonly headers: GenerationCall["headers"];
}

/** The state that decides the deployments of a tier. */
export interface TierContext {
  readonly serving: Serving;
  readonly choice: KeyChoice;
  readonly policy: EffectivePolicy;
  readonly isAnonymous: boolean;
  readonly facts: TierFacts;
  readonly listNeeds: () => RequestNeeds;
}

/** The deployments of a tier's models. */
export interface TierDeployments {
  /** By model in the tier's order, each model with at least one. */
  readonly deployments: readonly (readonly Deployment[])[];
  /** Why there are no deployments; null if there are some. */
  readonly failure: Failure | null;
}

/** Returns the facts of a request and its caller by which tiers choose. If a tier chooses by balance, the balance must be cached. */
export function describeFacts(
  { catalog }: Serving,
  ledger: Pick<Ledger, "cachedBalanceOf">,
  { principal, request, headers }: TierCall,
): TierFacts {
  return {
    api: request.api,
    headers,
    hasCredits: () => hasCredits(ledger, principal),
    session: () => freeSessionKeyOf(request, principal),
    freeModels: () => catalog.freeModels,
  };
}

/** Returns whether the account that pays has a positive balance or an unlimited overdraft. */
function hasCredits(ledger: Pick<Ledger, "cachedBalanceOf">, principal: InferencePrincipal): boolean {
  if (principal.kind === "anonymous") return false;
  const { id, overdraft } = principal.account;
  return overdraft === null || (ledger.cachedBalanceOf(id) ?? 0) > 0;
}

/**
 * Finds the deployments of a tier: those of the models that it resolves to for this request. Models that are not served, or lack a feature
 * that the request needs, are skipped.
 * @throws GatewayError `authentication` for an anonymous request if none of the models is free.
 */
export function findTierDeployments(tier: TierRecord, context: TierContext): TierDeployments {
  const { serving, choice, policy, facts } = context;
  const forbidding = findForbidding(policy, tier.id);
  if (forbidding !== undefined) return none(denyByPolicy(tier.id, forbidding));
  const resolved = resolveTier(tier.rule, facts, serving.tiers);
  const { models } = resolved;
  const ids = context.isAnonymous ? models.filter(isFreeId) : models;
  if (ids.length === 0 && models.length > 0) rejectAnonymous(tier);
  const served = listServed(ids, context);
  if (served.length === 0) {
    const isReachable = ids.some((id) => serving.servedModels.allDeploymentsOf(id).length > 0);
    if (choice.byokOnly !== null && isReachable) return none(missingByokKey(tier.id, choice.byokOnly));
    return rejectUnserved(tier, models);
  }
  const missing = findMissing(served, context.listNeeds);
  const able = served.filter((deployments) => missing(deployments).length === 0);
  const { contentField } = context.listNeeds();
  if (able.length === 0)
    return rejectIncapable(tier, missing(served[0] as readonly Deployment[])[0] as string, contentField);
  return {
    deployments: [...applyOverrides(able, resolved), ...findReserve(resolved, context)],
    failure: null,
  };
}

/** Returns the deployments of models, by model, without models that are not served. */
function listServed(
  ids: readonly string[],
  { serving, choice }: TierContext,
): readonly (readonly Deployment[])[] {
  return ids.flatMap((id) => {
    const deployments = chooseDeployments(serving.servedModels, { modelId: id, action: "chat" }, choice);
    return deployments.length > 0 ? [deployments] : [];
  });
}

/** Returns the deployments that answer if the balance does not cover the others; none if the tier has no such case. */
function findReserve({ reserve }: ResolvedTier, context: TierContext): readonly (readonly Deployment[])[] {
  if (reserve === null) return [];
  const served = listServed(reserve.models, context);
  const missing = findMissing(served, context.listNeeds);
  const able = served.filter((deployments) => missing(deployments).length === 0);
  return applyOverrides(able, reserve).map((ofModel) =>
    ofModel.map((deployment) => ({ ...deployment, isReserve: true as const })),
  );
}

function applyOverrides(
  deployments: readonly (readonly Deployment[])[],
  { overrides }: Pick<ResolvedTier, "overrides">,
): readonly (readonly Deployment[])[] {
  return deployments.map((ofModel) => ofModel.map((deployment) => withOverrides(deployment, overrides)));
}

/** Returns a deployment with the tier's overrides. */
function withOverrides(deployment: Deployment, overrides: ResolvedTier["overrides"]): Deployment {
  if (overrides === null) return deployment;
  return { ...deployment, overrides: overrides(deployment.model, deployment.provider.record) };
}

/**
 * Returns the policy rule that denies a tier or named route by its name. Lists of allowed models apply to the models that it resolves to,
 * unless they name it.
 */
export function findForbidding({ rules }: EffectivePolicy, id: string): PolicyRule | undefined {
  return rules.find((rule) => rule.list === "denied_models" && !ruleAllows(rule, id, ""));
}

/** Returns a function that lists the features that the request needs and no deployment of a model has. */
function findMissing(
  served: readonly (readonly Deployment[])[],
  listNeeds: () => RequestNeeds,
): (deployments: readonly Deployment[]) => readonly string[] {
  const { features } = served.length > 0 ? listNeeds() : { features: [] };
  return (deployments) =>
    features.filter((feature) => {
      if (feature !== "tools") return !deployments.some((deployment) => takesInput(deployment, feature));
      return !(deployments[0] as Deployment).model.supportedParameters.includes(feature);
    });
}

/** Returns the failure of a request for a tier or named route that a policy denies. */
export function denyByPolicy(id: string, { level, list }: PolicyRule): Failure {
  return {
    code: "model_not_allowed",
    message: `The ${level}'s policy (${list}) does not allow "${id}". GET /api/gateway/models with this key lists what is allowed; its owner can change the policy.`,
    metadata: { rule: `${level}.${list}`, model: id },
  };
}

function rejectAnonymous({ id }: TierRecord): never {
  return fail(
    "authentication",
    `"${id}" needs an API key. Send it as "Authorization: Bearer gw_…", or use a model whose id ends in ":free".`,
  );
}

/** Rejects a tier without any served model. Free models may return soon; other models must be configured by the operator. */
function rejectUnserved({ id, rule }: TierRecord, models: readonly string[]): TierDeployments {
  if (rule.by === "free" || (models.length > 0 && models.every(isFreeId))) {
    return none({
      code: "unavailable",
      message: `No free model is available for "${id}" at the moment. Choose another model; GET /api/gateway/models lists them.`,
      metadata: { model: id },
      retryAfterS: FREE_RETRY_S,
    });
  }
  const named = models.slice(0, 3).join(", ");
  return none({
    code: "invalid_model",
    message: `No configured provider serves a model of "${id}" (${named}, …). GET /api/gateway/models lists the served models.`,
    metadata: { model: id },
  });
}

/** The `Retry-After` for unserved free models, which change only with the catalog. Seconds. */
const FREE_RETRY_S = 60;

function rejectIncapable({ id }: TierRecord, feature: string, contentField: string): TierDeployments {
  return none({
    code: "invalid_request",
    message: `No model of "${id}" that is served here supports ${feature}. Remove it, or choose another model.`,
    metadata: { field: feature === "tools" ? "tools" : contentField, lacks: feature, model: id },
  });
}

function none(failure: Failure): TierDeployments {
  return { deployments: [], failure };
}

/**
 * Rejects a tier at an API endpoint that accepts only models.
 * @throws GatewayError `invalid_model`, always.
 */
export function rejectTierHere({ id }: TierRecord, action: InferenceRequest["action"]): never {
  return fail("invalid_model", `"${id}" is for conversations. Name a model here.`, {
    metadata: { model: id, action },
  });
}
