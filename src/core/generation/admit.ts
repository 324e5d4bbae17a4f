import { type Failure, GatewayError } from "../../base/errors.ts";
import { chain, chainWith, type MaybePromise } from "../../base/maybe-promise.ts";
import type { ProviderPreferences } from "../../wire/conversation/preferences.ts";
import { type EffectivePolicy, policyOf } from "../accounts/merge-policies.ts";
import type { Deployment } from "../deployments/served-models.ts";
import { boundPrompt } from "../ledger/worst-case.ts";
import type { ByokKeys } from "../provider-keys/byok-keys.ts";
import { requireKnownProviders } from "../routing/known-providers.ts";
import { filterDeployments, warnOfParameters } from "../routing/select-deployments.ts";
import type { Admission, Consideration } from "./admission.ts";
import { applyTariffs, tariffsOf } from "./apply-tariffs.ts";
import type { GenerationDeps } from "./call.ts";
import { type DeploymentRules, findAllDeployments, type RoutableCall } from "./find-deployments.ts";
import { prepareTiers } from "./find-tier-deployments.ts";
import { type AdmissionBasis, recallAdmission, rememberAdmission } from "./known-admissions.ts";
import { measurePrompt } from "./measure-prompt.ts";
import { resolveRequest } from "./resolve-request.ts";

/** The failure of a request whose record cannot be written: no provider is called and no answer is sent without a record. */
export const CANNOT_RECORD: Failure = {
  code: "unavailable",
  message: "The gateway cannot write its records at the moment. Try again later.",
  retryAfterS: 5,
  internal: "the journal cannot be written, or too many records wait for the store",
};

/**
 * Decides whether a request may run. `byokKeys` are the BYOK keys of the caller's account. A promise only if a balance must be
 * loaded or tokens counted first.
 * Rejects with a GatewayError `authentication`, `invalid_model`, `model_not_allowed`, `invalid_request`, `context_length_exceeded`,
 * `unavailable`.
 */
export function admit(
  deps: GenerationDeps,
  call: RoutableCall,
  byokKeys: ByokKeys | null,
): MaybePromise<Admission> {
  return chainWith(consider(deps, call, byokKeys), { deps, call }, requireAccepted);
}

/** @throws GatewayError if the request is rejected, or its record could not be written. */
function requireAccepted(
  considered: Consideration,
  { deps, call }: { readonly deps: GenerationDeps; readonly call: RoutableCall },
): Consideration {
  if (considered.rejection !== null) throw new GatewayError(considered.rejection);
  if (considered.zeroRetention) rejectStored(call);
  if (deps.recorder.isFull()) throw new GatewayError(CANNOT_RECORD);
  return considered;
}

/** @throws GatewayError if a request under zero data retention needs data that a vendor stores. */
function rejectStored({ request }: RoutableCall): void {
  const reference = request.readRetention?.().reference ?? null;
  if (reference === null) return;
  const { field, message } = reference;
  throw new GatewayError({ code: "invalid_request", message, metadata: { field } });
}

/**
 * Finds the deployments that may answer a request, without admitting it. Most requests of a principal are alike in all that counts for
 * that, so the result is remembered.
 * Rejects with a GatewayError `authentication`, `invalid_model`; `model_not_allowed`, `invalid_request` or `unavailable` if
 * a tier or the lack of a BYOK key is the reason.
 */
export function consider(
  deps: GenerationDeps,
  call: RoutableCall,
  byokKeys: ByokKeys | null,
): MaybePromise<Consideration> {
  const { pricing } = deps;
  const tariffs = pricing.areInForce ? tariffsOf(call.principal, { pricing, now: deps.clock.now() }) : null;
  const basis: AdmissionBasis = { serving: deps.serving(), policy: deps.policy, tariffs, byokKeys };
  const known = recallAdmission(call, basis);
  if (known !== null) return known;
  return chainWith(considerAnew(deps, call, basis), { call, basis }, remember);
}

function remember(
  considered: Consideration,
  { call, basis }: { readonly call: RoutableCall; readonly basis: AdmissionBasis },
): Consideration {
  rememberAdmission(call, basis, considered);
  return considered;
}

/** Finds the deployments as `consider` does, without what is remembered. */
export function considerAnew(
  deps: GenerationDeps,
  call: RoutableCall,
  basis: Pick<AdmissionBasis, "tariffs" | "byokKeys">,
): MaybePromise<Consideration> {
  return chain(resolveRequest(deps, call), (requested) => {
    const prepared = prepareTiers(deps, call.principal, requested);
    const select = () => selectDeployments(deps, call, { ...basis, requested });
    return prepared === null ? select() : prepared.then(select);
  });
}

function selectDeployments(
  deps: GenerationDeps,
  call: RoutableCall,
  {
    byokKeys,
    tariffs,
    requested: named,
  }: Pick<DeploymentRules, "byokKeys" | "requested"> & Pick<AdmissionBasis, "tariffs">,
): MaybePromise<Consideration> {
  const { principal, request } = call;
  const policy = policyOf(deps.policy, principal);
  const listNeeds = once(() => request.listNeeds());
  const found = findAllDeployments(deps, call, { byokKeys, requested: named, policy, listNeeds });
  const [all, reserve] = splitReserve(applyTariffs(found, tariffs));
  requireKnownProviders(deps.serving, request.preferences);
  const { model: requested } = all.flat()[0] as Deployment;
  const { names, name } = named;
  const tier = deps.serving().tiers.find(names[0]?.id ?? "");
  const maxPromptTokens = boundPrompt(request);
  const { preferences, mayHaveMedia } = request;
  const choiceId = name ?? tier?.id ?? null;
  return chain(measurePrompt(deps.tokenCounter, request, all.flat()), (promptTokens) => {
    const rules = { policy, choiceId, preferences, listNeeds, mayHaveMedia, maxPromptTokens, promptTokens };
    const { deployments, filteredOut, rejection } = filterDeployments(all, rules);
    const first = deployments[0]?.[0]?.model ?? requested;
    return {
      deployments,
      ...(reserve.length === 0 ? {} : { reserve: filterDeployments(reserve, rules).deployments }),
      filteredOut,
      rejection,
      isNamed: choiceId !== null || names.length > 1,
      requestedId: choiceId ?? requested.id,
      namedRoutes: names[0]?.steps ?? [],
      firstId: names[0]?.id ?? request.model,
      modelId: choiceId === null ? requested.id : first.id,
      shadow: mayShadow(preferences, policy) ? (names[0]?.shadow ?? null) : null,
      zeroRetention: preferences.zeroRetention || policy.zeroRetention !== null,
      warnings: warnOfParameters(preferences, listNeeds),
    };
  });
}

type DeploymentsByModel = readonly (readonly Deployment[])[];

/** Separates the deployments that answer only if the balance does not cover the others. Most requests have none. */
function splitReserve(
  all: DeploymentsByModel,
): readonly [usual: DeploymentsByModel, reserve: DeploymentsByModel] {
  const isReserve = ([first]: readonly Deployment[]) => first?.isReserve === true;
  return all.some(isReserve) ? [all.filter((one) => !isReserve(one)), all.filter(isReserve)] : [all, []];
}

/** Whether a copy of a request may be sent elsewhere: not if the request, its account or the operator has rules about its data. */
function mayShadow(
  { zeroRetention, denyDataCollection }: ProviderPreferences,
  policy: EffectivePolicy,
): boolean {
  if (zeroRetention || denyDataCollection) return false;
  return policy.zeroRetention === null && policy.denyDataCollection === null;
}

/** Memoizes a function without parameters. */
function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | null = null;
  return () => {
    made = made ?? { value: make() };
    return made.value;
  };
}
