import { type Failure, fail } from "../../base/errors.ts";
import type { InferenceRequest, SamplingField } from "../../wire/client-apis/inference-request.ts";
import type { RequestNeeds } from "../../wire/conversation/needs.ts";
import { type EffectivePolicy, type PolicyRule, ruleAllows } from "../accounts/merge-policies.ts";
import type { InferencePrincipal } from "../accounts/principal.ts";
import type { Catalog } from "../catalog/catalog.ts";
import { isFreeId } from "../catalog/is-free-id.ts";
import type { ModelRecord } from "../catalog/records.ts";
import type { TierRecord } from "../catalog/tier-records.ts";
import type { Deployment } from "../deployments/served-models.ts";
import { chooseDeployments, type KeyChoice } from "../routing/choose-deployments.ts";
import { type ResolvedTier, resolveTier, type TierFacts } from "../routing/resolve-tier.ts";
import { takesInput } from "../routing/select-deployments.ts";
import { freeSessionKeyOf } from "../routing/session-key.ts";
import type { GenerationCall, GenerationDeps, Serving } from "./call.ts";
import { missingByokKey } from "./missing-byok-key.ts";

/** As much of a call as tiers look at. */
export interface TierCall {
  readonly principal: InferencePrincipal;
  readonly request: Pick<
    InferenceRequest,
    "api" | "action" | "model" | "fallbackModels" | "session" | "user" | "hashPrefix"
  >;
  readonly readHeader: GenerationCall["readHeader"];
}

/** What resolving a tier takes. */
export interface TierContext {
  readonly serving: Serving;
  readonly choice: KeyChoice;
  readonly policy: EffectivePolicy;
  readonly isAnonymous: boolean;
  readonly facts: TierFacts;
  readonly listNeeds: () => RequestNeeds;
}

/** The deployments of what a tier comes to, by model in its order; or why there are none. */
export type TierDeployments =
  | { readonly kind: "offers"; readonly deployments: readonly (readonly Deployment[])[] }
  | { readonly kind: "refused"; readonly failure: Failure };

/**
 * Takes into memory what the tiers of a request depend on: the balance of the account that pays. A promise only where one of
 * them asks for it and it is not there.
 */
export function prepareTiers(
  { serving, ledger }: Pick<GenerationDeps, "serving" | "ledger">,
  { principal, request }: TierCall,
): Promise<unknown> | null {
  const { tiers } = serving();
  const asks = (id: string) => tiers.find(id)?.rule.by === "balance";
  if (!asks(request.model) && !request.fallbackModels.some(asks)) return null;
  if (principal.kind === "anonymous" || principal.account.overdraft === null) return null;
  const { id } = principal.account;
  return ledger.cachedBalanceOf(id) === null ? ledger.balanceOf(id) : null;
}

/** What tiers pick by, of a request and its caller. */
export function describeFacts(
  { serving, ledger }: Pick<GenerationDeps, "serving" | "ledger">,
  { principal, request, readHeader }: TierCall,
): TierFacts {
  return {
    api: request.api,
    readHeader,
    hasCredits: () => hasCredits(ledger, principal),
    session: () => freeSessionKeyOf(request, principal),
    freeModels: () => freeModelsOf(serving().catalog),
  };
}

/** Who has a balance, or an account that needs none. */
function hasCredits(ledger: GenerationDeps["ledger"], principal: InferencePrincipal): boolean {
  if (principal.kind === "anonymous") return false;
  const { id, overdraft } = principal.account;
  return overdraft === null || (ledger.cachedBalanceOf(id) ?? 0) > 0;
}

const freeModels = new WeakMap<Catalog, readonly ModelRecord[]>();

/** Looked for once a catalog. */
function freeModelsOf(catalog: Catalog): readonly ModelRecord[] {
  const known = freeModels.get(catalog) ?? catalog.models.filter(({ id }) => isFreeId(id));
  freeModels.set(catalog, known);
  return known;
}

/**
 * Who could answer for a tier: the models that it comes to for this request, as far as they are served here and able.
 * @throws GatewayError `authentication` without a key, where none of them is free.
 */
export function findTierDeployments(tier: TierRecord, context: TierContext): TierDeployments {
  const { serving, choice, policy, facts } = context;
  const forbidding = findForbidding(policy, tier);
  if (forbidding !== undefined) return refuseByPolicy(tier, forbidding);
  const { models, overrides } = resolveTier(tier.rule, facts, serving.tiers);
  const ids = context.isAnonymous ? models.filter(isFreeId) : models;
  if (ids.length === 0 && models.length > 0) rejectAnonymous(tier);
  const served = ids.flatMap((id) => {
    const deployments = chooseDeployments(serving.servedModels, id, "chat", choice);
    return deployments.length > 0 ? [deployments] : [];
  });
  if (served.length === 0) {
    const isReachable = ids.some((id) => serving.servedModels.allDeploymentsOf(id).length > 0);
    if (choice.ownOnly !== null && isReachable) return refuse(missingByokKey(tier.id, choice.ownOnly));
    return refuseUnserved(tier, models);
  }
  const missing = findMissing(served, context.listNeeds);
  const able = served.filter((deployments) => missing(deployments).length === 0);
  const { parameters: set, contentField } = context.listNeeds();
  if (able.length === 0)
    return refuseUnable(tier, missing(served[0] as readonly Deployment[])[0] as string, contentField);
  const steered = able.map((deployments) =>
    deployments.map((deployment) => steerOffer(deployment, overrides, set)),
  );
  return { kind: "offers", deployments: steered };
}

const SAMPLING: readonly SamplingField[] = ["temperature", "top_p"];

/** The deployment with what is said to it; `set` are the parameters that the request sets. */
function steerOffer(
  deployment: Deployment,
  overrides: ResolvedTier["overrides"],
  set: readonly string[],
): Deployment {
  const { model, endpoint, provider } = deployment;
  const isTaken = (field: string) =>
    model.supportedParameters.includes(field) && endpoint.lacks?.includes(field) !== true;
  const leaveOut = SAMPLING.filter((field) => set.includes(field) && !isTaken(field));
  if (overrides === null && leaveOut.length === 0) return deployment;
  return {
    ...deployment,
    overrides: { ...overrides?.(model, provider.record), ...(leaveOut.length === 0 ? {} : { leaveOut }) },
  };
}

/** The rule that forbids a tier by its own id. Lists of what is allowed look at what it comes to. */
export function findForbidding({ rules }: EffectivePolicy, { id }: TierRecord): PolicyRule | undefined {
  return rules.find((rule) => rule.list === "denied_models" && !ruleAllows(rule, id, ""));
}

/** What of the request's features a model does not have at all. */
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

function refuseByPolicy({ id }: TierRecord, { level, list }: PolicyRule): TierDeployments {
  const message = `The ${level}'s policy (${list}) does not allow "${id}". GET /api/gateway/models with this key lists what is allowed; the policy is its owner's to change.`;
  return refuse({
    code: "model_not_allowed",
    message,
    metadata: { rule: `${level}.${list}`, model: id },
  });
}

function rejectAnonymous({ id }: TierRecord): never {
  return fail(
    "authentication",
    `"${id}" needs an API key. Send it as "Authorization: Bearer gw_…", or use a model whose id ends in ":free".`,
  );
}

/** Nothing of a tier is served here. Free models come and go; what else is missing is the operator's to configure. */
function refuseUnserved({ id, rule }: TierRecord, models: readonly string[]): TierDeployments {
  if (rule.by === "free") {
    return refuse({
      code: "unavailable",
      message: `No free model is available for "${id}" at the moment. Name another model; GET /api/gateway/models lists them.`,
      metadata: { model: id },
      retryAfterS: FREE_RETRY_S,
    });
  }
  const named = models.slice(0, 3).join(", ");
  return refuse({
    code: "invalid_model",
    message: `No provider that is configured here serves a model of "${id}" (${named}, …). GET /api/gateway/models lists what is served.`,
    metadata: { model: id },
  });
}

/** Free models change with the catalog, not from one second to the next. */
const FREE_RETRY_S = 60;

function refuseUnable({ id }: TierRecord, feature: string, contentField: string): TierDeployments {
  return refuse({
    code: "invalid_request",
    message: `No model of "${id}" that is served here takes ${feature}. Leave it out, or name another model.`,
    metadata: { field: feature === "tools" ? "tools" : contentField, lacks: feature, model: id },
  });
}

function refuse(failure: Failure): TierDeployments {
  return { kind: "refused", failure };
}

/** The request asks a tier where only models are: 400 that says so. */
export function rejectTierHere({ id }: TierRecord, action: InferenceRequest["action"]): never {
  return fail("invalid_model", `"${id}" is for conversations. Name a model here.`, {
    metadata: { model: id, action },
  });
}
