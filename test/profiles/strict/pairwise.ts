import type { SeededRandom } from "../../support/seeded-random.ts";

/**
 * Returns rows that choose one value of each axis, so that every pair of values of two axes is in some row. Each row is built greedily from a
 * pair that is still missing; the work grows with the number of pairs times the number of axes.
 *
 * @param sizes How many values each axis has, at least one.
 * @returns For each row, the index of the value of each axis.
 */
export function coverPairs(sizes: readonly number[], random: SeededRandom): readonly (readonly number[])[] {
  const missing = new MissingPairs(sizes);
  const rows: number[][] = [];
  for (let pair = missing.any(); pair !== null; pair = missing.any()) {
    const row = fillRow(pair, sizes, missing, random);
    missing.cover(row);
    rows.push(row);
  }
  return rows;
}

/** A value of an axis. */
interface Choice {
  readonly axis: number;
  readonly value: number;
}

/** The pairs that no row has yet. */
class MissingPairs {
  private readonly keys = new Set<string>();

  constructor(sizes: readonly number[]) {
    for (const [first, many] of sizes.entries())
      for (let second = first + 1; second < sizes.length; second++)
        for (let a = 0; a < many; a++)
          for (let b = 0; b < (sizes[second] as number); b++)
            this.keys.add(keyOf({ axis: first, value: a }, { axis: second, value: b }));
  }

  any(): readonly [Choice, Choice] | null {
    for (const key of this.keys) {
      const [a = 0, x = 0, b = 0, y = 0] = key.split(" ").map(Number);
      return [
        { axis: a, value: x },
        { axis: b, value: y },
      ];
    }
    return null;
  }

  has(one: Choice, other: Choice): boolean {
    return this.keys.has(keyOf(one, other));
  }

  cover(row: readonly number[]): void {
    for (const [first, a] of row.entries())
      for (let second = first + 1; second < row.length; second++)
        this.keys.delete(keyOf({ axis: first, value: a }, { axis: second, value: row[second] as number }));
  }
}

function keyOf(one: Choice, other: Choice): string {
  const [first, second] = one.axis < other.axis ? [one, other] : [other, one];
  return `${first.axis} ${first.value} ${second.axis} ${second.value}`;
}

/** Chooses the value of each further axis that has most of the missing pairs with those chosen so far. */
function fillRow(
  pair: readonly [Choice, Choice],
  sizes: readonly number[],
  missing: MissingPairs,
  random: SeededRandom,
): number[] {
  const chosen: Choice[] = [...pair];
  for (const axis of shuffle(sizes.keys(), random)) {
    if (pair.some((one) => one.axis === axis)) continue;
    const offset = random.below(sizes[axis] as number);
    let best: Choice = { axis, value: offset };
    let most = -1;
    for (let step = 0; step < (sizes[axis] as number); step++) {
      const one = { axis, value: (offset + step) % (sizes[axis] as number) };
      const gained = chosen.filter((other) => missing.has(one, other)).length;
      if (gained > most) [best, most] = [one, gained];
    }
    chosen.push(best);
  }
  const row = new Array<number>(sizes.length).fill(0);
  for (const { axis, value } of chosen) row[axis] = value;
  return row;
}

function shuffle(items: Iterable<number>, random: SeededRandom): readonly number[] {
  const all = [...items];
  for (let at = all.length - 1; at > 0; at--) {
    const other = random.below(at + 1);
    [all[at], all[other]] = [all[other] as number, all[at] as number];
  }
  return all;
}
