import type { ImportRules, ProviderRule } from "./import-rules.ts";

/** A provider's name for a model, taken apart. */
export interface ParsedName {
  readonly author: string;
  /** Lower-case, separators as the provider writes them. */
  readonly name: string;
  /** `:free` and its like, or empty. */
  readonly variant: string;
  /** Index in the provider's `regions.keep`; null where regions mean nothing. */
  readonly regionRank: number | null;
}

const VARIANT = /:(?:free|thinking|extended|exacto|nitro|floor|online)$/;

/**
 * Takes a provider's name for a model apart: the host's wrapping off, the organisation spelled as we spell the
 * author, everything in lower case. Null when nobody can tell whose model it is; "region" when the name is for a
 * region we leave out.
 */
export function parseName(raw: string, rule: ProviderRule, rules: ImportRules): ParsedName | "region" | null {
  const region = splitRegion(raw, rule);
  if (region === null) return "region";
  const lower = stripWrapping(region.rest, rule).toLowerCase();
  const variant = VARIANT.exec(lower)?.[0] ?? "";
  const [organisation, bare] = splitOrganisation(lower.slice(0, lower.length - variant.length), rule);
  const name = tidyName(bare, rule);
  const author = findAuthor(organisation, name, rule, rules);
  if (author === null) return null;
  return { author, name: stripAuthor(name, author, rules), variant, regionRank: region.rank };
}

/**
 * What two spellings of one name have in common: `claude-sonnet-4-5` and `claude-sonnet-4.5` are one, and so are
 * `gpt-oss:20b` and `gpt-oss-20b`. Letters and digits stay as they are, so no size, version or variant is lost.
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

function findAuthor(
  organisation: string | null,
  name: string,
  rule: ProviderRule,
  rules: ImportRules,
): string | null {
  if (organisation !== null) return rules.organisations[organisation] ?? organisation;
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
