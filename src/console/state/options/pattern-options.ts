/** The names and patterns of models that a list may contain. Pure functions. */
import type { Option } from "../filter-options.ts";

interface PatternTexts {
  readonly route: string;
  readonly matches: (count: number) => string;
}

/** Returns an option for each route, for each author with several models, and for each model. */
export function listPatterns(
  models: readonly string[],
  routes: readonly string[],
  texts: PatternTexts,
): readonly Option[] {
  const counts = new Map<string, number>();
  for (const id of models) {
    const author = id.slice(0, id.indexOf("/") + 1);
    if (author !== "") counts.set(author, (counts.get(author) ?? 0) + 1);
  }
  const authors = [...counts].filter(([, count]) => count > 1).sort(([a], [b]) => (a < b ? -1 : 1));
  const names = new Set(routes);
  return [
    ...routes.map((name) => ({ value: name, label: name, detail: texts.route })),
    ...authors.map(([author, count]) => toOption(`${author}*`, texts.matches(count))),
    ...models.filter((id) => !names.has(id)).map((id) => ({ value: id, label: id })),
  ];
}

/** Returns a typed pattern as an option, with the number of names that it matches; null for a text without `*`. */
export function describePattern(
  typed: string,
  options: readonly Option[],
  { matches }: Pick<PatternTexts, "matches">,
): Option | null {
  if (!typed.includes("*")) return null;
  const parts = typed.split("*").map((part) => part.replace(/[.+?^${}()|[\]\\]/g, "\\$&"));
  const pattern = new RegExp(`^${parts.join(".*")}$`);
  const names = options.filter(({ value }) => !value.includes("*") && pattern.test(value));
  return toOption(typed, matches(names.length));
}

function toOption(value: string, detail: string): Option {
  return { value, label: value, detail };
}
