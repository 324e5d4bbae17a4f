import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { Linked, LinkedSet } from "../../src/base/collections/linked-set.ts";
import { countKept } from "../support/databases/count-kept.ts";

class Item extends Linked {
  constructor(readonly number: number) {
    super();
  }
}

describe("a linked set", () => {
  test("has the same objects in the same order as a Set after any additions and removals", () => {
    const steps = fc.array(fc.record({ isAddition: fc.boolean(), number: fc.nat({ max: 9 }) }));
    fc.assert(
      fc.property(steps, (chosen) => {
        const items = Array.from({ length: 10 }, (_, number) => new Item(number));
        const set = new LinkedSet<Item>();
        const expected = new Set<Item>();
        for (const { isAddition, number } of chosen) {
          const item = items[number] as Item;
          if (!isAddition) expect(set.delete(item)).toBe(expected.delete(item));
          else if (!expected.has(item)) {
            set.add(item);
            expected.add(item);
          }
          const [first = null] = expected;
          expect({ size: set.size, first: set.first, items: [...set] }).toEqual({
            size: expected.size,
            first,
            items: [...expected],
          });
        }
      }),
    );
  });

  test("can be changed while it is iterated", () => {
    const set = new LinkedSet<Item>();
    for (const number of [1, 2, 3]) set.add(new Item(number));
    const seen: number[] = [];
    for (const item of set) {
      seen.push(item.number);
      set.delete(item);
    }
    expect({ seen, size: set.size }).toEqual({ seen: [1, 2, 3], size: 0 });
  });

  test("lets a collection of young objects free what was removed from it", () => {
    const set = new LinkedSet<Item & { kept?: object }>();
    const kept = countKept((payload) => {
      set.add(Object.assign(new Item(0), { kept: payload }));
      if (set.size > 16 && set.first !== null) set.delete(set.first);
    });
    expect(kept).toBeLessThan(100);
  });
});
