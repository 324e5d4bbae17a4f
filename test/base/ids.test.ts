import { describe, expect, test } from "bun:test";
import { createIdSource, lowestIdAt, readIdTime } from "../../src/base/secrets/ids.ts";
import { createSystemRandom } from "../../src/base/secrets/random.ts";
import { createTestClock } from "../support/test-clock.ts";

describe("the time in an id", () => {
  test.each([0, 1, 1_700_000_000_000, 253_402_300_799_999])(
    "is the time %d at which it was generated",
    (ms) => {
      const id = createIdSource(createTestClock(ms), createSystemRandom()).next("gen");
      expect(readIdTime(id)).toBe(ms);
      expect(id >= lowestIdAt("gen", ms)).toBe(true);
      expect(id < lowestIdAt("gen", ms + 1)).toBe(true);
    },
  );

  test.each([
    "gen_1",
    "gen",
    "",
    "_01jd0000000000000000000000",
    "gen_01JD0000000000000000000000",
    "gen_é1jd000000000000",
  ])("is null for %p, which no source generates", (id) => expect(readIdTime(id)).toBeNull());

  test("is null for a time after the year 9999", () => {
    expect(readIdTime("gen_zzzzzzzzzz0000000000000000")).toBeNull();
  });
});

describe("ids of one millisecond", () => {
  const MS = 1_700_000_000_000;

  test("sort in the order in which one source generated them, up to 1,024, and before those of the next millisecond", () => {
    const clock = createTestClock(MS);
    const ids = createIdSource(clock, createSystemRandom());
    const generated = Array.from({ length: 1024 }, () => ids.next("gen"));
    clock.advance(1);
    generated.push(ids.next("gen"));
    expect(generated.toSorted()).toEqual(generated);
  });

  test("differ and keep their time and length beyond 1,024", () => {
    const ids = createIdSource(createTestClock(MS), createSystemRandom());
    const generated = Array.from({ length: 5000 }, () => ids.next("gen"));
    expect(new Set(generated).size).toBe(5000);
    expect(new Set(generated.map((id) => id.length))).toEqual(new Set(["gen_".length + 26]));
    expect(new Set(generated.map(readIdTime))).toEqual(new Set([MS]));
  });

  test("of two sources differ", () => {
    const clock = createTestClock(MS);
    const random = createSystemRandom();
    expect(createIdSource(clock, random).next("gen")).not.toBe(createIdSource(clock, random).next("gen"));
  });
});
