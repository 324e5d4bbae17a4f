import { type Failure, GatewayError } from "../../../base/failures/errors.ts";
import type { ProviderPreferences } from "../../../wire/conversation/preferences.ts";
import type { EffectivePolicy } from "../../accounts/records/merge-policies.ts";
import type { Deployment } from "../../deployments/served-models.ts";
import { boundPrompt } from "../../ledger/holds/worst-case.ts";
import { filterDeployments, warnOfParameters } from "../../routing/plan/select-deployments.ts";
import type { GenerationDeps } from "../call/call.ts";
import type { Admission, Consideration } from "../prepare/admission.ts";
import type { RoutableCall } from "../prepare/find-deployments.ts";
import type { PreparedRequest } from "../prepare/prepare.ts";

/** The failure of a request whose record cannot be written: no provider is called and no answer is sent without a record. */
export const CANNOT_RECORD: Failure = {
  code: "unavailable",
  message: "The gateway cannot write its records at the moment. Try again later.",
  retryAfterS: 5,
  internal: "the journal cannot be written, or too many records wait for the store",
};

/**
 * Decides whether a request may run.
 * @throws GatewayError `model_not_allowed`, `invalid_request`, `context_length_exceeded`; `unavailable` if its record could not be
 * written.
 */
export function admit(
  { recorder }: Pick<GenerationDeps, "recorder">,
  call: RoutableCall,
  prepared: PreparedRequest,
): Admission {
  const considered = consider(call, prepared);
  if (considered.rejection !== null) throw new GatewayError(considered.rejection);
  if (considered.zeroRetention) rejectStored(call);
  if (recorder.isFull()) throw new GatewayError(CANNOT_RECORD);
  return considered;
}

/** @throws GatewayError if a request under zero data retention needs data that a vendor stores. */
function rejectStored({ request }: RoutableCall): void {
  const reference = request.prompt.readRetention?.().reference ?? null;
  if (reference === null) return;
  const { field, message } = reference;
  throw new GatewayError({ code: "invalid_request", message, metadata: { field } });
}

/**
 * Applies the rules of policies and of the request to the deployments that it names, and returns the resulting admission without recording
 * it.
 */
export function consider(
  { request }: RoutableCall,
  { serving, requested: named, policy, listNeeds, usual, reserve, promptTokens }: PreparedRequest,
): Consideration {
  const { names, name } = named;
  const { preferences, prompt } = request;
  const choiceId = name ?? names[0]?.tier?.id ?? null;
  const maxPromptTokens = boundPrompt(prompt);
  const { mayHaveMedia } = prompt;
  const rules = { policy, choiceId, preferences, listNeeds, mayHaveMedia, maxPromptTokens, promptTokens };
  const { deployments, filteredOut, rejection } = filterDeployments(usual, rules);
  const [requested] = usual[0] as readonly [Deployment];
  const first = deployments[0]?.[0]?.model ?? requested.model;
  return {
    serving,
    deployments,
    ...(reserve.length === 0 ? {} : { reserve: filterDeployments(reserve, rules).deployments }),
    filteredOut,
    rejection,
    requestedId: choiceId ?? requested.model.id,
    namedRoutes: names[0]?.steps ?? [],
    firstId: names[0]?.id ?? request.model,
    modelId: choiceId === null ? requested.model.id : first.id,
    shadow: mayShadow(preferences, policy) ? (names[0]?.shadow ?? null) : null,
    zeroRetention: preferences.zeroRetention || policy.zeroRetention !== null,
    marksCaches: policy.promptCaching && preferences.promptCaching !== "off",
    warnings: warnOfParameters(preferences, listNeeds),
  };
}

/** Whether a copy of a request may be sent elsewhere: not if the request, its account or the operator has rules about its data. */
function mayShadow(
  { zeroRetention, denyDataCollection }: ProviderPreferences,
  policy: EffectivePolicy,
): boolean {
  if (zeroRetention || denyDataCollection) return false;
  return policy.zeroRetention === null && policy.denyDataCollection === null;
}
