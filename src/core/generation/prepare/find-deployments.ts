import { type Failure, fail, GatewayError } from "../../../base/failures/errors.ts";
import { pathOf } from "../../../wire/client-apis/client-apis.ts";
import type {
  InferenceRequest,
  RequestDemands,
} from "../../../wire/client-apis/request/inference-request.ts";
import type { ProviderSort } from "../../../wire/conversation/preferences.ts";
import { allowsChoice, type EffectivePolicy } from "../../accounts/records/merge-policies.ts";
import { actionOf, type ModelAction } from "../../catalog/records/action-of.ts";
import { isWithdrawn, missingSince } from "../../catalog/records/expiry.ts";
import { isFreeId } from "../../catalog/records/is-free-id.ts";
import type { ModelRecord } from "../../catalog/records/records.ts";
import { type Deployment, isReachable } from "../../deployments/served-models.ts";
import type { Ledger } from "../../ledger/credits/ledger.ts";
import type { ByokKeys } from "../../provider-keys/byok-keys.ts";
import { chooseDeployments, chooseKeys, type KeyChoice } from "../../routing/plan/choose-deployments.ts";
import type { RouteStep } from "../../usage/records/route-step.ts";
import type { GenerationCall, Serving } from "../call/call.ts";
import {
  denyByPolicy,
  describeFacts,
  findForbidding,
  findTierDeployments,
  rejectTierHere,
  type TierCall,
  type TierContext,
  type TierDeployments,
} from "./find-tier-deployments.ts";
import { missingByokKey } from "./missing-byok-key.ts";
import type { RequestedModels, RequestedName } from "./resolve-request.ts";

/** The part of a call on which its deployments depend. */
export type RoutableCall = Pick<GenerationCall, "principal" | "request" | "headers" | "preset">;

/** The part of a call on which the deployments of resolved names depend. */
interface ResolvedCall extends TierCall {
  readonly request: NamingRequest;
}

/** The part of a request that decides its deployments, once names are resolved. */
export type NamingRequest = TierCall["request"] &
  Pick<InferenceRequest, "preferences"> &
  Pick<AskingRequest, "demands">;

/** The state, apart from the request, that decides its deployments. */
interface DeploymentRules extends Pick<TierContext, "serving" | "policy" | "listNeeds"> {
  /** The account's BYOK keys; null if it has none. */
  readonly byokKeys: ByokKeys | null;
  readonly requested: RequestedModels;
}

/**
 * Finds the deployments of all models and tiers that a request names, by model. Tiers and named routes do not repeat a deployment.
 * @throws GatewayError as `findDeployments`, or if only tiers are named and none has a deployment; `model_not_allowed` if all named routes
 * are denied.
 */
export function findAllDeployments(
  ledger: Pick<Ledger, "cachedBalanceOf">,
  call: ResolvedCall,
  { serving, byokKeys, requested: { names }, policy, listNeeds }: DeploymentRules,
): readonly (readonly Deployment[])[] {
  const { principal, request } = call;
  const isAnonymous = principal.kind === "anonymous";
  if (isAnonymous) requireFree(names.flatMap(({ id, tier }) => (tier === null ? id : [])));
  const choice = chooseKeys(principal, byokKeys, request.preferences.ownKeysOnly);
  // Most requests name one model and no tier.
  const [first] = names;
  if (names.length === 1 && first !== undefined && isPlainModel(first))
    return [findDeployments(serving, choice, { ...first, request })];
  const facts = describeFacts(serving, ledger, call);
  const context: TierContext = { serving, choice, policy, isAnonymous, facts, listNeeds };
  const all: (readonly Deployment[])[] = [];
  const known = new Set<string>();
  let failure: Failure | null = null;
  for (const name of names) {
    const found = findNamed(name, request, context);
    failure ??= found.failure;
    for (const deployments of found.deployments) {
      const fresh = isPlainModel(name)
        ? deployments
        : deployments.filter((deployment) => !known.has(placeOf(deployment)));
      if (fresh.length > 0) all.push(withSort(withChoices(fresh, listChoices(name, context)), name.sort));
      for (const deployment of deployments) known.add(placeOf(deployment));
    }
  }
  if (all.length === 0 && failure !== null) throw new GatewayError(failure);
  return all;
}

/**
 * Finds the deployments of one name, by model.
 * @throws GatewayError as `findDeployments`, unless the name is optional.
 */
function findNamed(name: RequestedName, request: AskingRequest, context: TierContext): TierDeployments {
  const { serving, choice, policy } = context;
  const denied = findDeniedRoute(policy, name.steps);
  if (denied !== null) return { deployments: [], failure: denied };
  const { tier } = name;
  try {
    if (tier === null) {
      const found = findDeployments(serving, choice, { ...name, request });
      return { deployments: [keepPinned(found, name)], failure: null };
    }
    const { action } = request;
    if (action !== "chat" && action !== "completions") rejectTierHere(tier, action);
    return findTierDeployments(tier, context);
  } catch (error) {
    if (!name.isOptional || !(error instanceof GatewayError)) throw error;
    return { deployments: [], failure: error.failure };
  }
}

/** Whether a name is the id of a model, without steps and suffix. */
function isPlainModel({ steps, sort, tier }: RequestedName): boolean {
  return steps.length === 0 && sort === null && tier === null;
}

/** Lists the tier and the operator's named routes that led to a name, if a list of allowed models names one of them. */
function listChoices({ steps, tier }: RequestedName, { policy: { rules } }: TierContext): readonly string[] {
  const names = steps.flatMap(({ name, scope }) => (scope === "gateway" ? name : []));
  const choices = names.concat(tier?.id ?? []);
  return choices.filter((name) => rules.some((rule) => allowsChoice(rule, name)));
}

function withChoices(deployments: readonly Deployment[], choices: readonly string[]): readonly Deployment[] {
  return choices.length === 0 ? deployments : deployments.map((deployment) => ({ ...deployment, choices }));
}

function withSort(deployments: readonly Deployment[], sort: ProviderSort | null): readonly Deployment[] {
  return sort === null ? deployments : deployments.map((deployment) => ({ ...deployment, sort }));
}

/** Returns the failure if a policy denies one of the named routes that led to a model. */
function findDeniedRoute(policy: EffectivePolicy, steps: readonly RouteStep[]): Failure | null {
  for (const { name } of steps) {
    const rule = findForbidding(policy, name);
    if (rule !== undefined) return denyByPolicy(name, rule);
  }
  return null;
}

/** Returns a text that two deployments share only if they are the same model at the same provider. */
function placeOf({ model, provider }: Deployment): string {
  return `${model.id} ${provider.record.slug}`;
}

/**
 * Returns the deployments at the only provider that a named route allows.
 * @throws GatewayError `invalid_model` if there is none.
 */
function keepPinned(
  deployments: readonly Deployment[],
  { id, steps, provider }: RequestedName,
): readonly Deployment[] {
  if (provider === null) return deployments;
  const kept = deployments.filter(({ provider: { record } }) => record.slug === provider);
  if (kept.length > 0) return kept;
  const route = quote(steps.at(-1)?.name ?? "");
  return fail(
    "invalid_model",
    `The named route ${route} is answered by the provider ${quote(provider)} only, which does not serve ${quote(id)} here. GET /api/gateway/models lists the models.`,
    { metadata: { model: id } },
  );
}

/**
 * Requires that all models are free, as for an anonymous request.
 * @throws GatewayError `authentication` for a paid model.
 */
function requireFree(ids: readonly string[]): void {
  const paid = ids.find((id) => !isFreeId(id.toLowerCase()));
  if (paid === undefined) return;
  fail(
    "authentication",
    `${quote(paid)} needs an API key. Send it as "Authorization: Bearer gw_…", or use a model whose id ends in ":free".`,
  );
}

interface AskingRequest extends Pick<InferenceRequest, "action"> {
  readonly demands: Pick<RequestDemands, "requireModel">;
}

/** A model and the request that uses it. */
interface ModelUse {
  /** The model's id, as the client wrote it. */
  readonly id: string;
  readonly request: AskingRequest;
  /** The field of the request that names it. */
  readonly field: string;
}

/**
 * Returns the deployments of a model, at least one.
 * @throws GatewayError `invalid_model` if there is none; `model_not_allowed` or `invalid_request` if the account or the request
 * allows only BYOK keys, and none serves the model.
 */
function findDeployments(
  serving: Serving,
  choice: KeyChoice,
  { id, request, field }: ModelUse,
): readonly Deployment[] {
  const { action } = request;
  request.demands.requireModel?.(id, field);
  const model = serving.catalog.find(id);
  if (model === undefined)
    return fail("invalid_model", unknownModel(serving, id), { metadata: { model: id } });
  const isFor = actionOf(model);
  if (isFor !== (action === "fim" || action === "completions" ? "chat" : action))
    return fail("invalid_model", otherEndpoint(id, isFor), { metadata: { model: id } });
  const deployments = chooseDeployments(serving.servedModels, { modelId: model.id, action }, choice);
  if (deployments.length > 0) return action === "fim" ? requireFim(id, deployments) : deployments;
  const all = serving.servedModels.allDeploymentsOf(model.id);
  if (action === "chat" && all.length > 0 && all.every(({ onlyCompletes }) => onlyCompletes === true))
    return fail("invalid_model", onlyCompletes(id), { metadata: { model: id } });
  if (choice.byokOnly !== null && all.length > 0)
    throw new GatewayError(missingByokKey(model.id, choice.byokOnly));
  return fail("invalid_model", unservedModel(serving, model), { metadata: { model: id } });
}

/** Returns the deployments whose provider has an endpoint for fill in the middle. */
function requireFim(id: string, deployments: readonly Deployment[]): readonly Deployment[] {
  const able = deployments.filter(hasFimEndpoint);
  if (able.length > 0) return able;
  return fail(
    "invalid_model",
    `No configured provider of ${quote(id)} offers fill in the middle. Choose another model.`,
    {
      metadata: { model: id },
    },
  );
}

/** Returns whether a deployment has an endpoint for fill in the middle. If its key cannot be used, no URL can be checked. */
function hasFimEndpoint({ endpoint, provider, keys, unusableKey }: Deployment): boolean {
  if (unusableKey !== undefined) return provider.record.paths?.fim !== undefined;
  return keys.some((key) => isReachable(key, { provider, endpoint }, "fim"));
}

function onlyCompletes(id: string): string {
  return `${quote(id)} only completes texts and cannot chat. Send a prompt to POST /api/gateway${pathOf("completions")}.`;
}

/** The kinds of models, for error messages. */
const KINDS: Readonly<Record<ModelAction, string>> = {
  chat: "a model for conversations",
  embeddings: "an embedding model",
  moderations: "a moderation model",
  rerank: "a model that ranks documents",
  images: "a model that makes images",
  speech: "a model that speaks texts",
  transcriptions: "a model that transcribes audio",
};

function otherEndpoint(id: string, isFor: ModelAction): string {
  const path = pathOf(isFor === "chat" ? "chat.completions" : isFor);
  return `${quote(id)} is ${KINDS[isFor]}. Send it to POST /api/gateway${path}, or name a model for this endpoint; output_modalities in GET /api/gateway/models says what a model is for.`;
}

function unknownModel(serving: Serving, id: string): string {
  const near = serving.catalog.suggest(id, 3);
  const hint = near.length > 0 ? ` Did you mean ${near.map(quote).join(", ")}?` : "";
  return `There is no model ${quote(id)}.${hint} GET /api/gateway/models lists the models.`;
}

function withdrawnModel({ catalog, servedModels }: Serving, model: ModelRecord): string {
  const ends = [model.expires, ...model.endpoints.map(({ expires }) => expires)];
  const since =
    missingSince(model) ??
    ends
      .filter((day) => typeof day === "string")
      .sort()
      .at(-1);
  const near = catalog
    .suggest(model.id, NEAR_MODELS)
    .filter((id) => servedModels.deploymentsOf(id).length > 0)
    .slice(0, 3);
  const hint = near.length > 0 ? ` Similar models are ${near.map(quote).join(", ")}.` : "";
  return `${quote(model.id)} was withdrawn on ${since}.${hint} GET /api/gateway/models lists the served models.`;
}

const NEAR_MODELS = 20;

function unservedModel(serving: Serving, model: ModelRecord): string {
  if (isWithdrawn(model, serving.servedModels.day)) return withdrawnModel(serving, model);
  const variables = model.endpoints
    .map((endpoint) => serving.catalog.provider(endpoint.provider))
    .filter((provider) => provider !== undefined)
    // The model's author first: "openai/gpt-4o" at "openai".
    .sort((a, b) => Number(model.id.startsWith(b.slug)) - Number(model.id.startsWith(a.slug)))
    .flatMap((provider) => provider.env.apiKey[0] ?? []);
  const how =
    variables.length > 0 ? ` Its operator can set ${[...new Set(variables)].slice(0, 3).join(" or ")}.` : "";
  const provider = serving.servedModels.allDeploymentsOf(model.id)[0]?.provider.record.name;
  const bring = provider === undefined ? "" : ` An account can store a BYOK key for ${provider}.`;
  return `No configured provider serves ${quote(model.id)}.${how}${bring} GET /api/gateway/models lists the served models.`;
}

/** Quotes an id, which may come from a client: at most 100 characters, without line breaks. */
function quote(id: string): string {
  return JSON.stringify(id.slice(0, 100));
}
