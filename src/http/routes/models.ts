import { fail } from "../../base/errors.ts";
import { type JoinedPolicy, joinPolicies, policyOf } from "../../core/accounts/join-policies.ts";
import type { Caller } from "../../core/accounts/records.ts";
import { describeModel, type PublicModel } from "../../core/catalog/describe-model.ts";
import type { ModelRecord } from "../../core/catalog/records.ts";
import type { Serving } from "../../core/generation/call.ts";
import { createPolicyFilter } from "../../core/routing/select-offers.ts";
import type { RequestContext } from "../context.ts";
import { identifyCaller } from "../middleware/identify-caller.ts";
import { jsonList, type PreparedList, prepareList } from "../prepared-list.ts";

type KeyCaller = Extract<Caller, { kind: "key" }>;

/** The lists as callers without a key are sent them, made once for each catalog. */
const served = new WeakMap<Serving, PreparedList>();
const all = new WeakMap<Serving, PreparedList>();

/**
 * `GET models`: what can be served here, with a key what its account and key allow; with `?all=true` the whole catalog
 * (docs/contract.md, "Models, providers"). A bad key does no harm: it counts as none.
 */
export async function listModels(request: Request, context: RequestContext): Promise<Response> {
  const { generation } = context.deps;
  const serving = generation.serving();
  if (request.url.includes("?") && new URL(request.url).searchParams.get("all") === "true") {
    const wholeCatalog = () => serving.catalog.models.map((model) => describeModel(model, model.endpoints));
    return jsonList(request, prepareOnce(all, serving, wholeCatalog));
  }
  const caller = await findKeyCaller(request, context);
  const list = (policy: JoinedPolicy) => serving.roster.models.map(describerOf(serving, policy));
  if (caller !== null && isNarrowed(caller))
    return jsonList(request, prepareList(list(policyOf(generation.policy, caller))));
  const everybodys = joinPolicies([{ level: "gateway", policy: generation.policy }]);
  return jsonList(
    request,
    prepareOnce(served, serving, () => list(everybodys)),
  );
}

function prepareOnce(
  cache: WeakMap<Serving, PreparedList>,
  serving: Serving,
  make: () => readonly unknown[],
): PreparedList {
  const known = cache.get(serving);
  if (known !== undefined) return known;
  const made = prepareList(make());
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

function describerOf(serving: Serving, policy: JoinedPolicy): (model: ModelRecord) => PublicModel | null {
  const isAllowed = createPolicyFilter(policy);
  return (model) => {
    const offers = serving.roster.offersFor(model.id).filter(isAllowed);
    return describeModel(
      model,
      offers.map(({ endpoint }) => endpoint),
    );
  };
}

/** `GET models/{author}/{model}`: one model, of the whole catalog. */
export function getModel(_request: Request, context: RequestContext): Response {
  const serving = context.deps.generation.serving();
  const model = findModel(serving, context);
  const offers = serving.roster.offersFor(model.id).map((offer) => offer.endpoint);
  const record = describeModel(model, offers.length > 0 ? offers : model.endpoints);
  return record === null ? unknownModel(model.id) : Response.json(record);
}

/** `GET models/{author}/{model}/endpoints`: who serves a model, under which name, at what price. */
export function listEndpoints(_request: Request, context: RequestContext): Response {
  const serving = context.deps.generation.serving();
  const model = findModel(serving, context);
  const configured = new Set(serving.roster.offersFor(model.id).map((offer) => offer.endpoint));
  const endpoints = model.endpoints.flatMap((endpoint) => {
    const record = describeModel(model, [endpoint]);
    if (record === null) return [];
    return {
      provider_name: serving.catalog.provider(endpoint.provider)?.name ?? endpoint.provider,
      tag: endpoint.provider,
      model_name: endpoint.name,
      context_length: endpoint.contextLength,
      max_completion_tokens: endpoint.maxOutputTokens,
      pricing: record.pricing,
      supported_parameters: record.supported_parameters,
      configured: configured.has(endpoint),
    };
  });
  return Response.json({ data: { id: model.id, name: model.name, endpoints } });
}

function findModel(serving: Serving, { params }: RequestContext): ModelRecord {
  const id = params["id"] ?? `${params["author"]}/${params["model"]}`;
  return serving.catalog.find(id) ?? unknownModel(id);
}

function unknownModel(id: string): never {
  return fail(
    "not_found",
    `There is no model ${JSON.stringify(id.slice(0, 100))}. GET models?all=true lists them all.`,
  );
}
