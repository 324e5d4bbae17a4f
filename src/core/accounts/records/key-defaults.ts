import type { AccountPrincipal } from "./principal.ts";

/*
 * What a key takes over from its team and its account. The value of the key counts, else that of the team, else that of the account; 0
 * means "not", whatever the level above says.
 */

type KeyLevels = Pick<AccountPrincipal, "key" | "team" | "account">;

/** Returns the seconds for which bodies of a key's requests are stored; null if they are not. */
export function promptLogOf({ key, team, account }: KeyLevels): number | null {
  return (key.promptLog ?? team?.promptLog ?? account.promptLog) || null;
}

/** Returns the seconds for which answers of a key's requests are cached; null if they are not. */
export function cacheOf({ key, team, account }: KeyLevels): number | null {
  return (key.cache ?? team?.cache ?? account.cache) || null;
}

const NO_TAGS: readonly string[] = [];
const known = new WeakMap<KeyLevels, readonly string[]>();

/** Returns the tags that every request of a key gets, each once. Always the same list for the same principal. */
export function defaultTagsOf(principal: KeyLevels): readonly string[] {
  const { key, team, account } = principal;
  if (key.tags === null && account.tags === null && (team?.tags ?? null) === null) return NO_TAGS;
  let tags = known.get(principal);
  if (tags === undefined) {
    tags = [...new Set([...(key.tags ?? []), ...(team?.tags ?? []), ...(account.tags ?? [])])];
    known.set(principal, tags);
  }
  return tags;
}
