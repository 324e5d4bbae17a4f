import type { ImportRules, ProviderRule } from "./import-rules.ts";

/** The parts of a provider's name for a model. */
export interface ParsedName {
  readonly author: string;
  /** Lower-case, with the provider's separators. */
  readonly name: string;
  /** Such as `:free`, or empty. */
  readonly variant: string;
  /** Index in the provider's `regions.keep`; null if the provider has no regions. */
  readonly regionRank: number | null;
}

const VARIANT = /:(?:free|thinking|extended|exacto|nitro|floor|online)$/;

/**
 * Parses a provider's name for a model: removes the host's prefixes and suffixes, replaces the organisation by the author's
 * spelling in the catalog, and converts to lower case. Returns null if the author is unknown, "region" if the name is for
 * a region that is omitted.
 */
export function parseName(raw: string, rule: ProviderRule, rules: ImportRules): ParsedName | "region" | null {
  const region = splitRegion(raw, rule);
  if (region === null) return "region";
  const lower = stripWrapping(region.rest, rule).toLowerCase();
  const variant = VARIANT.exec(lower)?.[0] ?? "";
  const [organisation, bare] = splitOrganisation(lower.slice(0, lower.length - variant.length), rule);
  const name = tidyName(bare, rule);
  const author =
    organisation === null
      ? guessAuthor(name, rule, rules)
      : (rules.organisations[organisation] ?? organisation);
  if (author === null) return null;
  return { author, name: stripAuthor(name, author, rules), variant, regionRank: region.rank };
}

/**
 * Returns a key that is equal for different spellings of a name: `claude-sonnet-4-5` and `claude-sonnet-4.5`, `gpt-oss:20b`
 * and `gpt-oss-20b`. Letters and digits are kept, so that sizes, versions and variants remain distinct.
 */
export function spellingKey(name: string): string {
  return name.replace(/[._:\s-]+/g, "-");
}

function splitRegion(raw: string, rule: ProviderRule): { rest: string; rank: number | null } | null {
  if (rule.regions === undefined) return { rest: raw, rank: null };
  const region = rule.regions.all.find((prefix) => raw.startsWith(prefix)) ?? "";
  const rank = rule.regions.keep.indexOf(region);
  return rank < 0 ? null : { rest: raw.slice(region.length), rank };
}

function stripWrapping(raw: string, rule: ProviderRule): string {
  const prefix = rule.stripPrefixes?.find((candidate) => raw.startsWith(candidate)) ?? "";
  const suffix = rule.stripSuffixes?.find((candidate) => raw.endsWith(candidate)) ?? "";
  return raw.slice(prefix.length, raw.length - suffix.length);
}

function splitOrganisation(lower: string, rule: ProviderRule): [organisation: string | null, name: string] {
  const slash = lower.lastIndexOf("/");
  if (slash >= 0) return [lower.slice(0, slash).split("/").at(-1) as string, lower.slice(slash + 1)];
  for (const [prefix, organisation] of Object.entries(rule.orgPrefixes ?? {})) {
    if (lower.startsWith(prefix)) return [organisation, lower.slice(prefix.length)];
  }
  return [null, lower];
}

function tidyName(bare: string, rule: ProviderRule): string {
  const dotted = bare.replace(/(\d)_(\d)/g, "$1.$2").replace(/[:_\s]+/g, "-");
  return rule.decimalP === true ? dotted.replace(/(\d)p(\d)/g, "$1.$2") : dotted;
}

function guessAuthor(name: string, rule: ProviderRule, rules: ImportRules): string | null {
  let found: string | null = null;
  let length = 0;
  for (const [beginning, author] of Object.entries(rules.nameBeginnings)) {
    if (beginning.length > length && name.startsWith(beginning)) {
      found = author;
      length = beginning.length;
    }
  }
  return found ?? rule.author ?? null;
}

function stripAuthor(name: string, author: string, rules: ImportRules): string {
  const prefix = rules.authors[author]?.stripPrefixes?.find((candidate) => name.startsWith(candidate)) ?? "";
  return name.slice(prefix.length);
}
