import { describe, expect, test } from "bun:test";
import { BoundedMap } from "../../src/base/collections/bounded-map.ts";

function createMap(max: number) {
  const evicted: string[] = [];
  const map = new BoundedMap<string, number>({ max, onEvict: (key) => evicted.push(key) });
  return { map, evicted };
}

describe("a bounded map", () => {
  test("evicts its oldest entry when an insertion exceeds the bound", () => {
    const { map, evicted } = createMap(2);
    for (const key of ["a", "b", "c"]) map.set(key, 1);
    expect(evicted).toEqual(["a"]);
    expect([map.get("a"), map.get("b"), map.get("c")]).toEqual([undefined, 1, 1]);
    expect(map.size).toBe(2);
  });

  test("makes an entry the newest when it is set again or touched, but not when it is only read", () => {
    const { map, evicted } = createMap(3);
    for (const key of ["a", "b", "c"]) map.set(key, 1);
    map.set("a", 2);
    expect(map.touch("b")).toBe(1);
    map.get("c");
    map.set("d", 1);
    expect(evicted).toEqual(["c"]);
    expect(map.get("a")).toBe(2);
  });

  test("bounds the sum of the costs of its entries and evicts as many as a new one needs", () => {
    const { map, evicted } = createMap(10);
    map.set("a", 1, 4);
    map.set("b", 1, 4);
    map.set("c", 1, 8);
    expect(evicted).toEqual(["a", "b"]);
    expect(map.cost).toBe(8);
  });

  test("counts a replaced entry once, at its new cost", () => {
    const { map, evicted } = createMap(10);
    map.set("a", 1, 6);
    map.set("a", 2, 9);
    expect(evicted).toEqual([]);
    expect(map.cost).toBe(9);
  });

  test("does not keep an entry that alone exceeds the bound", () => {
    const { map, evicted } = createMap(10);
    map.set("large", 1, 11);
    expect(evicted).toEqual(["large"]);
    expect([map.size, map.cost]).toEqual([0, 0]);
  });

  test("reuses the room of deleted entries and does not report them as evicted", () => {
    const { map, evicted } = createMap(1);
    map.set("a", 1);
    expect([map.delete("a"), map.delete("a")]).toEqual([true, false]);
    map.set("b", 1);
    map.clear();
    map.set("c", 1);
    expect(evicted).toEqual([]);
    expect([map.size, map.cost]).toEqual([1, 1]);
  });
});
