import type { TierView } from "../../../core/catalog/tiers/present-tier.ts";
import type { Deployment } from "../../../core/deployments/served-models.ts";
import type { Serving } from "../../../core/generation/call/call.ts";

/** Returns the served models with the deployments that are allowed. */
export function viewServed(
  { servedModels }: Serving,
  isAllowed: (deployment: Deployment) => boolean,
): TierView {
  return {
    models: servedModels.models,
    find(id) {
      const deployments = servedModels.deploymentsOf(id).filter(isAllowed);
      const model = deployments[0]?.model;
      return model === undefined ? null : { model, endpoints: deployments.map(({ endpoint }) => endpoint) };
    },
  };
}

/** Returns all models of the catalog. */
export function viewCatalog({ catalog }: Serving): TierView {
  return {
    models: catalog.models,
    find(id) {
      const model = catalog.find(id);
      return model === undefined ? null : { model, endpoints: model.endpoints };
    },
  };
}
