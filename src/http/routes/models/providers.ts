import { presentProvider } from "../../../core/catalog/present/present-provider.ts";
import type { ModelRecord, ProviderRecord } from "../../../core/catalog/records/records.ts";
import type { Serving } from "../../../core/generation/call/call.ts";
import type { RequestContext } from "../../context/context.ts";
import { jsonList, type PreparedResponse, prepareList } from "../../context/prepared-response.ts";
import { urlOf } from "../../context/url-of.ts";

const served = new WeakMap<Serving, PreparedResponse>();
const all = new WeakMap<Serving, PreparedResponse>();

/** `GET providers`: the providers that this gateway can call; with `?all=true` all providers of the catalog. */
export function listProviders(request: Request, { deps }: RequestContext): Response {
  const serving = deps.generation.serving();
  const wantsAll = urlOf(request).searchParams.get("all") === "true";
  const cache = wantsAll ? all : served;
  let list = cache.get(serving);
  if (list === undefined) {
    list = prepareList(wantsAll ? presentAll(serving) : presentServed(serving));
    cache.set(serving, list);
  }
  return jsonList(request, list);
}

function presentAll(serving: Serving) {
  const { catalog } = serving;
  return catalog.providers.map((provider) =>
    presentProvider(provider, countModels(catalog.models, provider.slug), takesOwnKeys(serving, provider)),
  );
}

function takesOwnKeys({ servedModels }: Serving, { slug }: ProviderRecord): boolean {
  return (servedModels.provider(slug)?.readByokKey ?? null) !== null;
}

function presentServed(serving: Serving) {
  const { servedModels } = serving;
  return servedModels.providers.map(({ record }) => {
    const count = servedModels.models.filter((model) =>
      servedModels
        .deploymentsOf(model.id)
        .some((deployment) => deployment.provider.record.slug === record.slug),
    ).length;
    return presentProvider(record, count, takesOwnKeys(serving, record));
  });
}

function countModels(models: readonly ModelRecord[], slug: string): number {
  return models.filter((model) => model.endpoints.some((endpoint) => endpoint.provider === slug)).length;
}
