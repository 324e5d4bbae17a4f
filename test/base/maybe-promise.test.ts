import { expect, test } from "bun:test";
import { chain } from "../../src/base/threads/maybe-promise.ts";

const double = (value: number) => 2 * value;

test("a value that is there is passed on within the call", () => {
  expect(chain(2, double)).toBe(4);
  expect(() =>
    chain(2, () => {
      throw new RangeError("too large");
    }),
  ).toThrow(RangeError);
});

test("a promised value is passed on when its promise resolves", async () => {
  const doubled = chain(Promise.resolve(2), double);
  expect(doubled).toBeInstanceOf(Promise);
  expect(await doubled).toBe(4);
});

test("a rejection is passed on without calling the next step", async () => {
  let calls = 0;
  const chained = chain(Promise.reject(new RangeError("too large")), () => ++calls);
  await expect(Promise.resolve(chained)).rejects.toThrow(RangeError);
  expect(calls).toBe(0);
});
