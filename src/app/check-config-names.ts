import { findUnknownNames, type KnownNames, type NameList } from "../core/catalog/known-names.ts";
import type { Config } from "./config-schema.ts";
import { ConfigError, describeLocation } from "./load-config.ts";

/**
 * Checks that the names in the operator's policy and in the rate limits of models are known. Only a start checks them: a
 * refreshed catalog may lose a model.
 * @throws ConfigError with a line for each unknown name.
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
    return `${describeLocation(config, [...field.split("."), last])} ${problem}`;
  });
  if (problems.length > 0) throw new ConfigError(problems.join("\n"));
}

const LIMITS = "limits.models";
