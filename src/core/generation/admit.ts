import { type Failure, GatewayError } from "../../base/errors.ts";
import type { Warning } from "../../wire/conversation/warning.ts";
import { policyOf } from "../accounts/merge-policies.ts";
import type { Deployment } from "../deployments/served-models.ts";
import { boundPrompt } from "../ledger/worst-case.ts";
import type { ByokKeys } from "../provider-keys/byok-keys.ts";
import { requireKnownProviders } from "../routing/known-providers.ts";
import type { PromptTokens } from "../routing/prompt-tokens.ts";
import { type FilteredOut, filterDeployments, warnOfParameters } from "../routing/select-deployments.ts";
import type { GenerationDeps } from "./call.ts";
import { type AskingCall, findAllDeployments } from "./find-deployments.ts";
import { prepareTiers } from "./find-tier-deployments.ts";
import { measurePrompt } from "./measure-prompt.ts";

/** Nothing may run, and no answer be given, that cannot be written down. */
export const CANNOT_RECORD: Failure = {
  code: "unavailable",
  message: "The gateway cannot write its records at the moment. Repeat the request later.",
  retryAfterS: 5,
  internal: "the journal cannot be written, or too many records wait for the store",
};

/** A request that may run: who could answer it, and how its limit stands. */
export interface Admission {
  /** Offers by model, the asked one first, then its fallbacks: those that policy and the request's own rules leave. */
  readonly deployments: readonly (readonly Deployment[])[];
  /** Offers that may not answer, and why. */
  readonly filteredOut: readonly FilteredOut[];
  /** What was asked for, as the catalog spells it: a model's id or a tier's. */
  readonly requestedId: string;
  /** The model that it is, or that the tier came to: what limits count. */
  readonly modelId: string;
  /** Nothing of the request may stay anywhere, nor in the gateway's own memory of turns. */
  readonly zeroRetention: boolean;
  /** For `gateway_metadata.warnings`. */
  readonly warnings: readonly Warning[];
}

/**
 * Decides whether a request may run; `own` are the keys at providers that the caller's account brings. A promise only
 * where the prompt's tokens must be counted.
 * @throws GatewayError `authentication`, `invalid_model`, `model_not_allowed`, `invalid_request`, `context_length_exceeded`,
 * `unavailable`.
 */
export function admit(
  deps: GenerationDeps,
  call: AskingCall,
  own: ByokKeys | null,
): Admission | Promise<Admission> {
  const letIn = (considered: Consideration): Admission => {
    if (considered.refusal !== null) throw new GatewayError(considered.refusal);
    if (deps.recorder.isFull()) throw new GatewayError(CANNOT_RECORD);
    return considered;
  };
  const considered = consider(deps, call, own);
  return considered instanceof Promise ? considered.then(letIn) : letIn(considered);
}

/** A request, who could answer it, and why others may not; with `refusal` nobody may. */
export interface Consideration extends Admission {
  readonly refusal: Failure | null;
}

/**
 * Looks who may answer a request, and lets nothing in. A promise only where a balance has to be fetched or tokens to be
 * counted.
 * @throws GatewayError `authentication`, `invalid_model`; `model_not_allowed`, `invalid_request` or `unavailable` where a
 * tier or an account's own keys are the reason.
 */
export function consider(
  deps: GenerationDeps,
  call: AskingCall,
  own: ByokKeys | null,
): Consideration | Promise<Consideration> {
  const preparing = prepareTiers(deps, call);
  return preparing === null
    ? considerPrepared(deps, call, own)
    : preparing.then(() => considerPrepared(deps, call, own));
}

function considerPrepared(
  deps: GenerationDeps,
  call: AskingCall,
  own: ByokKeys | null,
): Consideration | Promise<Consideration> {
  const { principal, request } = call;
  const policy = policyOf(deps.policy, principal);
  const listNeeds = once(() => request.listNeeds());
  const all = findAllDeployments(deps, call, { own, policy, listNeeds });
  requireKnownProviders(deps.serving, request.preferences);
  const { model: asked } = all.flat()[0] as Deployment;
  const tier = deps.serving().tiers.find(request.model);
  const maxPromptTokens = boundPrompt(request);
  const { preferences } = request;
  const sift = (promptTokens: PromptTokens | null): Consideration => {
    const { mayHaveMedia } = request;
    const tierId = tier?.id ?? null;
    const rules = { policy, tierId, preferences, listNeeds, mayHaveMedia, maxPromptTokens, promptTokens };
    const selection = filterDeployments(all, rules);
    const first = selection.deployments[0]?.[0]?.model ?? asked;
    return {
      ...selection,
      requestedId: tier?.id ?? asked.id,
      modelId: tier === undefined ? asked.id : first.id,
      zeroRetention: preferences.zeroRetention || policy.zeroRetention !== null,
      warnings: warnOfParameters(preferences, listNeeds),
    };
  };
  const measured = measurePrompt(deps.tokenCounter, request, all.flat());
  return measured instanceof Promise ? measured.then(sift) : sift(measured);
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | null = null;
  return () => {
    made = made ?? { value: make() };
    return made.value;
  };
}
