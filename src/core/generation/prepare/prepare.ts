import { type EffectivePolicy, policyOf } from "../../accounts/records/merge-policies.ts";
import type { Deployment } from "../../deployments/served-models.ts";
import { requireKnownProviders } from "../../routing/health/known-providers.ts";
import type { PromptTokens } from "../../routing/plan/prompt-tokens.ts";
import type { GenerationDeps } from "../call/call.ts";
import { applyTariffs, tariffsOf } from "./apply-tariffs.ts";
import { type DeploymentRules, findAllDeployments, type RoutableCall } from "./find-deployments.ts";
import { cacheBalance } from "./find-tier-deployments.ts";
import { measurePrompt } from "./measure-prompt.ts";
import { type RequestedModels, resolveRequest } from "./resolve-request.ts";

/** The deployments of the models that a request names, before rules are applied to them. */
export interface PreparedRequest extends Pick<DeploymentRules, "listNeeds"> {
  readonly requested: RequestedModels;
  readonly policy: EffectivePolicy;
  /** By model, at least one. */
  readonly usual: DeploymentsByModel;
  /** Those that answer only if the account's balance does not cover the others. */
  readonly reserve: DeploymentsByModel;
  /** Null if the prompt fits the context windows of all of them. */
  readonly promptTokens: PromptTokens | null;
}

type DeploymentsByModel = readonly (readonly Deployment[])[];

/**
 * Loads what the admission of a request needs and memory lacks (BYOK keys, named routes of the account, its balance, a count of tokens),
 * and finds the deployments that it names.
 * Rejects with a GatewayError `authentication`, `invalid_model`; `model_not_allowed`, `invalid_request` or `unavailable` if a tier or
 * the lack of a BYOK key is the reason.
 */
export async function prepare(deps: GenerationDeps, call: RoutableCall): Promise<PreparedRequest> {
  const { principal, request } = call;
  const byokKeys =
    principal.kind === "anonymous" ? null : await deps.accounts.byokKeys.of(principal.account.id);
  const requested = await resolveRequest(deps, call);
  await cacheBalance(deps, principal, requested);
  const policy = policyOf(deps.settings.policy, principal);
  const listNeeds = once(() => request.listNeeds());
  const found = findAllDeployments(deps, call, { byokKeys, requested, policy, listNeeds });
  const [usual, reserve] = splitReserve(applyTariffs(found, tariffsOf(principal, deps)));
  requireKnownProviders(deps.serving, request.preferences);
  const promptTokens = await measurePrompt(deps.tokenCounter, request, usual.flat());
  return { requested, policy, listNeeds, usual, reserve, promptTokens };
}

/** Separates the deployments that answer only if the balance does not cover the others. Most requests have none. */
function splitReserve(
  all: DeploymentsByModel,
): readonly [usual: DeploymentsByModel, reserve: DeploymentsByModel] {
  const isReserve = ([first]: readonly Deployment[]) => first?.isReserve === true;
  return all.some(isReserve) ? [all.filter((one) => !isReserve(one)), all.filter(isReserve)] : [all, []];
}

/** Memoizes a function without parameters. */
function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | null = null;
  return () => {
    made = made ?? { value: make() };
    return made.value;
  };
}
