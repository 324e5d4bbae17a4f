import { expect, test } from "bun:test";
import fc from "fast-check";
import { SumMap } from "../../src/core/usage/reports/sum-map.ts";
import { USAGE_OUTCOMES } from "../../src/core/usage/reports/usage-sum-key.ts";

const text = fc.constantFrom("", "a", "b");
const number = fc.constantFrom(0, 1);
const keys = fc.record({
  ...{ day: number, hour: number, accountId: text, keyId: text, userId: text },
  ...{ model: text, provider: text, outcome: fc.constantFrom(...USAGE_OUTCOMES.slice(0, 3)) },
});

test("sums are found by all of their dimensions, as by a text of them", () => {
  fc.assert(
    fc.property(fc.array(keys, { maxLength: 200 }), (added) => {
      const sums = new SumMap<{ readonly key: (typeof added)[number]; count: number }>();
      const counts = new Map<string, number>();
      for (const key of added) {
        const name = JSON.stringify(key);
        counts.set(name, (counts.get(name) ?? 0) + 1);
        const sum = sums.get(key);
        if (sum === undefined) sums.add({ key, count: 1 });
        else sum.count += 1;
      }
      expect(sums.size).toBe(counts.size);
      const taken = sums.takeAll().map(({ key, count }): [string, number] => [JSON.stringify(key), count]);
      expect(new Map(taken)).toEqual(counts);
      expect(sums.size).toBe(0);
      expect(added.every((key) => sums.get(key) === undefined)).toBe(true);
    }),
  );
});
