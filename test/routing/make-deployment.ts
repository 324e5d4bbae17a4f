import type { ModelEndpoint } from "../../src/core/catalog/records.ts";
import type { Deployment } from "../../src/core/deployments/served-models.ts";

/** What a test says of an deployment. */
export interface OfferFacts extends Partial<Pick<ModelEndpoint, "lacks" | "priceTiers">> {
  readonly trains?: boolean;
  readonly retains?: boolean | null;
  /** Dollars a million tokens. */
  readonly price?: number;
  /** The same for what is read from its cache. */
  readonly cached?: number;
  readonly isForCode?: true;
  /** Labels of the gateway's keys. */
  readonly keys?: readonly string[];
  /** The account's own key. */
  readonly own?: true;
}

/** A provider's deployment of a model, with as much of a catalog row as routing looks at. */
export function makeDeployment(id: string, provider: string, facts: OfferFacts = {}): Deployment {
  const { trains, retains, price = 1, cached, isForCode, keys = [`${provider}#0`], own, ...endpoint } = facts;
  const prices = {
    prompt: perToken(price),
    completion: perToken(price),
    ...(cached === undefined ? {} : { cacheRead: perToken(cached) }),
  };
  return {
    model: {
      id,
      inputModalities: ["text", "image"],
      supportedParameters: ["max_tokens", "temperature", "tools"],
    },
    endpoint: { provider, name: "up", prices, ...endpoint },
    provider: {
      record: {
        slug: provider,
        name: provider,
        baseUrl: "https://vendor.test",
        trainsOnData: trains,
        retainsData: retains,
        isForCode,
        quirks: {},
      },
      formats: ["openai-chat"],
    },
    keys: keys.map((label) => ({ label, secret: null, byokId: own ? label : null })),
  } as unknown as Deployment;
}

function perToken(dollarsPerMillion: number): string {
  return (dollarsPerMillion / 1_000_000).toFixed(9);
}
