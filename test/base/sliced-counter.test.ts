import { describe, expect, test } from "bun:test";
import { SlicedCounter } from "../../src/base/numbers/sliced-counter.ts";

const createCounter = () => new SlicedCounter({ sliceMs: 1_000, slices: 3 });

describe("a sliced counter", () => {
  test("counts events until their slice leaves the window", () => {
    const counter = createCounter();
    counter.add(10_000);
    counter.add(10_999, 4);
    counter.add(11_500);
    expect(counter.sum(12_999)).toBe(6);
    expect(counter.sum(13_000)).toBe(1);
    expect(counter.sum(14_000)).toBe(0);
  });

  test("counts the events of its last slices", () => {
    const counter = createCounter();
    counter.add(10_000);
    counter.add(11_000, 2);
    counter.add(12_000, 4);
    expect([1, 2, 3, 9].map((slices) => counter.sumLast(12_500, slices))).toEqual([4, 6, 7, 7]);
    expect(counter.sumLast(14_000, 2)).toBe(0);
    expect(counter.sumLast(14_000, 3)).toBe(4);
  });

  test("is empty after a pause longer than the window", () => {
    const counter = createCounter();
    counter.add(10_000);
    expect(counter.sum(1_000_000)).toBe(0);
    counter.add(1_000_000);
    expect(counter.sum(1_000_000)).toBe(1);
  });

  test("counts an event as of the latest time seen when the clock goes back", () => {
    const counter = createCounter();
    counter.add(20_000);
    counter.add(10_000);
    expect(counter.sum(10_000)).toBe(2);
    expect(counter.sum(22_999)).toBe(2);
    expect(counter.sum(23_000)).toBe(0);
  });

  test("is empty after it was cleared", () => {
    const counter = createCounter();
    counter.add(10_000);
    counter.clear();
    expect(counter.sum(10_000)).toBe(0);
  });
});
