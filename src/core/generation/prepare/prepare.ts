import type { RequestNeeds } from "../../../wire/conversation/needs.ts";
import type { Deployment } from "../../deployments/served-models.ts";
import type { PromptTokens } from "../../routing/plan/prompt-tokens.ts";
import type { GenerationDeps } from "../call/call.ts";
import { applyTariffs, tariffsOf } from "./apply-tariffs.ts";
import type { RoutableCall } from "./find-deployments.ts";
import { fitsEverywhere, measurePrompt } from "./measure-prompt.ts";
import { type NamedDeployments, nameDeployments } from "./name-deployments.ts";

/** The deployments of the models that a request names, before rules are applied to them. */
export interface PreparedRequest extends Omit<NamedDeployments, "deployments"> {
  readonly listNeeds: () => RequestNeeds;
  /** The deployments to use first, by model; at least one. */
  readonly usual: DeploymentsByModel;
  /** Deployments that answer only if the account's balance does not cover the usual ones. */
  readonly reserve: DeploymentsByModel;
  /** Null if the prompt fits the context windows of all of them. */
  readonly promptTokens: PromptTokens | null;
}

type DeploymentsByModel = readonly (readonly Deployment[])[];

/**
 * Loads what the admission of a request needs: the data of `nameDeployments` and, if the prompt may exceed a context window, a count of its
 * tokens. Rejects as `nameDeployments`.
 */
export async function prepare(deps: GenerationDeps, call: RoutableCall): Promise<PreparedRequest> {
  const { principal, request } = call;
  const listNeeds = once(() => request.demands.listNeeds());
  const { serving, requested, policy, deployments } = await nameDeployments(deps, call, listNeeds);
  const [usual, reserve] = splitReserve(applyTariffs(deployments, tariffsOf(principal, deps)));
  const promptTokens = fitsEverywhere(request.prompt, usual)
    ? null
    : await measurePrompt(deps.tokenCounter, request.prompt, usual.flat());
  return { serving, requested, policy, listNeeds, usual, reserve, promptTokens };
}

/** Separates the deployments that answer only if the balance does not cover the others. Most requests have none. */
function splitReserve(
  all: DeploymentsByModel,
): readonly [usual: DeploymentsByModel, reserve: DeploymentsByModel] {
  return all.some(isReserve) ? [all.filter((one) => !isReserve(one)), all.filter(isReserve)] : [all, NONE];
}

function isReserve([first]: readonly Deployment[]): boolean {
  return first?.isReserve === true;
}

const NONE: DeploymentsByModel = [];

/** Memoizes a function without parameters. */
function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | null = null;
  return () => {
    made = made ?? { value: make() };
    return made.value;
  };
}
