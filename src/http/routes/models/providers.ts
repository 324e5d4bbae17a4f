import { presentProvider } from "../../../core/catalog/present/present-provider.ts";
import type { ModelRecord, ProviderRecord } from "../../../core/catalog/records/records.ts";
import type { Serving } from "../../../core/generation/call/call.ts";
import type { RequestContext } from "../../context/context.ts";
import { jsonList, type PreparedResponse, prepareList } from "../../context/prepared-response.ts";
import { urlOf } from "../../context/url-of.ts";

/** `GET providers`: the providers that this gateway can call; with `?all=true` all providers of the catalog. */
export function listProviders(request: Request, { deps }: RequestContext): Response {
  const wantsAll = urlOf(request).searchParams.get("all") === "true";
  const prepare = wantsAll ? prepareAll : prepareServed;
  return jsonList(request, deps.resources.pages.of(prepare, deps.generation.serving(), deps.clock.now()));
}

function prepareAll(serving: Serving): PreparedResponse {
  const { catalog } = serving;
  return prepareList(
    catalog.providers.map((provider) =>
      presentProvider(provider, countModels(catalog.models, provider.slug), takesOwnKeys(serving, provider)),
    ),
  );
}

function takesOwnKeys({ servedModels }: Serving, { slug }: ProviderRecord): boolean {
  return (servedModels.provider(slug)?.readByokKey ?? null) !== null;
}

function prepareServed(serving: Serving): PreparedResponse {
  const { servedModels } = serving;
  const providers = servedModels.providers.map(({ record }) => {
    const count = servedModels.models.filter((model) =>
      servedModels
        .deploymentsOf(model.id)
        .some((deployment) => deployment.provider.record.slug === record.slug),
    ).length;
    return presentProvider(record, count, takesOwnKeys(serving, record));
  });
  return prepareList(providers);
}

function countModels(models: readonly ModelRecord[], slug: string): number {
  return models.filter((model) => model.endpoints.some((endpoint) => endpoint.provider === slug)).length;
}
