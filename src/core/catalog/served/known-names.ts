import { fail } from "../../../base/failures/errors.ts";
import { matchPattern } from "../../../base/text/match-pattern.ts";
import { isTierName } from "../tiers/tier-name.ts";
import type { Tiers } from "../tiers/tiers.ts";
import type { Catalog } from "./catalog.ts";
import { createSuggester } from "./suggest-names.ts";

/**
 * The valid names: models and providers of the catalog in force, including those of the configuration, tiers, and the operator's named
 * routes.
 */
export interface KnownNames {
  readonly catalog: Catalog;
  readonly tiers: Tiers;
  /** The named routes of the operator. */
  readonly namedRoutes: {
    readonly list: readonly { readonly name: string }[];
    find(name: string): unknown;
  };
}

/**
 * How a list of models is applied. `allow`: a pattern is compared with models and tiers only, so that a named route is allowed by its full
 * name. `answer`: it is compared with the model that answers, so that tiers and named routes have no effect in it.
 */
type ListUse = "allow" | "answer";

/** A list of names in a policy, a key or a request. `*` matches any characters. */
export interface NameList {
  /** The field that contains the list, such as `policy.denied_models`. */
  readonly field: string;
  readonly kind: "model" | "provider";
  /** Null and undefined mean an empty list. */
  readonly names: readonly string[] | null | undefined;
  /** Absent if every known name has an effect in it, as in a list of denied models. */
  readonly use?: ListUse;
  /** `*` is not a wildcard. */
  readonly isExact?: true;
  /** Names of the list before the change. They stay valid even if the catalog no longer has them. */
  readonly kept?: readonly string[] | null;
}

/** A name that is not in the catalog. */
interface UnknownName {
  readonly field: string;
  readonly index: number;
  readonly kind: NameList["kind"];
  /** The rest of the error text after the field: what is wrong, and similar names. */
  readonly problem: string;
}

/**
 * Rejects lists with unknown names. Otherwise a misspelt name would have no effect, without notice.
 * @throws GatewayError `invalid_request` for the first unknown name, with the list in `metadata.field`.
 */
export function requireKnownNames(known: () => KnownNames, lists: readonly NameList[]): void {
  if (lists.every(({ names }) => !names?.length)) return;
  const first = findUnknownNames(known(), lists).next();
  if (first.done) return;
  const { field, index, kind, problem } = first.value;
  const list = `GET /api/gateway/${kind}s?all=true lists the ${kind}s.`;
  fail("invalid_request", `${field}[${index}] ${problem} ${list}`, { metadata: { field } });
}

/** Yields the unknown names of some lists. A generator, because finding similar names is slow. */
export function* findUnknownNames(
  known: KnownNames,
  lists: readonly NameList[],
): Generator<UnknownName, void> {
  for (const list of lists) {
    const { field, kind, names, kept } = list;
    const before = new Set(kept ?? []);
    const describe = kind === "model" ? describeUnknownModel : describeUnknownProvider;
    for (const [index, name] of (names ?? []).entries()) {
      const problem = before.has(name) ? null : describe(known, name, list);
      if (problem !== null) yield { field, index, kind, problem };
    }
  }
}

type ListKind = Pick<NameList, "isExact" | "use">;

/** Returns what is wrong with a model id or a pattern of ids; null if it is known and has an effect. */
function describeUnknownModel(known: KnownNames, name: string, { isExact, use }: ListKind): string | null {
  const { catalog, tiers, namedRoutes } = known;
  if (catalog.find(name) !== undefined) return null;
  const isChoice = tiers.find(name) !== undefined || namedRoutes.find(name) !== undefined;
  if (isChoice && use === "answer") return describeChoice(known, name);
  if (isChoice) return null;
  if (isExact !== true && name.includes("*")) return describeUnknownStart(known, name, use);
  return tell(`names no model that this gateway knows: ${quote(name)}`, suggestModels(known, name));
}

/** Returns why a tier or a named route has no effect in a list that is compared with the model that answers. */
function describeChoice({ catalog }: KnownNames, name: string): string {
  const text = `names a tier or a named route, ${quote(name)}, and only the model that answers counts here`;
  return tell(text, catalog.suggest(name, NEAR));
}

/** Returns what is wrong with a pattern that begins like no id; null if one begins so. The rest may match future models. */
function describeUnknownStart(
  { catalog, tiers, namedRoutes }: KnownNames,
  name: string,
  use: ListUse | undefined,
): string | null {
  const start = startOf(name.slice(0, name.indexOf("*")).toLowerCase());
  const isStart = ({ id }: { readonly id: string }) => id.startsWith(start);
  if (catalog.models.some(isStart) || (use !== "answer" && tiers.list.some(isStart))) return null;
  const routes = namedRoutes.list.map((route) => route.name).filter((id) => isStart({ id }));
  if (routes.length > 0 && use === undefined) return null;
  if (routes.length > 0 && use === "allow") {
    const listed = routes.slice(0, NEAR).map(quote).join(", ");
    return `allows nothing: a pattern is compared with models and tiers, and no id begins with ${quote(start)}. Name each named route in full, such as ${listed}.`;
  }
  const authors = [...new Set(catalog.models.map(({ id }) => id.slice(0, id.indexOf("/"))))];
  const near = createSuggester(authors)(start.replace("/", ""), NEAR).map((author) => `${author}/*`);
  return tell(`names no model: no id begins with ${quote(start)}`, near);
}

function suggestModels({ catalog, tiers }: KnownNames, name: string): string[] {
  if (!isTierName(name)) return catalog.suggest(name, NEAR);
  return createSuggester(tiers.list.map(({ id }) => id))(name, NEAR);
}

/**
 * Returns the prefix that some known id must have for a pattern to be valid: the author with its slash, or all of `literal` if it has no
 * slash. The text after the author is not checked, because it may match future models.
 */
function startOf(literal: string): string {
  return literal.slice(0, literal.indexOf("/") + 1) || literal;
}

/** Returns what is wrong with a provider's slug or a pattern of slugs; null if it is known. */
function describeUnknownProvider(
  { catalog }: KnownNames,
  name: string,
  { isExact }: ListKind,
): string | null {
  const isPattern = isExact !== true && name.includes("*");
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

/** Quotes a name from a request: bounded and without line breaks. */
function quote(name: string): string {
  return JSON.stringify(name.slice(0, 100));
}
