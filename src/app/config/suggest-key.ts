import { nearestNames } from "../../base/text/nearest-names.ts";
import type { ConfigPath } from "./config-error.ts";
import { keysAt, listPaths } from "./schema-paths.ts";

const NEAR = 3;

/** Describes an unknown key, and the key that was probably meant, in its section or in another one. */
export function describeUnknownKey(section: ConfigPath, key: string): string {
  const near = nearestNames(key, keysAt(section), NEAR);
  if (near.length > 0) return `is not a known key. ${didYouMean(near)}`;
  const elsewhere = listPaths().filter((path) => path.at(-1) === key);
  if (elsewhere.length === 0 || elsewhere.length > NEAR) return "is not a known key";
  return `is not a known key. ${didYouMean(elsewhere.map((path) => path.join(".")))}`;
}

/** Returns the question that suggests what was probably meant. */
export function didYouMean(names: readonly string[]): string {
  return `Did you mean ${names.join(", ").replace(/, ([^,]*)$/, " or $1")}?`;
}
