import { fail } from "../../base/errors.ts";
import { type EffectivePolicy, mergePolicies, policyOf } from "../../core/accounts/merge-policies.ts";
import type { AccountPrincipal } from "../../core/accounts/principal.ts";
import { type PublicModel, presentModel } from "../../core/catalog/present-model.ts";
import { listTierModels, presentTier } from "../../core/catalog/present-tier.ts";
import type { ModelRecord } from "../../core/catalog/records.ts";
import type { TierRecord } from "../../core/catalog/tier-records.ts";
import { tariffsOf } from "../../core/generation/apply-tariffs.ts";
import type { GenerationDeps, Serving } from "../../core/generation/call.ts";
import { type PublicNamedRoute, presentNamedRoute } from "../../core/named-routes/present-named-route.ts";
import type { HttpDeps, RequestContext } from "../context/context.ts";
import { jsonList, type PreparedResponse } from "../context/prepared-response.ts";
import { urlOf } from "../context/url-of.ts";
import { admit } from "../middleware/admit.ts";
import { pageAnthropicModels, readsAnthropicModels, toModelInfo } from "./anthropic-models.ts";
import { modelListsOf } from "./model-lists.ts";
import { presentEndpointHealth } from "./present-health.ts";
import { viewCatalog, viewServed } from "./tier-views.ts";

/**
 * `GET models`: the models that this gateway serves, with a key only those that its account and key may use; with `?all=true` the
 * whole catalog (docs/api/models.md). An invalid key is treated as no key.
 */
export async function listModels(request: Request, context: RequestContext): Promise<Response> {
  const { generation, clock } = context.deps;
  const { principal } = await admit(request, context, { kind: "optional_key" });
  const lists = modelListsOf(generation.serving(), clock.now());
  if (request.url.includes("?") && urlOf(request).searchParams.get("all") === "true")
    return sendModels(request, await lists.all());
  const policy =
    principal.kind === "key" && isRestricted(principal)
      ? policyOf(generation.policy, principal)
      : anonymousPolicy(generation);
  const own = principal.kind === "key" ? await generation.accountRoutes.of(principal.account.id) : null;
  const tariffs = tariffsOf(principal, { pricing: generation.pricing, now: clock.now() });
  return sendModels(request, await lists.allowed(policy, { tariffs, own }));
}

/** Sends a list in the shape that the client's library reads. */
async function sendModels(request: Request, list: PreparedResponse): Promise<Response> {
  if (!readsAnthropicModels(request)) return jsonList(request, list);
  return Response.json(await pageAnthropicModels(list, urlOf(request).searchParams));
}

/** Prepares the lists for requests without a key: after a start, after a refresh and at the beginning of a day. */
export async function prepareModelLists({ generation, clock }: HttpDeps): Promise<void> {
  await modelListsOf(generation.serving(), clock.now()).prepare(anonymousPolicy(generation));
}

function anonymousPolicy({ policy }: GenerationDeps): EffectivePolicy {
  return mergePolicies([{ level: "gateway", policy }]);
}

function isRestricted({ account: { policy }, key }: AccountPrincipal): boolean {
  const { rules, denyDataCollection, zeroRetention } = mergePolicies([{ level: "account", policy }]);
  return key.models !== null || rules.length > 0 || denyDataCollection !== null || zeroRetention !== null;
}

/** Returns a tier with the models it has among those served, else among the whole catalog. */
function presentTierAnywhere(serving: Serving, tier: TierRecord, now: number): PublicModel | null {
  const served = presentTier(
    tier,
    viewServed(serving, () => true),
    now,
  );
  return served ?? presentTier(tier, viewCatalog(serving), now);
}

/** `GET models/{author}/{model}`: one model of the catalog, an auto tier, or a named route of the operator. */
export function getModel(request: Request, context: RequestContext): Response {
  const record = findPublicModel(context);
  return Response.json(readsAnthropicModels(request) ? toModelInfo(record)[0] : record);
}

function findPublicModel(context: RequestContext): PublicModel | PublicNamedRoute {
  const serving = context.deps.generation.serving();
  const tier = serving.tiers.find(idOf(context));
  if (tier !== undefined) {
    const record = presentTierAnywhere(serving, tier, context.deps.clock.now());
    return record ?? unknownModel(tier.id);
  }
  const route = findNamedRoute(serving, context);
  if (route !== null) return route;
  const model = findModel(serving, idOf(context));
  const deployments = serving.servedModels.deploymentsOf(model.id).map((deployment) => deployment.endpoint);
  const record = presentModel(
    model,
    deployments.length > 0 ? deployments : model.endpoints,
    context.deps.clock.now(),
  );
  return record ?? unknownModel(model.id);
}

/** `GET models/{author}/{model}/endpoints`: the endpoints of a model or of a tier's models, with prices and recent health. */
export function listEndpoints(_request: Request, context: RequestContext): Response {
  const { generation } = context.deps;
  const serving = generation.serving();
  const id = findNamedRoute(serving, context)?.alias_of ?? idOf(context);
  const tier = serving.tiers.find(id);
  if (tier !== undefined) {
    const models = listTierModels(
      tier,
      viewServed(serving, () => true),
    );
    const endpoints = models.flatMap(({ model }) => presentEndpoints(context, serving, model));
    return Response.json({ data: { id: tier.id, name: tier.name, endpoints } });
  }
  const model = findModel(serving, id);
  const endpoints = presentEndpoints(context, serving, model);
  return Response.json({ data: { id: model.id, name: model.name, endpoints } });
}

function presentEndpoints(
  { deps: { generation, clock } }: RequestContext,
  serving: Serving,
  model: ModelRecord,
): readonly unknown[] {
  const now = clock.now();
  const configured = new Set(
    serving.servedModels.deploymentsOf(model.id).map((deployment) => deployment.endpoint),
  );
  return model.endpoints.flatMap((endpoint) => {
    const record = presentModel(model, [endpoint], now);
    if (record === null) return [];
    return {
      provider_name: serving.catalog.provider(endpoint.provider)?.name ?? endpoint.provider,
      tag: endpoint.provider,
      model_id: model.id,
      model_name: endpoint.name,
      context_length: endpoint.contextLength,
      max_completion_tokens: endpoint.maxOutputTokens,
      pricing: record.pricing,
      supported_parameters: record.supported_parameters,
      configured: configured.has(endpoint),
      ...presentEndpointHealth(generation, { provider: endpoint.provider, model: model.id }, now),
      expiration_date: endpoint.expires ?? null,
    };
  });
}

function idOf({ params }: RequestContext): string {
  return params["id"] ?? `${params["author"]}/${params["model"]}`;
}

function findModel(serving: Serving, id: string): ModelRecord {
  return serving.catalog.find(id) ?? unknownModel(id);
}

/** Returns the operator's named route of the path, with the model it has among those served, else among the whole catalog. */
function findNamedRoute(serving: Serving, context: RequestContext): PublicNamedRoute | null {
  const route = serving.namedRoutes.find(idOf(context));
  if (route === undefined) return null;
  const view = { sources: serving, own: null, at: context.deps.clock.now() };
  const served = presentNamedRoute(route, { ...view, models: viewServed(serving, () => true) });
  return served ?? presentNamedRoute(route, { ...view, models: viewCatalog(serving) });
}

function unknownModel(id: string): never {
  return fail(
    "not_found",
    `There is no model ${JSON.stringify(id.slice(0, 100))}. GET models?all=true lists all models.`,
  );
}
