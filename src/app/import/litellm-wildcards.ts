import { isPattern } from "../../core/named-routes/named-routes.ts";
import { BARE_MODELS, findProvider, LITELLM_PROVIDERS } from "./provider-names.ts";
import type { LitellmEntry } from "./read-litellm-entry.ts";

/** Returns why a name or model with a `*` cannot be expressed; null if it can. `isOfCatalog`: the provider's models are known. */
export function findPatternFault({ name, deployment }: LitellmEntry, isOfCatalog: boolean): string | null {
  const { upstream } = deployment;
  if (countStars(name) > 1 || countStars(upstream) > 1) return "A name has at most one * here.";
  if (!isPattern(upstream)) return null;
  if (!isPattern(name)) return "The name has no *, so the * of the model stands for nothing.";
  if (isOfCatalog) return null;
  return "The models of a host are not known: list those that are used, each with a name of its own and the same api_base, and import again.";
}

function countStars(name: string): number {
  return name.split("*").length - 1;
}

/**
 * Lists the entries that a wildcard stands for. For `openai/*`, LiteLLM also accepts its models without the provider, such as `gpt-4o`, and
 * for `*`, the models of all providers.
 */
export function expandWildcard(entry: LitellmEntry): readonly LitellmEntry[] {
  const { name, deployment } = entry;
  if (deployment.upstream !== "*") return [entry];
  const bare = BARE_MODELS.flatMap(([pattern, provider]) => {
    const isMeant = name === `${provider}/*` && deployment.providerName === provider;
    return isMeant ? withModel(entry, pattern, pattern) : [];
  });
  return [entry, ...bare];
}

/** Lists the names of models for `*`, with the models of LiteLLM that they stand for. */
export function listAnyModels(): readonly (readonly [name: string, model: string])[] {
  const providers = Object.keys(LITELLM_PROVIDERS).filter(
    (name) => findProvider(LITELLM_PROVIDERS, name)?.kind === "catalog",
  );
  return [
    ...providers.map((provider) => [`${provider}/*`, `${provider}/*`] as const),
    ...BARE_MODELS.map(([pattern, provider]) => [pattern, `${provider}/${pattern}`] as const),
  ];
}

function withModel(entry: LitellmEntry, name: string, upstream: string): LitellmEntry {
  return { ...entry, name, deployment: { ...entry.deployment, upstream } };
}
