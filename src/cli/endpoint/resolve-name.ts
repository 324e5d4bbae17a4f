import { nearestNames } from "../../base/text/nearest-names.ts";
import { escapeControls } from "../../base/text/plain-text.ts";

/** A resource, as the arguments of commands can name it. */
export interface Named {
  readonly id: string;
  readonly name: string;
  /** Other texts that identify only this resource, such as an e-mail address. */
  readonly aliases: readonly string[];
  /** Whether it is preferred if several have the same name: it is not closed or revoked. */
  readonly isPreferred: boolean;
  /** A text that distinguishes it from others with the same name: "organization, closed". */
  readonly details: string;
  /** The id of the account that owns it; absent for accounts, and for what no account owns. */
  readonly owner?: string;
}

/** The source in which the resources of one type are looked up. */
export interface NameSource {
  /** The word for one of them in messages: `user`. */
  readonly noun: string;
  /** The commands that list them. */
  readonly listedBy: string;
  find(id: string): Promise<Named | null>;
  /** Returns resources that have a text as their name or alias, regardless of upper and lower case. */
  findByText(text: string): Promise<readonly Named[]>;
  /** Returns resources whose names may be suggested. */
  listSome(): Promise<readonly Named[]>;
}

/** Candidates that a message lists. */
const MAX_LISTED = 10;
/** The maximum number of names that are suggested for an unknown one. */
const MAX_SUGGESTED = 2;

/**
 * Returns the resource that a text names: by its id, otherwise by an alias, otherwise by its name. If several have the same name, returns
 * the only one with the same spelling, otherwise the only preferred one.
 * @throws Error if there is none, with similar names, or if there are several, with their ids.
 */
export async function resolveName(source: NameSource, text: string): Promise<Named> {
  const byId = await source.find(text);
  if (byId !== null) return byId;
  const found = await source.findByText(text);
  const byAlias = found.filter((named) => hasAlias(named, text));
  const meant = byAlias.length > 0 ? byAlias : narrow(found, text);
  const [first] = meant;
  if (first === undefined) throw new Error(await explainUnknown(source, text));
  if (meant.length === 1) return first;
  throw new Error(explainAmbiguous(source.noun, text, meant));
}

/** Returns how messages name a resource: `Acme (org_…)`. */
export function labelOf({ id, name }: Pick<Named, "id" | "name">): string {
  return escapeControls(id === name ? name : `${name} (${id})`);
}

/** E-mail addresses are stored in lower case. */
function hasAlias({ aliases }: Named, text: string): boolean {
  return aliases.includes(text) || aliases.includes(text.toLowerCase());
}

function narrow(found: readonly Named[], text: string): readonly Named[] {
  const same = found.filter(({ name }) => name === text);
  const left = same.length > 0 ? same : found;
  const preferred = left.filter(({ isPreferred }) => isPreferred);
  return preferred.length > 0 ? preferred : left;
}

async function explainUnknown(source: NameSource, text: string): Promise<string> {
  // Of several with one name, a preferred one is suggested.
  const some = (await source.listSome()).toSorted((a, b) => Number(a.isPreferred) - Number(b.isPreferred));
  const labels = new Map(
    some.flatMap((named) => [named.name, ...named.aliases].map((one) => [one, labelOf(named)] as const)),
  );
  return `There is no ${source.noun} ${text}.${suggestNames(text, labels)} List them: ${source.listedBy}`;
}

/** Returns a sentence, after a space, that suggests names similar to an unknown one; empty if there are none. */
function suggestNames(text: string, labels: ReadonlyMap<string, string>): string {
  const near = nearestNames(text, [...labels.keys()], MAX_SUGGESTED).map((name) => labels.get(name));
  return near.length === 0 ? "" : ` Did you mean ${[...new Set(near)].join(" or ")}?`;
}

function explainAmbiguous(noun: string, text: string, named: readonly Named[]): string {
  const lines = named
    .slice(0, MAX_LISTED)
    .map((one) => `  ${labelOf(one)}${one.details === "" ? "" : `: ${one.details}`}`);
  const rest = named.length > MAX_LISTED ? ["  and others"] : [];
  return [`${text} can be more than one ${noun}. Name it by its ID:`, ...lines, ...rest].join("\n");
}
