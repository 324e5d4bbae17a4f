import type { RequestNeeds } from "../../../wire/conversation/needs.ts";
import { type EffectivePolicy, policyOf } from "../../accounts/records/merge-policies.ts";
import type { InferencePrincipal } from "../../accounts/records/principal.ts";
import type { Deployment } from "../../deployments/served-models.ts";
import { requireKnownProviders } from "../../routing/health/known-providers.ts";
import type { GenerationDeps, Serving } from "../call/call.ts";
import { findAllDeployments, type NamingRequest } from "./find-deployments.ts";
import type { TierCall } from "./find-tier-deployments.ts";
import {
  isPlain,
  listPlain,
  type NamingCall,
  type RequestedModels,
  resolveRequest,
} from "./resolve-request.ts";

/** The deployments that a request names, before rules are applied to them. */
export interface NamedDeployments {
  /** The models and tiers that are served when the request is admitted. */
  readonly serving: Serving;
  readonly policy: EffectivePolicy;
  readonly requested: RequestedModels;
  /** The deployments by model; at least one. */
  readonly deployments: readonly (readonly Deployment[])[];
}

type Call = TierCall & NamingCall & { readonly request: NamingRequest };

/**
 * Finds the deployments that a request names, after loading what is not cached of its account: BYOK keys, named routes, balance.
 * `listNeeds` is called only for tiers. Rejects with a GatewayError `authentication` or `invalid_model`; with `model_not_allowed`,
 * `invalid_request` or `unavailable` because of a tier or a missing BYOK key.
 */
export async function nameDeployments(
  deps: GenerationDeps,
  call: Call,
  listNeeds: () => RequestNeeds,
): Promise<NamedDeployments> {
  const { principal, request } = call;
  const { byokKeys, accountRoutes } = deps.accounts;
  const serving = deps.serving();
  const accountId = principal.kind === "anonymous" ? null : principal.account.id;
  const byok = accountId === null ? null : await byokKeys.of(accountId);
  const requested = isPlain(call, serving)
    ? listPlain(request, serving)
    : resolveRequest(call, {
        serving,
        own: accountId === null ? null : await accountRoutes.of(accountId),
        random: deps.random,
      });
  if (requested.names.some(({ tier }) => tier?.rule.by === "balance")) await cacheBalance(deps, principal);
  const policy = policyOf(deps.settings.policy, principal);
  const rules = { serving, byokKeys: byok, requested, policy, listNeeds };
  const deployments = findAllDeployments(deps.ledger, call, rules);
  requireKnownProviders(serving, request.preferences);
  return { serving, policy, requested, deployments };
}

/** Loads the balance of the account that pays, if a tier can depend on it. */
async function cacheBalance(
  { ledger }: Pick<GenerationDeps, "ledger">,
  principal: InferencePrincipal,
): Promise<void> {
  if (principal.kind === "anonymous" || principal.account.overdraft === null) return;
  const { id } = principal.account;
  if (ledger.cachedBalanceOf(id) === null) await ledger.balanceOf(id);
}
