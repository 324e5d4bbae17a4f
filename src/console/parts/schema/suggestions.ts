import type { Option } from "../../state/filter-options.ts";
import { loadOptions, optionsOf } from "../../state/names.ts";
import { loadModelPatterns, modelPatterns } from "../../state/options/model-patterns.ts";

/** Names to choose from, and how they are loaded. */
interface Suggestions {
  readonly options: readonly Option[];
  readonly onOpen: () => void;
}

const PROVIDERS = /(^|_)(providers|propagate_to|only|ignore|order)$/;

/** Returns what the texts of a setting may be, by its name; null if they may be anything. */
export function suggestFor(name: string): Suggestions | null {
  if (/(^|_)models$/.test(name)) return { options: modelPatterns(), onOpen: loadModelPatterns };
  if (PROVIDERS.test(name))
    return { options: optionsOf("providers"), onOpen: () => loadOptions("providers") };
  if (name === "accounts") return { options: optionsOf("accounts"), onOpen: () => loadOptions("accounts") };
  if (name === "keys") return { options: optionsOf("keys"), onOpen: () => loadOptions("keys") };
  return null;
}

/** Returns what the text of a setting may be, by its name; null if it may be anything. */
export function suggestOne(name: string): Suggestions | null {
  if (name === "organization")
    return { options: optionsOf("accounts"), onOpen: () => loadOptions("accounts") };
  return null;
}
