import { fail } from "../../base/errors.ts";
import { type JoinedPolicy, joinPolicies, policyOf } from "../../core/accounts/join-policies.ts";
import type { Caller } from "../../core/accounts/records.ts";
import { describeModel, type PublicModel } from "../../core/catalog/describe-model.ts";
import { describeTier, listTierModels, type TierView } from "../../core/catalog/describe-tier.ts";
import type { ModelRecord } from "../../core/catalog/records.ts";
import type { TierRecord } from "../../core/catalog/tier-records.ts";
import type { Serving } from "../../core/generation/call.ts";
import { findForbidding } from "../../core/generation/find-tier-offers.ts";
import type { Offer } from "../../core/routing/roster.ts";
import { createPolicyFilter } from "../../core/routing/select-offers.ts";
import type { RequestContext } from "../context.ts";
import { describeHealth } from "../describe-health.ts";
import { identifyCaller } from "../middleware/identify-caller.ts";
import { jsonList, type PreparedList, prepareList } from "../prepared-list.ts";

type KeyCaller = Extract<Caller, { kind: "key" }>;

/** A list as it is sent, made once for each catalog and day: prices change with the day. */
interface DaysList extends PreparedList {
  readonly day: number;
}

/** The lists as callers without a key are sent them. */
const served = new WeakMap<Serving, DaysList>();
const all = new WeakMap<Serving, DaysList>();
const DAY_MS = 86_400_000;

/**
 * `GET models`: what can be served here, with a key what its account and key allow; with `?all=true` the whole catalog
 * (docs/contract.md, "Models, providers"). A bad key does no harm: it counts as none.
 */
export async function listModels(request: Request, context: RequestContext): Promise<Response> {
  const { generation, clock } = context.deps;
  const serving = generation.serving();
  const now = clock.now();
  if (request.url.includes("?") && new URL(request.url).searchParams.get("all") === "true") {
    const wholeCatalog = () => [
      ...serving.tiers.list.map((tier) => describeTier(tier, catalogView(serving), now)),
      ...serving.catalog.models.map((model) => describeModel(model, model.endpoints, now)),
    ];
    return jsonList(request, prepareOnce(all, serving, now, wholeCatalog));
  }
  const caller = await findKeyCaller(request, context);
  const list = (policy: JoinedPolicy) => [
    ...listTiers(serving, policy, now),
    ...serving.roster.models.map(describerOf(serving, policy, now)),
  ];
  if (caller !== null && isNarrowed(caller))
    return jsonList(request, prepareList(list(policyOf(generation.policy, caller))));
  const everybodys = joinPolicies([{ level: "gateway", policy: generation.policy }]);
  return jsonList(
    request,
    prepareOnce(served, serving, now, () => list(everybodys)),
  );
}

function prepareOnce(
  cache: WeakMap<Serving, DaysList>,
  serving: Serving,
  now: number,
  make: () => readonly unknown[],
): PreparedList {
  const day = Math.floor(now / DAY_MS);
  const known = cache.get(serving);
  if (known?.day === day) return known;
  const made = { ...prepareList(make()), day };
  cache.set(serving, made);
  return made;
}

/** Null without a key, and with one that is no good here. */
async function findKeyCaller(request: Request, context: RequestContext): Promise<KeyCaller | null> {
  if (!request.headers.has("authorization") && !request.headers.has("x-api-key")) return null;
  try {
    const caller = await identifyCaller(request, context);
    return caller.kind === "key" ? caller : null;
  } catch {
    return null;
  }
}

function isNarrowed({ account: { policy }, key }: KeyCaller): boolean {
  const { rules, denyDataCollection, zeroRetention } = joinPolicies([{ level: "account", policy }]);
  return key.models !== null || rules.length > 0 || denyDataCollection !== null || zeroRetention !== null;
}

function describerOf(
  serving: Serving,
  policy: JoinedPolicy,
  now: number,
): (model: ModelRecord) => PublicModel | null {
  const isAllowed = createPolicyFilter(policy);
  return (model) => {
    const offers = serving.roster.offersFor(model.id).filter(isAllowed);
    return describeModel(
      model,
      offers.map(({ endpoint }) => endpoint),
      now,
    );
  };
}

/** Tiers of which something is served and allowed. */
function listTiers(serving: Serving, policy: JoinedPolicy, now: number): (PublicModel | null)[] {
  const view = servedView(serving, createPolicyFilter(policy));
  return serving.tiers.list
    .filter((tier) => findForbidding(policy, tier) === undefined)
    .map((tier) => describeTier(tier, view, now));
}

function servedView(serving: Serving, isAllowed: (offer: Offer) => boolean): TierView {
  return {
    models: serving.roster.models,
    find(id) {
      const offers = serving.roster.offersFor(id).filter(isAllowed);
      const model = offers[0]?.model;
      return model === undefined ? null : { model, endpoints: offers.map(({ endpoint }) => endpoint) };
    },
  };
}

function catalogView({ catalog }: Serving): TierView {
  return {
    models: catalog.models,
    find(id) {
      const model = catalog.find(id);
      return model === undefined ? null : { model, endpoints: model.endpoints };
    },
  };
}

/** As what is served shows it, else as the catalog does. */
function describeAnywhere(serving: Serving, tier: TierRecord, now: number): PublicModel | null {
  const served = describeTier(
    tier,
    servedView(serving, () => true),
    now,
  );
  return served ?? describeTier(tier, catalogView(serving), now);
}

/** `GET models/{author}/{model}`: one model, of the whole catalog, or a tier. */
export function getModel(_request: Request, context: RequestContext): Response {
  const serving = context.deps.generation.serving();
  const tier = serving.tiers.find(idOf(context));
  if (tier !== undefined) {
    const record = describeAnywhere(serving, tier, context.deps.clock.now());
    return record === null ? unknownModel(tier.id) : Response.json(record);
  }
  const model = findModel(serving, context);
  const offers = serving.roster.offersFor(model.id).map((offer) => offer.endpoint);
  const record = describeModel(model, offers.length > 0 ? offers : model.endpoints, context.deps.clock.now());
  return record === null ? unknownModel(model.id) : Response.json(record);
}

/**
 * `GET models/{author}/{model}/endpoints`: who serves a model, or what a tier comes to, under which name, at what price, and
 * how it fared lately.
 */
export function listEndpoints(_request: Request, context: RequestContext): Response {
  const { generation } = context.deps;
  const serving = generation.serving();
  const tier = serving.tiers.find(idOf(context));
  if (tier !== undefined) {
    const models = listTierModels(
      tier,
      servedView(serving, () => true),
    );
    const endpoints = models.flatMap(({ model }) => describeEndpoints(context, serving, model));
    return Response.json({ data: { id: tier.id, name: tier.name, endpoints } });
  }
  const model = findModel(serving, context);
  const endpoints = describeEndpoints(context, serving, model);
  return Response.json({ data: { id: model.id, name: model.name, endpoints } });
}

function describeEndpoints(
  { deps: { generation, clock } }: RequestContext,
  serving: Serving,
  model: ModelRecord,
): readonly unknown[] {
  const now = clock.now();
  const configured = new Set(serving.roster.offersFor(model.id).map((offer) => offer.endpoint));
  return model.endpoints.flatMap((endpoint) => {
    const record = describeModel(model, [endpoint], now);
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
      ...describeHealth(generation.health.describe(endpoint.provider, model.id, now)),
    };
  });
}

function idOf({ params }: RequestContext): string {
  return params["id"] ?? `${params["author"]}/${params["model"]}`;
}

function findModel(serving: Serving, context: RequestContext): ModelRecord {
  const id = idOf(context);
  return serving.catalog.find(id) ?? unknownModel(id);
}

function unknownModel(id: string): never {
  return fail(
    "not_found",
    `There is no model ${JSON.stringify(id.slice(0, 100))}. GET models?all=true lists them all.`,
  );
}
