import { fail } from "../../base/errors.ts";
import { matchPattern } from "../../base/match-pattern.ts";
import type { Catalog } from "./catalog.ts";
import { createSuggester } from "./suggest-names.ts";
import type { Tiers } from "./tiers.ts";

/** What is known by name: the models and providers of the catalog in force, with those of the configuration, and the tiers. */
export interface KnownNames {
  readonly catalog: Catalog;
  readonly tiers: Tiers;
}

/** A list of names in a policy, a key or a request. `*` stands for any characters. */
export interface NameList {
  /** Where it stands, such as `policy.denied_models`. */
  readonly field: string;
  readonly kind: "model" | "provider";
  /** Null and undefined hold no names. */
  readonly names: readonly string[] | null | undefined;
  /** No patterns: `*` stands for itself. */
  readonly isExact?: true;
  /** Names that were in force before: they stay valid whatever has become of the catalog. */
  readonly kept?: readonly string[] | null;
}

/** A name that is not known. */
export interface UnknownName {
  readonly field: string;
  readonly index: number;
  readonly kind: NameList["kind"];
  /** Follows the place of the name: what is wrong, and near names. */
  readonly problem: string;
}

/**
 * Checks lists of names, so that a misspelt one neither allows nor forbids in silence.
 * @throws GatewayError `invalid_request` with the list as `metadata.field`, for the first name that is not known.
 */
export function requireKnownNames(known: () => KnownNames, lists: readonly NameList[]): void {
  if (lists.every(({ names }) => !names?.length)) return;
  const first = findUnknownNames(known(), lists).next();
  if (first.done) return;
  const { field, index, kind, problem } = first.value;
  const list = `GET /api/gateway/${kind}s?all=true lists the ${kind}s.`;
  fail("invalid_request", `${field}[${index}] ${problem} ${list}`, { metadata: { field } });
}

/** The names of some lists that are not known, one after the other: near names take a while to find. */
export function* findUnknownNames(
  known: KnownNames,
  lists: readonly NameList[],
): Generator<UnknownName, void> {
  for (const { field, kind, names, kept, isExact = false } of lists) {
    const before = new Set(kept ?? []);
    const describe = kind === "model" ? describeUnknownModel : describeUnknownProvider;
    for (const [index, name] of (names ?? []).entries()) {
      const problem = before.has(name) ? null : describe(known, name, isExact);
      if (problem !== null) yield { field, index, kind, problem };
    }
  }
}

/** What is wrong with a model's id or a pattern of ids; null: nothing. */
function describeUnknownModel(known: KnownNames, name: string, isExact: boolean): string | null {
  const { catalog, tiers } = known;
  const star = isExact ? -1 : name.indexOf("*");
  if (star === -1) {
    if (catalog.find(name) !== undefined || tiers.find(name) !== undefined) return null;
    return tell(`names no model that this gateway knows: ${quote(name)}`, suggestModels(known, name));
  }
  const start = startOf(name.slice(0, star).toLowerCase());
  const isStart = ({ id }: { readonly id: string }) => id.startsWith(start);
  if (catalog.models.some(isStart) || tiers.list.some(isStart)) return null;
  const authors = [...new Set(catalog.models.map(({ id }) => id.slice(0, id.indexOf("/"))))];
  const near = createSuggester(authors)(start.replace("/", ""), NEAR).map((author) => `${author}/*`);
  return tell(`names no model: no id begins with ${quote(start)}`, near);
}

function suggestModels({ catalog, tiers }: KnownNames, name: string): string[] {
  if (!name.toLowerCase().startsWith("gateway-auto/")) return catalog.suggest(name, NEAR);
  return createSuggester(tiers.list.map(({ id }) => id))(name, NEAR);
}

/**
 * What a pattern's first characters must be of an id: the author where it names one, and what stands before the `*` where it
 * does not. What follows the author may be a model that is to come.
 */
function startOf(literal: string): string {
  return literal.slice(0, literal.indexOf("/") + 1) || literal;
}

/** What is wrong with a provider's slug or a pattern of slugs; null: nothing. */
function describeUnknownProvider({ catalog }: KnownNames, name: string, isExact: boolean): string | null {
  const isPattern = !isExact && name.includes("*");
  const isKnown = isPattern
    ? catalog.providers.some(({ slug }) => matchPattern(name, slug))
    : catalog.provider(name.toLowerCase()) !== undefined;
  if (isKnown) return null;
  const near = catalog.suggestProvider(name, NEAR);
  return tell(`names no provider that this gateway knows: ${quote(name)}`, near);
}

const NEAR = 3;

function tell(problem: string, near: readonly string[]): string {
  return near.length === 0 ? `${problem}.` : `${problem}. Did you mean ${near.map(quote).join(", ")}?`;
}

/** Names come from callers: bounded and without line breaks. */
function quote(name: string): string {
  return JSON.stringify(name.slice(0, 100));
}
