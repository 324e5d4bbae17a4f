/** The entries of a list that is typed. Pure functions. */
import { filterOptions, type Option } from "../../state/filter-options.ts";
import { describePattern } from "../../state/options/pattern-options.ts";
import { splitLines } from "../../state/split-lines.ts";

/** Returns the entries of a text: one per line, or separated by commas, and by blanks unless entries may have them. */
export function readEntries(text: string, haveBlanks = false): string[] {
  return haveBlanks ? splitLines(text) : text.split(/[\s,]+/).filter(Boolean);
}

/** Returns the text of entries and of the one that is being typed, each once. */
export function joinEntries(entries: readonly string[], pending: string): string {
  return [...new Set([...entries, pending].map((entry) => entry.trim()).filter(Boolean))].join("\n");
}

/**
 * Separates the entry that is being typed from the others. `draft` is what was typed last; it counts no longer if the text was changed
 * by others, such as a form that was reset.
 */
export function takeEntries(
  text: string,
  draft: string | null,
  haveBlanks = false,
): { readonly entries: readonly string[]; readonly typed: string | null } {
  const all = readEntries(text, haveBlanks);
  const pending = draft?.trim();
  if (!pending) return { entries: all, typed: draft };
  const at = all.lastIndexOf(pending);
  return at < 0 ? { entries: all, typed: "" } : { entries: all.filter((_, i) => i !== at), typed: draft };
}

/**
 * Returns what may be added: the typed pattern with the number of its matches, the option that was typed in full, and the other options
 * that are not in the list.
 */
export function suggestEntries(
  options: readonly Option[],
  typed: string,
  entries: readonly string[],
  matches: (count: number) => string,
): readonly Option[] {
  const free = options.filter(({ value }) => !entries.includes(value));
  const name = typed.trim();
  const first = describePattern(name, options, { matches }) ?? free.find(({ value }) => value === name);
  const found = filterOptions(free, name.replaceAll("*", " "));
  return first === undefined ? found : [first, ...found.filter(({ value }) => value !== first.value)];
}
