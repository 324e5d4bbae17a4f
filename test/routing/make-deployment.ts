import type { ModelEndpoint } from "../../src/core/catalog/records/records.ts";
import { ServedDeployment } from "../../src/core/deployments/served-deployment.ts";
import type { Deployment } from "../../src/core/deployments/served-models.ts";

/** The facts of a deployment that a test sets. */
export interface DeploymentFacts extends Partial<Pick<ModelEndpoint, "lacks" | "priceTiers">> {
  readonly trains?: boolean;
  readonly retains?: boolean | null;
  /** US dollars per million tokens. */
  readonly price?: number;
  /** US dollars per million tokens that are read from the cache. */
  readonly cached?: number;
  readonly isForCode?: true;
  /** Labels of the keys. */
  readonly keys?: readonly string[];
  /** The keys are BYOK keys. */
  readonly own?: true;
}

/** Creates a deployment with the parts of a catalog row that routing uses. */
export function makeDeployment(id: string, provider: string, facts: DeploymentFacts = {}): Deployment {
  const { trains, retains, price = 1, cached, isForCode, keys = [`${provider}#0`], own, ...endpoint } = facts;
  const prices = {
    prompt: perToken(price),
    completion: perToken(price),
    ...(cached === undefined ? {} : { cacheRead: perToken(cached) }),
  };
  const deployment = {
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
    keys: keys.map((label) => ({ label, secret: null, weight: 1, byokId: own ? label : null })),
  } as unknown as Deployment;
  return {
    ...deployment,
    served: new ServedDeployment(deployment.model, deployment.endpoint, deployment.provider),
  };
}

function perToken(dollarsPerMillion: number): string {
  return (dollarsPerMillion / 1_000_000).toFixed(9);
}
