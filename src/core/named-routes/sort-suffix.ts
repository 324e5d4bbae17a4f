import type { ProviderSort } from "../../wire/conversation/preferences.ts";

/** Suffixes of names that choose how providers are sorted. Suffixes that are part of ids, such as `:free`, are not included. */
const SORTS: Readonly<Record<string, ProviderSort>> = { nitro: "throughput", floor: "price" };

const SUFFIX = /:(nitro|floor)$/i;

/** Returns a name without its suffix, and the sort that the suffix means; null if it has none. */
export function splitSortSuffix(name: string): { readonly name: string; readonly sort: ProviderSort } | null {
  const found = SUFFIX.exec(name);
  const sort = SORTS[found?.[1]?.toLowerCase() ?? ""];
  return found === null || sort === undefined ? null : { name: name.slice(0, found.index), sort };
}
