import { describe, expect, test } from "bun:test";
import { createIdSource, lowestIdAt, readIdTime } from "../../src/base/ids.ts";
import { createSystemRandom } from "../../src/base/random.ts";
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
