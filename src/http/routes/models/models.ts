import { fail } from "../../../base/failures/errors.ts";
import {
  type EffectivePolicy,
  mergePolicies,
  policyOf,
} from "../../../core/accounts/records/merge-policies.ts";
import type { AccountPrincipal } from "../../../core/accounts/records/principal.ts";
import type { PublicModel } from "../../../core/catalog/present/model-view.ts";
import { presentModel } from "../../../core/catalog/present/present-model.ts";
import { findFamilies, resolveTurns } from "../../../core/catalog/profile/resolve-takes.ts";
import type { ModelEndpoint, ModelRecord } from "../../../core/catalog/records/records.ts";
import { listTierModels, presentTier } from "../../../core/catalog/tiers/present-tier.ts";
import type { TierRecord } from "../../../core/catalog/tiers/tier-records.ts";
import type { GenerationDeps, Serving } from "../../../core/generation/call/call.ts";
import { tariffsOf } from "../../../core/generation/prepare/apply-tariffs.ts";
import { presentNamedRoute } from "../../../core/named-routes/present-named-route.ts";
import type { HttpDeps, RequestContext } from "../../context/context.ts";
import { jsonPart, type PreparedList } from "../../context/prepared-response.ts";
import { urlOf } from "../../context/url-of.ts";
import { admit } from "../../middleware/admit.ts";
import { presentEndpointHealth } from "../routing/present-health.ts";
import { viewCatalog, viewServed } from "../routing/tier-views.ts";
import {
  createAnthropicLists,
  pageAnthropicModels,
  readsAnthropicModels,
  toModelInfo,
} from "./anthropic-models.ts";
import { createModelLists } from "./model-lists.ts";

/**
 * `GET models`: the models that this gateway serves; with a key, only those that its account and key may use; with `?all=true`, the whole
 * catalog (docs/api/models.md). An invalid key is treated as no key.
 */
export async function listModels(request: Request, context: RequestContext): Promise<Response> {
  const list = await findList(request, context);
  if (!readsAnthropicModels(request)) return jsonPart(request, list);
  const { generation, clock, resources } = context.deps;
  const lists = resources.pages.of(createAnthropicLists, generation.serving(), clock.now());
  return Response.json(await pageAnthropicModels(lists, list, urlOf(request).searchParams));
}

/** `GET models/count`: the number of records of `GET models`. */
export async function countModels(request: Request, context: RequestContext): Promise<Response> {
  return Response.json({ data: { count: (await findList(request, context)).count } });
}

async function findList(request: Request, context: RequestContext): Promise<PreparedList> {
  const { generation, clock, resources } = context.deps;
  const { principal } = await admit(request, context, { kind: "optional_key" });
  const lists = resources.pages.of(createModelLists, generation.serving(), clock.now());
  if (request.url.includes("?") && urlOf(request).searchParams.get("all") === "true") return lists.all();
  const policy =
    principal.kind === "key" && isRestricted(principal)
      ? policyOf(generation.settings.policy, principal)
      : anonymousPolicy(generation);
  const own =
    principal.kind === "key" ? await generation.accounts.accountRoutes.of(principal.account.id) : null;
  const tariffs = tariffsOf(principal, generation);
  return lists.allowed(policy, { tariffs, own });
}

/** Prepares the lists for requests without a key: after a start, after a refresh and at the beginning of a day. */
export async function prepareModelLists({ generation, clock, resources }: HttpDeps): Promise<void> {
  const lists = resources.pages.of(createModelLists, generation.serving(), clock.now());
  await lists.prepare(anonymousPolicy(generation));
}

function anonymousPolicy({ settings: { policy } }: GenerationDeps): EffectivePolicy {
  return mergePolicies([{ level: "gateway", policy }]);
}

function isRestricted({ account: { policy }, key }: AccountPrincipal): boolean {
  const { rules, denyDataCollection, zeroRetention } = mergePolicies([{ level: "account", policy }]);
  return key.models !== null || rules.length > 0 || denyDataCollection !== null || zeroRetention !== null;
}

/** Returns a tier with its served models, otherwise with its models in the whole catalog. */
function presentTierAnywhere(serving: Serving, tier: TierRecord, now: number): PublicModel | null {
  const served = presentTier(
    tier,
    viewServed(serving, () => true),
    now,
  );
  return served ?? presentTier(tier, viewCatalog(serving), now);
}

/** `GET models/{author}/{model}`: one model, auto tier or named route; for Anthropic's clients in their shape. */
export function getModel(request: Request, context: RequestContext): Response {
  const record = presentAny(context, idOf(context));
  return Response.json(readsAnthropicModels(request) ? toModelInfo(record)[0] : record);
}

/** `GET model/{author}/{model}`: the same within `data`, as clients of OpenRouter read it. */
export function getModelData(_request: Request, context: RequestContext): Response {
  return Response.json({ data: presentAny(context, idOf(context)) });
}

function presentAny(context: RequestContext, id: string): PublicModel {
  const serving = context.deps.generation.serving();
  const now = context.deps.clock.now();
  const tier = serving.tiers.find(id);
  if (tier !== undefined) return presentTierAnywhere(serving, tier, now) ?? unknownModel(tier.id);
  const route = findNamedRoute(serving, context);
  if (route !== null) return route;
  const model = findModel(serving, id);
  const deployments = serving.servedModels.deploymentsOf(model.id).map((deployment) => deployment.endpoint);
  const endpoints = deployments.length > 0 ? deployments : model.endpoints;
  return presentModel(model, endpoints, now) ?? unknownModel(model.id);
}

/** `GET models/{author}/{model}/endpoints`: the endpoints of a model or of a tier's models, with prices and recent health. */
export function listEndpoints(_request: Request, context: RequestContext): Response {
  const serving = context.deps.generation.serving();
  const id = findNamedRoute(serving, context)?.alias_of ?? idOf(context);
  const { name, created, description, architecture } = presentAny(context, id);
  const tier = serving.tiers.find(id);
  const models =
    tier === undefined
      ? [findModel(serving, id)]
      : listTierModels(
          tier,
          viewServed(serving, () => true),
        ).map(({ model }) => model);
  const endpoints = models.flatMap((model) => presentEndpoints(context, serving, model));
  const shown = { ...architecture, instruct_type: null };
  return Response.json({
    data: { id: tier?.id ?? models[0]?.id ?? id, name, created, description, architecture: shown, endpoints },
  });
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
    const provider = serving.catalog.provider(endpoint.provider)?.name ?? endpoint.provider;
    const measured = { provider: endpoint.provider, model: model.id };
    const { status: health, ...performance } = presentEndpointHealth(generation, measured, now);
    return {
      name: `${provider} | ${model.id}`,
      provider_name: provider,
      tag: endpoint.provider,
      model_id: model.id,
      model_name: endpoint.name,
      context_length: endpoint.contextLength,
      max_completion_tokens: endpoint.maxOutputTokens,
      max_prompt_tokens: null,
      quantization: null,
      pricing: record.pricing,
      supported_parameters: record.supported_parameters,
      supports_tool_choice: listToolChoices(serving, model, endpoint, record.supported_parameters),
      supports_implicit_caching: cachesByItself(model, endpoint),
      configured: configured.has(endpoint),
      health,
      ...performance,
      ...NOT_MEASURED,
      expiration_date: endpoint.expires ?? null,
    };
  });
}

/** Fields that clients of OpenRouter read of an endpoint, about times that this gateway does not measure. */
const NOT_MEASURED = {
  uptime_last_5m: null,
  uptime_last_30m: null,
  uptime_last_1d: null,
  latency_last_30m: null,
  throughput_last_30m: null,
};

/** Returns which values of `tool_choice` a model takes at an endpoint. */
function listToolChoices(
  { servedModels }: Serving,
  model: ModelRecord,
  endpoint: ModelEndpoint,
  parameters: readonly string[],
) {
  const all = servedModels.provider(endpoint.provider)?.families ?? [];
  const families = findFamilies(all, model, endpoint.provider);
  const canForce =
    parameters.includes("tool_choice") && resolveTurns({ endpoint, model, families }).forcedTools !== "never";
  return {
    auto: parameters.includes("tools"),
    none: parameters.includes("tool_choice"),
    required: canForce,
    function: canForce,
  };
}

/** Whether an endpoint caches prompts without marks: reading has a price, and writing has none. */
function cachesByItself({ takes }: ModelRecord, { prices, takesHere }: ModelEndpoint): boolean {
  const marks = takesHere?.cacheBreakpoints ?? takes?.cacheBreakpoints ?? false;
  return prices?.cacheRead !== undefined && prices.cacheWrite === undefined && !marks;
}

function idOf({ params }: RequestContext): string {
  return params["id"] ?? `${params["author"]}/${params["model"]}`;
}

function findModel(serving: Serving, id: string): ModelRecord {
  return serving.catalog.find(id) ?? unknownModel(id);
}

/** Returns the operator's named route of the path, with the model it has among those served, else among the whole catalog. */
function findNamedRoute(serving: Serving, context: RequestContext): PublicModel | null {
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
