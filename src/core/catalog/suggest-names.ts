import { compareText } from "./format-catalog.ts";

const LEAST_LIKENESS = 0.35;
const MAX_CHARS = 256;

/** Finds those of a list of names that look like one, the likeliest first, at most `limit`. */
export type SuggestNames = (wanted: string, limit: number) => string[];

/** Looks for near names in a list: model ids, of which the part behind the author counts, or plain words. */
export function createSuggester(names: readonly string[]): SuggestNames {
  const shapes = names.map(shapeOf);
  return (wanted, limit) => {
    const { pairs } = shapeOf(wanted.slice(0, MAX_CHARS));
    return shapes
      .map((shape) => ({ name: shape.name, likeness: likenessOf(pairs, shape.pairs) }))
      .filter(({ likeness }) => likeness >= LEAST_LIKENESS)
      .sort((a, b) => b.likeness - a.likeness || a.name.length - b.name.length || compareText(a.name, b.name))
      .slice(0, limit)
      .map(({ name }) => name);
  };
}

/** A name as the pairs of letters in it, by which spellings are compared. */
interface Shape {
  readonly name: string;
  readonly pairs: ReadonlySet<string>;
}

function shapeOf(name: string): Shape {
  const letters = name
    .slice(name.indexOf("/") + 1)
    .toLowerCase()
    .replace(/[^a-z0-9]/g, "");
  const pairs = new Set<string>();
  for (let at = 0; at + 1 < letters.length; at++) pairs.add(letters.slice(at, at + 2));
  return { name, pairs };
}

/** Dice's coefficient: twice what is shared over the sum of both. */
function likenessOf(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  if (a.size === 0 || b.size === 0) return 0;
  let shared = 0;
  for (const pair of a) if (b.has(pair)) shared++;
  return (2 * shared) / (a.size + b.size);
}
