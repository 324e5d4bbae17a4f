import { expect, test } from "bun:test";
import { nearestNames } from "../../src/base/text/nearest-names.ts";

const NAMES = ["port", "host", "processes", "drain_ms", "api_keys", "total_body_bytes"];

test.each([
  ["two letters are swapped", "prot", ["port"]],
  ["a letter is missing", "api_key", ["api_keys"]],
  ["a letter is added", "prroccesses", ["processes"]],
  ["the case differs", "HOST", ["host"]],
  ["only a whole part of the name is written", "drain", ["drain_ms"]],
  ["nothing is similar", "weather", []],
])("a name is suggested if %s", (_name, wanted, expected) => {
  expect(nearestNames(wanted, NAMES, 3)).toEqual(expected);
});

test("a name of a million letters is compared by its beginning only", () => {
  expect(nearestNames("x".repeat(1_000_000), NAMES, 3)).toEqual([]);
});
