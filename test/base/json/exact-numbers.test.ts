import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { parseArgumentsExactly, parseWithCalls } from "../../../src/base/json/exact-numbers.ts";

const LONG = "1234567890123456789";

describe("parsing with exact numbers", () => {
  test.each([
    ["an integer", LONG],
    ["a fraction", "0.12345678901234567890"],
    ["a negative number", "-98765432109876543210"],
    ["a number that is too large", "12345678901234567e400"],
    ["a number that is too small", "1234567890123456789e-400"],
  ])("prints arguments with %s as they came", (_, number) => {
    const text = `{"a":[${number}],"b":{"":${number}}}`;
    expect(JSON.stringify(parseArgumentsExactly(text))).toBe(text);
  });

  test.each([
    "0.30000000000000004",
    "1.7976931348623157e+308",
    "1732600000123456",
    "1.50000000000000000",
    "-0.0000000000000000",
  ])("reads %s as the runtime's number, which is the same", (number) => {
    expect(parseArgumentsExactly(`[${number}]`)).toEqual([Number(number)]);
  });

  test("reads numbers outside of a call's arguments as the runtime's", () => {
    const read = parseWithCalls(
      `{"seed":${LONG},"input":${LONG},"list":[{"name":"f","input":{"id":${LONG}},"at":${LONG}}]}`,
    );
    expect(read).toMatchObject({
      seed: Number(LONG),
      input: Number(LONG),
      list: [{ name: "f", at: Number(LONG) }],
    });
    expect(JSON.stringify((read as { list: unknown[] }).list)).toContain(`{"id":${LONG}}`);
  });

  test("gives a lone number as the runtime's, which is no object", () => {
    expect(parseArgumentsExactly(LONG)).toBe(Number(LONG));
  });

  test("prints arguments with a number of half a million digits as they came", () => {
    const text = `{"a":0.1${"0".repeat(500_000)}1}`;
    expect(JSON.stringify(parseArgumentsExactly(text)) === text).toBe(true);
  });

  test("keeps the value of every number and of everything else", () => {
    const number = fc.stringMatching(/^-?(0|[1-9][0-9]{0,24})(\.[0-9]{1,24})?([eE][+-]?[0-9]{1,2})?$/);
    fc.assert(
      fc.property(number, fc.jsonValue(), (number, other) => {
        const text = JSON.stringify({ name: "f", args: ["NUMBER"], other }).replace('"NUMBER"', number);
        const printed = JSON.stringify(parseWithCalls(text));
        expect(JSON.stringify(JSON.parse(printed))).toBe(JSON.stringify(JSON.parse(text)));
      }),
      { numRuns: 500 },
    );
  });
});
