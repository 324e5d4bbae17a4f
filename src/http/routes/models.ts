import { fail } from "../../base/errors.ts";
import { describeModel, type PublicModel } from "../../core/catalog/describe-model.ts";
import type { ModelRecord } from "../../core/catalog/records.ts";
import type { Serving } from "../../core/generation/call.ts";
import type { RequestContext } from "../context.ts";
import { jsonList, type PreparedList, prepareList } from "../prepared-list.ts";

/** A list as it is sent, made once for each catalog and day: prices change with the day. */
interface DaysList extends PreparedList {
  readonly day: number;
}

const served = new WeakMap<Serving, DaysList>();
const all = new WeakMap<Serving, DaysList>();
const DAY_MS = 86_400_000;

/**
 * `GET models`: what can be served here; with `?all=true` the whole catalog (docs/contract.md, "Models, providers").
 * A key is not looked at, so a bad one does no harm.
 */
export function listModels(request: Request, { deps }: RequestContext): Response {
  const serving = deps.generation.serving();
  const wantsAll = request.url.includes("?") && new URL(request.url).searchParams.get("all") === "true";
  const cache = wantsAll ? all : served;
  const now = deps.clock.now();
  const day = Math.floor(now / DAY_MS);
  let list = cache.get(serving);
  if (list?.day !== day) {
    const { models } = wantsAll ? serving.catalog : serving.roster;
    list = { ...prepareList(models.map(describerOf(serving, wantsAll, now))), day };
    cache.set(serving, list);
  }
  return jsonList(request, list);
}

function describerOf(
  serving: Serving,
  wantsAll: boolean,
  now: number,
): (model: ModelRecord) => PublicModel | null {
  if (wantsAll) return (model) => describeModel(model, model.endpoints, now);
  return (model) =>
    describeModel(
      model,
      serving.roster.offersFor(model.id).map((offer) => offer.endpoint),
      now,
    );
}

/** `GET models/{author}/{model}`: one model, of the whole catalog. */
export function getModel(_request: Request, context: RequestContext): Response {
  const serving = context.deps.generation.serving();
  const model = findModel(serving, context);
  const offers = serving.roster.offersFor(model.id).map((offer) => offer.endpoint);
  const record = describeModel(model, offers.length > 0 ? offers : model.endpoints, context.deps.clock.now());
  return record === null ? unknownModel(model.id) : Response.json(record);
}

/** `GET models/{author}/{model}/endpoints`: who serves a model, under which name, at what price. */
export function listEndpoints(_request: Request, context: RequestContext): Response {
  const serving = context.deps.generation.serving();
  const model = findModel(serving, context);
  const configured = new Set(serving.roster.offersFor(model.id).map((offer) => offer.endpoint));
  const endpoints = model.endpoints.flatMap((endpoint) => {
    const record = describeModel(model, [endpoint], context.deps.clock.now());
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
