import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { PassingMap } from "../../src/base/collections/passing-map.ts";
import { countKept } from "../support/databases/count-kept.ts";

describe("a passing map", () => {
  test("has the same entries in the same order as a Map after any changes", () => {
    const steps = fc.array(fc.record({ isRemoval: fc.boolean(), key: fc.nat({ max: 40 }) }), {
      maxLength: 400,
    });
    fc.assert(
      fc.property(steps, (chosen) => {
        const map = new PassingMap<number, number>();
        const expected = new Map<number, number>();
        for (const [at, { isRemoval, key }] of chosen.entries()) {
          if (isRemoval) expect(map.delete(key)).toBe(expected.delete(key));
          else {
            map.set(key, at);
            expected.set(key, at);
          }
          expect({ size: map.size, has: map.has(key), value: map.get(key) }).toEqual({
            size: expected.size,
            has: expected.has(key),
            value: expected.get(key),
          });
        }
        expect([...map]).toEqual([...expected]);
        expect([...map.values()]).toEqual([...expected.values()]);
      }),
    );
  });

  test("lists every value once if each is removed while it is listed", () => {
    const map = new PassingMap<number, number>();
    for (let key = 0; key < 100; key++) map.set(key, key);
    const seen: number[] = [];
    for (const value of map.values()) {
      seen.push(value);
      map.delete(value);
    }
    expect({ seen, size: map.size }).toEqual({ seen: Array.from({ length: 100 }, (_, key) => key), size: 0 });
  });

  test("lets a collection of young objects free what was removed from it", () => {
    const map = new PassingMap<number, object>();
    let next = 0;
    const kept = countKept((payload) => {
      map.set(next, payload);
      map.delete(next - 16);
      next += 1;
    });
    expect(kept).toBeLessThan(200);
  });
});
