import { findUnknownNames, type KnownNames, type NameList } from "../core/catalog/known-names.ts";
import type { Config } from "./config-schema.ts";
import { ConfigError, describePlace } from "./load-config.ts";

/**
 * Checks that the operator's policy and the limits of models name what is known. Done at a start alone: a catalog that is
 * refreshed later may lose a model without stopping anything.
 * @throws ConfigError with a line for each name that is not known.
 */
export function checkConfigNames(config: Config, known: KnownNames): void {
  const { policy, limits } = config;
  const patterns = Object.keys(limits.models ?? {});
  const lists: readonly NameList[] = [
    { field: "policy.allowed_models", kind: "model", names: policy.allowed_models },
    { field: "policy.denied_models", kind: "model", names: policy.denied_models },
    { field: "policy.allowed_providers", kind: "provider", names: policy.allowed_providers },
    { field: "policy.denied_providers", kind: "provider", names: policy.denied_providers },
    { field: LIMITS, kind: "model", names: patterns },
  ];
  const problems = [...findUnknownNames(known, lists)].map(({ field, index, problem }) => {
    const last = field === LIMITS ? (patterns[index] as string) : index;
    return `${describePlace(config, [...field.split("."), last])} ${problem}`;
  });
  if (problems.length > 0) throw new ConfigError(problems.join("\n"));
}

const LIMITS = "limits.models";
