import { type Failure, fail, GatewayError } from "../../base/errors.ts";
import type { InferenceAction, InferenceRequest } from "../../wire/client-apis/inference-request.ts";
import { actionOf } from "../catalog/action-of.ts";
import { isWithdrawn, missingSince } from "../catalog/expiry.ts";
import { isFreeId } from "../catalog/is-free-id.ts";
import type { ModelRecord } from "../catalog/records.ts";
import { type Deployment, isReachable } from "../deployments/served-models.ts";
import type { ByokKeys } from "../provider-keys/byok-keys.ts";
import { chooseDeployments, chooseKeys, type KeyChoice } from "../routing/choose-deployments.ts";
import type { GenerationCall, GenerationDeps, Serving } from "./call.ts";
import {
  describeFacts,
  findTierDeployments,
  rejectTierHere,
  type TierContext,
} from "./find-tier-deployments.ts";
import { missingByokKey } from "./missing-byok-key.ts";

/** As much of a call as looking for deployments takes. */
export type AskingCall = Pick<GenerationCall, "principal" | "request" | "readHeader">;

/** Offers for all that a request names, by model: tiers are resolved, and add no model that is there already. */
export function findAllDeployments(
  deps: GenerationDeps,
  call: AskingCall,
  { own, policy, listNeeds }: Pick<TierContext, "policy" | "listNeeds"> & { readonly own: ByokKeys | null },
): readonly (readonly Deployment[])[] {
  const { principal, request } = call;
  const serving = deps.serving();
  const ids = [request.model, ...request.fallbackModels];
  const isAnonymous = principal.kind === "anonymous";
  if (isAnonymous) requireFree(ids.filter((id) => serving.tiers.find(id) === undefined));
  const choice = chooseKeys(principal, own, request.preferences.ownKeysOnly);
  // Most requests name one model and no tier.
  if (ids.length === 1 && serving.tiers.find(request.model) === undefined)
    return [findAbleOffers(serving, choice, request.model, request)];
  const all: (readonly Deployment[])[] = [];
  const known = new Set<string>();
  const refusals: Failure[] = [];
  for (const id of ids) {
    const tier = serving.tiers.find(id);
    if (tier === undefined) {
      const deployments = findAbleOffers(serving, choice, id, request);
      known.add((deployments[0] as Deployment).model.id);
      all.push(deployments);
      continue;
    }
    if (request.action !== "chat") rejectTierHere(tier, request.action);
    const facts = describeFacts(deps, call);
    const found = findTierDeployments(tier, { serving, choice, policy, isAnonymous, facts, listNeeds });
    if (found.kind === "refused") {
      refusals.push(found.failure);
      continue;
    }
    for (const deployments of found.deployments) {
      const { model } = deployments[0] as Deployment;
      if (!known.has(model.id)) all.push(deployments);
      known.add(model.id);
    }
  }
  const [refusal] = refusals;
  if (all.length === 0 && refusal !== undefined) throw new GatewayError(refusal);
  return all;
}

/** @throws GatewayError `authentication` for a paid model. */
export function requireFree(ids: readonly string[]): void {
  const paid = ids.find((id) => !isFreeId(id.toLowerCase()));
  if (paid === undefined) return;
  fail(
    "authentication",
    `${quote(paid)} needs an API key. Send it as "Authorization: Bearer gw_…", or use a model whose id ends in ":free".`,
  );
}

/**
 * Who could answer for a model.
 * @throws GatewayError `invalid_model` where nobody here can; `model_not_allowed` or `invalid_request` where only the account's own
 * keys may and none does.
 */
export function findDeployments(
  serving: Serving,
  choice: KeyChoice,
  id: string,
  action: InferenceAction,
): readonly Deployment[] {
  const model = serving.catalog.find(id);
  if (model === undefined)
    return fail("invalid_model", unknownModel(serving, id), { metadata: { model: id } });
  const isEmbedding = actionOf(model) === "embeddings";
  if (isEmbedding !== (action === "embeddings"))
    return fail("invalid_model", otherEndpoint(id, isEmbedding), { metadata: { model: id } });
  const deployments = chooseDeployments(serving.servedModels, model.id, action, choice);
  if (deployments.length > 0) return deployments;
  if (choice.ownOnly !== null && serving.servedModels.allDeploymentsOf(model.id).length > 0)
    throw new GatewayError(missingByokKey(model.id, choice.ownOnly));
  return fail("invalid_model", unservedModel(serving, model), { metadata: { model: id } });
}

/** Offers whose provider has the endpoint that a request needs; every one has that of what its model is for. */
function findAbleOffers(
  serving: Serving,
  choice: KeyChoice,
  id: string,
  request: InferenceRequest,
): readonly Deployment[] {
  const deployments = findDeployments(serving, choice, id, request.action);
  if (request.action !== "fim") return deployments;
  const able = deployments.filter(hasFimEndpoint);
  if (able.length > 0) return able;
  return fail("invalid_model", `${quote(id)} does not do this here. Name another model.`, {
    metadata: { model: id },
  });
}

/** Whether an offer's provider has an endpoint for fill in the middle. The address of a key that cannot be used is not known. */
function hasFimEndpoint({ endpoint, provider, keys, unusableKey }: Deployment): boolean {
  if (unusableKey !== undefined) return provider.record.paths?.fim !== undefined;
  return keys.some((key) => isReachable(key, provider, endpoint, "fim"));
}

function otherEndpoint(id: string, isEmbedding: boolean): string {
  return isEmbedding
    ? `${quote(id)} is an embedding model. Send it to POST /api/gateway/embeddings.`
    : `${quote(id)} makes no embeddings. Send it to POST /api/gateway/chat/completions, or name a model whose output_modalities are ["embedding"].`;
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
  const hint = near.length > 0 ? ` Near it are ${near.map(quote).join(", ")}.` : "";
  return `${quote(model.id)} was withdrawn on ${since}.${hint} GET /api/gateway/models lists what is served.`;
}

const NEAR_MODELS = 20;

function unservedModel(serving: Serving, model: ModelRecord): string {
  if (isWithdrawn(model, serving.servedModels.day)) return withdrawnModel(serving, model);
  const variables = model.endpoints
    .map((endpoint) => serving.catalog.provider(endpoint.provider))
    .filter((provider) => provider !== undefined)
    // Who made it comes first, under whatever name: "openai/gpt-4o" at "openai".
    .sort((a, b) => Number(model.id.startsWith(b.slug)) - Number(model.id.startsWith(a.slug)))
    .flatMap((provider) => provider.env.apiKey[0] ?? []);
  const how =
    variables.length > 0 ? ` Its operator can set ${[...new Set(variables)].slice(0, 3).join(" or ")}.` : "";
  const own = serving.servedModels.allDeploymentsOf(model.id)[0]?.provider.record.name;
  const bring = own === undefined ? "" : ` An account can bring a key of its own for ${own}.`;
  return `No provider that is configured here serves ${quote(model.id)}.${how}${bring} GET /api/gateway/models lists what is served.`;
}

/** Ids come from clients: bounded and without line breaks. */
function quote(id: string): string {
  return JSON.stringify(id.slice(0, 100));
}
