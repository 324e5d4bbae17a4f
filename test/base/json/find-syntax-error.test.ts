import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { findBrokenUtf8 } from "../../../src/base/json/find-broken-utf8.ts";
import { findSyntaxError } from "../../../src/base/json/find-syntax-error.ts";

const latin1 = (text: string) => Buffer.from(text, "utf8").toString("latin1");

function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

describe("the search for a JSON syntax error", () => {
  test.each([
    ["", "the text ends too early at byte 0"],
    ['{"a": 1', 'expected "," or "}" at byte 7'],
    ['{"a": 1,}', "a comma with nothing after it at byte 7"],
    ["[1, 2,]", "a comma with nothing after it at byte 5"],
    ["[1 2]", 'expected "," or "]" at byte 3'],
    ['{"a" 1}', 'expected ":" at byte 5'],
    ["{'a': 1}", "expected a name in double quotes at byte 1"],
    ["{\"a\": 'b'}", "expected a value at byte 6"],
    ['{"a": tru}', "expected a value at byte 6"],
    ['{"a": truely}', "expected a value at byte 6"],
    ['{"a": 01}', "expected a value at byte 6"],
    ['{"a": NaN}', "expected a value at byte 6"],
    ['{"a": "b', "a string without its closing quote at byte 6"],
    ['{"a": "b\nc"}', "a line break or control character in a string, which must be escaped at byte 8"],
    ['{"a": "\\x"}', "a broken escape at byte 7"],
    ['{"ü": ?}', "expected a value at byte 7"],
    ["{} {}", "unexpected text after the value at byte 3"],
  ])("reports the error in %p and its byte", (text, message) => {
    expect(findSyntaxError(latin1(text))?.message).toBe(message);
  });

  test("finds an error exactly if a parser rejects the text, whatever was changed in it", () => {
    const mutated = fc
      .tuple(fc.json(), fc.nat(), fc.constantFrom("", ",", "]", "}", "{", '"', ":", "1", "\\", "\n", "e"))
      .map(([json, at, insert]) => {
        const position = at % (json.length + 1);
        return json.slice(0, position) + insert + json.slice(position + (at % 2));
      });
    fc.assert(
      fc.property(mutated, (text) => {
        expect([text, findSyntaxError(latin1(text)) === null]).toEqual([text, parses(text)]);
      }),
      { numRuns: 3_000 },
    );
  });

  test("does not overflow the stack at any depth", () => {
    expect(findSyntaxError("[".repeat(200_000))?.message).toBe("the text ends too early at byte 200000");
    expect(findSyntaxError("[".repeat(200_000) + "]".repeat(200_000))).toBeNull();
  });
});

describe("the search for the first byte that is not valid UTF-8", () => {
  test.each([
    [Buffer.from([0x61, 0xff, 0x61]), 1],
    [Buffer.from([0xc3, 0x28]), 0],
    [Buffer.from([0x61, 0xe2, 0x82]), 1],
    [Buffer.from([0xed, 0xa0, 0x80]), 0],
    [Buffer.from("Größe"), 7],
    [Buffer.alloc(0), 0],
  ])("finds the byte in %p", (bytes, position) => {
    expect(findBrokenUtf8(bytes)).toBe(position);
  });

  test("finds the byte after any amount of text in any script", () => {
    const text = fc
      .string({ unit: "grapheme", minLength: 1 })
      .map((word) => word.repeat(20_000).toWellFormed());
    fc.assert(
      fc.property(text, (valid) => {
        const bytes = Buffer.from(valid);
        expect(findBrokenUtf8(bytes)).toBe(bytes.length);
        expect(findBrokenUtf8(Buffer.concat([bytes, Buffer.from([0x80]), bytes]))).toBe(bytes.length);
      }),
      { numRuns: 30 },
    );
  });
});
