import { findUnknownNames, type KnownNames, type NameList } from "../../core/catalog/served/known-names.ts";
import type { ConfigProblem } from "../config/config-error.ts";
import type { Config } from "../config/config-schema.ts";
import { problemAt } from "../config/load-config.ts";

/**
 * Returns a problem for each unknown name in the operator's policy and in the rate limits of models. Only a start and a reload of the
 * configuration check them: a refreshed catalog may lose a model.
 */
export function findUnknownConfigNames(config: Config, known: KnownNames): readonly ConfigProblem[] {
  const { policy, limits } = config;
  const patterns = Object.keys(limits.models ?? {});
  const lists: readonly NameList[] = [
    { field: "policy.allowed_models", kind: "model", names: policy.allowed_models },
    { field: "policy.denied_models", kind: "model", names: policy.denied_models },
    { field: "policy.allowed_providers", kind: "provider", names: policy.allowed_providers },
    { field: "policy.denied_providers", kind: "provider", names: policy.denied_providers },
    { field: LIMITS, kind: "model", names: patterns },
  ];
  return [...findUnknownNames(known, lists)].map(({ field, index, problem }) => {
    const last = field === LIMITS ? (patterns[index] as string) : index;
    return problemAt(config, [...field.split("."), last], problem);
  });
}

const LIMITS = "limits.models";
