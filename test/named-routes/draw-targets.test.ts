import { describe, expect, test } from "bun:test";
import { drawTargets, type WeightedTarget } from "../../src/core/named-routes/draw-targets.ts";
import { createSeededRandom } from "../support/seeded-random.ts";

const SESSIONS = 20_000;

/** Keys like those of sessions: hashes that differ in all their characters. */
function makeKeys(seed: number, count = SESSIONS): string[] {
  const random = createSeededRandom(seed);
  return Array.from(
    { length: count },
    () => `${random.next().toString(36)}${random.next().toString(36)} mix`,
  );
}

const targets = (...weights: readonly number[]): WeightedTarget[] =>
  weights.map((weight, at) => ({ model: `acme/model-${at}`, weight }));

const firstOf = (key: string, of: readonly WeightedTarget[]) => drawTargets(key, of)[0]?.model as string;

/** Whether a count of a binomial distribution is within five standard deviations, which random counts leave twice in a million. */
function expectShare(count: number, of: number, share: number): void {
  expect(Math.abs(count - of * share)).toBeLessThan(5 * Math.sqrt(of * share * (1 - share)));
}

describe("a draw by weight", () => {
  test.each([[[90, 10]], [[1, 1]], [[1, 99]], [[5, 3, 2]], [[1_000_000, 1]], [[7, 0, 7]]])(
    "has each target first in proportion to the weights %p",
    (weights) => {
      const of = targets(...weights);
      const sum = weights.reduce((a, b) => a + b, 0);
      for (const seed of [1, 2, 3]) {
        const counts = Map.groupBy(makeKeys(seed), (key) => firstOf(key, of));
        for (const { model, weight } of of) {
          const count = counts.get(model)?.length ?? 0;
          if (weight === 0) expect(count).toBe(0);
          else expectShare(count, SESSIONS, weight / sum);
        }
      }
    },
  );

  test("orders the rest in proportion to their weights as well", () => {
    const of = targets(90, 8, 2);
    const afterFirst = makeKeys(4)
      .map((key) => drawTargets(key, of))
      .filter(([first]) => first === of[0]);
    expectShare(afterFirst.filter(([, second]) => second === of[1]).length, afterFirst.length, 0.8);
  });

  test("gives a key the same order always, whatever the order of the targets", () => {
    const of = targets(5, 3, 2);
    for (const key of makeKeys(5, 500)) {
      const drawn = drawTargets(key, of).map(({ model }) => model);
      expect(drawTargets(key, of.toReversed()).map(({ model }) => model)).toEqual(drawn);
    }
  });

  test("has targets of weight 0 last, in their order", () => {
    for (const key of makeKeys(6, 200))
      expect(
        drawTargets(key, targets(0, 4, 0, 6))
          .slice(2)
          .map(({ model }) => model),
      ).toEqual(["acme/model-0", "acme/model-2"]);
  });

  test("moves keys only to the target whose weight is raised, and as many as the shares say", () => {
    const keys = makeKeys(7);
    const [before, after] = [targets(90, 10), targets(90, 30)];
    const moved = keys.filter((key) => firstOf(key, before) !== firstOf(key, after));
    for (const key of moved) expect(firstOf(key, after)).toBe("acme/model-1");
    expectShare(moved.length, SESSIONS, 30 / 120 - 10 / 100);
  });

  test("is independent for keys of different groups", () => {
    const of = targets(1, 1);
    const keys = makeKeys(8);
    const same = keys.filter((key) => firstOf(key, of) === firstOf(`${key} other`, of));
    expectShare(same.length, SESSIONS, 0.5);
  });
});
