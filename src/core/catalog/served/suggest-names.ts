import { compareText } from "../records/format-catalog.ts";

const MIN_SIMILARITY = 0.35;
const MAX_CHARS = 256;

/** Returns the names that are similar to `wanted`, the most similar first, at most `limit`. */
export type SuggestNames = (wanted: string, limit: number) => string[];

/** Creates a search for similar names in a list of words or model ids. Only the part of a model id after the author is compared. */
export function createSuggester(names: readonly string[]): SuggestNames {
  const shapes = names.map(shapeOf);
  return (wanted, limit) => {
    const { pairs } = shapeOf(wanted.slice(0, MAX_CHARS));
    return shapes
      .map((shape) => ({ name: shape.name, similarity: similarityOf(pairs, shape.pairs) }))
      .filter(({ similarity }) => similarity >= MIN_SIMILARITY)
      .sort(
        (a, b) => b.similarity - a.similarity || a.name.length - b.name.length || compareText(a.name, b.name),
      )
      .slice(0, limit)
      .map(({ name }) => name);
  };
}

/** A name with its pairs of adjacent letters, by which names are compared. */
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

/** Returns Dice's coefficient: twice the number of shared pairs over the sum of both. */
function similarityOf(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  if (a.size === 0 || b.size === 0) return 0;
  let shared = 0;
  for (const pair of a) if (b.has(pair)) shared++;
  return (2 * shared) / (a.size + b.size);
}
