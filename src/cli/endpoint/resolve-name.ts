import { nearestNames } from "../../base/nearest-names.ts";
import { escapeControls } from "../../base/plain-text.ts";

/** A resource, as the arguments of commands can name it. */
export interface Named {
  readonly id: string;
  readonly name: string;
  /** Further texts that stand for this resource only, such as an e-mail address. */
  readonly aliases: readonly string[];
  /** Whether it is the one that is meant if several have the same name: not closed, not revoked. */
  readonly isPreferred: boolean;
  /** What distinguishes it from others with the same name: "organization, closed". */
  readonly details: string;
}

/** Where the resources of one type are looked up. */
export interface NameSource<Item> {
  /** The word for one of them in messages: `user`. */
  readonly noun: string;
  /** The commands that list them. */
  readonly listedBy: string;
  find(id: string): Promise<Item | null>;
  /** Returns resources that have a text as their name or alias, regardless of upper and lower case. */
  findByText(text: string): Promise<readonly Item[]>;
  /** Returns resources whose names may be suggested. */
  listSome(): Promise<readonly Item[]>;
  describe(item: Item): Named;
}

/** Candidates that a message lists. */
const MAX_LISTED = 10;
/** Names that are suggested for an unknown one. */
const MAX_SUGGESTED = 2;

/**
 * Returns the resource that a text stands for: by its id, else by an alias, else by its name. Of several with the same name it is the
 * only one that is written like the text, else the only one that is preferred.
 * @throws Error if there is none, with similar names, or if there are several, with their ids.
 */
export async function resolveName<Item>(source: NameSource<Item>, text: string): Promise<Item> {
  const byId = await source.find(text);
  if (byId !== null) return byId;
  const found = (await source.findByText(text)).map((item) => ({ item, named: source.describe(item) }));
  const byAlias = found.filter(({ named }) => hasAlias(named, text));
  const meant = byAlias.length > 0 ? byAlias : narrow(found, text);
  const [first] = meant;
  if (first === undefined) throw new Error(await explainUnknown(source, text));
  if (meant.length === 1) return first.item;
  const named = meant.map((one) => one.named);
  throw new Error(explainAmbiguous(source.noun, text, named));
}

/** Returns how messages name a resource: `Acme (org_…)`. */
export function labelOf({ id, name }: Pick<Named, "id" | "name">): string {
  return escapeControls(`${name} (${id})`);
}

/** E-mail addresses are stored in lower case. */
function hasAlias({ aliases }: Named, text: string): boolean {
  return aliases.includes(text) || aliases.includes(text.toLowerCase());
}

function narrow<Candidate extends { readonly named: Named }>(
  found: readonly Candidate[],
  text: string,
): readonly Candidate[] {
  const same = found.filter(({ named }) => named.name === text);
  const left = same.length > 0 ? same : found;
  const preferred = left.filter(({ named }) => named.isPreferred);
  return preferred.length > 0 ? preferred : left;
}

async function explainUnknown<Item>(source: NameSource<Item>, text: string): Promise<string> {
  const known = (await source.listSome()).map((item) => source.describe(item));
  const labels = new Map(
    known.flatMap((named) => [named.name, ...named.aliases].map((one) => [one, labelOf(named)] as const)),
  );
  return `There is no ${source.noun} ${text}.${suggestNames(text, [...labels.keys()], labels)} List them: ${source.listedBy}`;
}

/**
 * Returns a sentence, after a space, that suggests names similar to an unknown one; empty if there are none. `labels` are what
 * the sentence shows for names.
 */
export function suggestNames(
  text: string,
  names: readonly string[],
  labels?: ReadonlyMap<string, string>,
): string {
  const near = nearestNames(text, names, MAX_SUGGESTED).map((name) => labels?.get(name) ?? name);
  return near.length === 0 ? "" : ` Did you mean ${[...new Set(near)].join(" or ")}?`;
}

function explainAmbiguous(noun: string, text: string, named: readonly Named[]): string {
  const lines = named
    .slice(0, MAX_LISTED)
    .map((one) => `  ${labelOf(one)}${one.details === "" ? "" : `: ${one.details}`}`);
  const rest = named.length > MAX_LISTED ? ["  and others"] : [];
  return [`${text} can be more than one ${noun}. Name it by its ID:`, ...lines, ...rest].join("\n");
}
