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

/** Returns a remark about a wildcard whose provider gets less of the name than was probably meant; null if there is none. */
export function findShortRest({ name, deployment: { upstream } }: LitellmEntry): string | null {
  const start = name.slice(0, name.indexOf("*"));
  if (upstream !== "*" || start === "" || start.endsWith("/")) return null;
  return `As in LiteLLM, the provider gets only what the * stands for: x for ${start}x. If it is to get all of the name, write ${name} for the model.`;
}

/** Lists what a wildcard implies: for `openai/*`, LiteLLM also accepts names without the provider, such as `gpt-4o`. */
export function listImplied(entry: LitellmEntry): readonly LitellmEntry[] {
  const { name, deployment } = entry;
  if (deployment.upstream !== "*" || name !== `${deployment.providerName}/*`) return [];
  return BARE_MODELS.filter(([, provider]) => provider === deployment.providerName).map(([pattern]) => ({
    ...entry,
    name: pattern,
    deployment: { ...deployment, upstream: pattern },
  }));
}

/** A name of LiteLLM's for models of a provider of the catalog. */
interface AnyModels {
  readonly name: string;
  readonly target: string;
  readonly provider: string;
}

/** Lists the names that `*` stands for. */
export function listAnyModels(): readonly AnyModels[] {
  const slugOf = (name: string) => {
    const known = findProvider(LITELLM_PROVIDERS, name);
    return known?.kind === "catalog" ? known.slug : null;
  };
  const all = [
    ...Object.keys(LITELLM_PROVIDERS).map((name) => ({ name: `${name}/*`, target: "*", of: name })),
    ...BARE_MODELS.map(([pattern, of]) => ({ name: pattern, target: pattern, of })),
  ];
  return all.flatMap(({ name, target, of }) => {
    const provider = slugOf(of);
    return provider === null ? [] : { name, target, provider };
  });
}
