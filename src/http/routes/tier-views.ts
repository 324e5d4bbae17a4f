import type { TierView } from "../../core/catalog/describe-tier.ts";
import type { Offer } from "../../core/deployments/served-models.ts";
import type { Serving } from "../../core/generation/call.ts";

/** What is served here, as far as it is allowed. */
export function viewServed({ roster }: Serving, isAllowed: (offer: Offer) => boolean): TierView {
  return {
    models: roster.models,
    find(id) {
      const offers = roster.offersFor(id).filter(isAllowed);
      const model = offers[0]?.model;
      return model === undefined ? null : { model, endpoints: offers.map(({ endpoint }) => endpoint) };
    },
  };
}

/** The whole catalog. */
export function viewCatalog({ catalog }: Serving): TierView {
  return {
    models: catalog.models,
    find(id) {
      const model = catalog.find(id);
      return model === undefined ? null : { model, endpoints: model.endpoints };
    },
  };
}
