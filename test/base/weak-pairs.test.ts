import { expect, test } from "bun:test";
import { WeakPairs } from "../../src/base/collections/weak-pairs.ts";

test("an entry is found by both objects of its pair, in their order, and its value can be replaced", () => {
  const pairs = new WeakPairs<object, object, number | null>();
  const [a, b] = [{}, {}];
  pairs.set(a, b, 1);
  pairs.set(a, a, null);
  expect([pairs.get(a, b), pairs.get(a, a), pairs.get(b, a)]).toEqual([1, null, undefined]);
  pairs.set(a, b, 2);
  expect(pairs.get(a, b)).toBe(2);
});
