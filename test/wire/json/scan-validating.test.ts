import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { BOUNDS } from "../../../src/base/numbers/bounds.ts";
import { parseBodyText } from "../../../src/wire/json/parse-json.ts";
import { allFields, fields, items, LEAF, type Shape, scanCounting } from "../../../src/wire/json/scan.ts";
import { scanValidating } from "../../../src/wire/json/scan-validating.ts";
import { shareOf } from "../../support/long-run.ts";

const SHAPE = allFields({ a: fields({ b: LEAF }), list: items(fields({ b: LEAF })) });

/** The reference: parses the whole text before it is scanned. */
function parseAndScan(text: string, shape: Shape) {
  parseBodyText(Buffer.from(text, "latin1").toString("utf8"), text);
  return scanCounting(text, shape, BOUNDS.jsonValues);
}

/** Returns what a function returns or throws. */
function resultOf(read: () => unknown): unknown {
  try {
    return read();
  } catch (error) {
    return String(error);
  }
}

const anyText = fc.oneof(
  fc.string({ unit: "grapheme" }),
  fc.constantFrom("\\", '\\"', "\n", "C:\\new\\dir", "\u0000", "\u2028", "\\u00e4"),
);
const anyValue = fc.oneof(
  fc.jsonValue({ stringUnit: "grapheme" }),
  fc.dictionary(
    fc.constantFrom("a", "b", "list", "other"),
    fc.oneof(
      anyText,
      fc.dictionary(fc.constantFrom("b", "c"), anyText),
      fc.array(fc.dictionary(fc.constant("b"), anyText)),
    ),
  ),
);
const CHANGES = [
  "",
  ",",
  "]",
  "}",
  "{",
  '"',
  ":",
  "1",
  "0",
  "-",
  ".",
  "\\",
  "\\q",
  "\\u12",
  "\n",
  "\u0001",
  "e",
  "true",
  '"a":1,',
];

describe("a scan that validates", () => {
  test("gives the result or the error that parsing before the scan gives, whatever was changed in a text", () => {
    const mutated = fc
      .tuple(anyValue, fc.constantFrom(undefined, 1), fc.nat(), fc.constantFrom(...CHANGES))
      .map(([value, indent, at, insert]) => {
        const json = JSON.stringify(value, null, indent);
        const position = at % (json.length + 1);
        return json.slice(0, position) + insert + json.slice(position + (at % 3));
      });
    fc.assert(
      fc.property(mutated, (json) => {
        const text = Buffer.from(json).toString("latin1");
        const found = resultOf(() => scanValidating(text, SHAPE));
        expect(found).toEqual(resultOf(() => parseAndScan(text, SHAPE)));
      }),
      { numRuns: shareOf(5_000, 1 / 10) },
    );
  });

  test.each([
    ['{"a":{"b":"\\x"}}', "a broken escape at byte 11"],
    ['{"other":[1,]}', "a comma with nothing after it at byte 11"],
    ['{"a":1,"a":2}', '"a" stands twice in one object at byte 7'],
    ['{"a":1,"a":2', 'expected "," or "}" at byte 12'],
    ['{"b":"\u0001"}', "a line break or control character in a string, which must be escaped at byte 6"],
  ])("describes the error in %p", (text, message) => {
    expect(() => scanValidating(text, SHAPE)).toThrow(message);
  });
});
