import { expect, test } from "bun:test";
import fc from "fast-check";
import { ByteOutput } from "../../../src/base/text/byte-output.ts";
import { appendUnescaped } from "../../../src/wire/fast/unescape.ts";
import { JsonSyntaxError, LEAF, scanJson } from "../../../src/wire/json/scan.ts";

/** Returns what the value of a JSON string is appended as. */
function readBack(json: string): string {
  const bytes = Buffer.from(json);
  const text = bytes.toString("latin1");
  const output = new ByteOutput();
  output.appendAscii("before ");
  appendUnescaped(output, { bytes, text, node: scanJson(text, LEAF) });
  output.appendAscii(" behind");
  return output.take().toString();
}

test("a JSON string is appended as its value in UTF-8, whatever it contains", () => {
  const pieces = fc.array(
    fc.oneof(fc.constantFrom('"', "\\", "/", "\n", "\t", "\b", "\f", "\r", "\u0001", "😀"), fc.string()),
  );
  fc.assert(
    fc.property(pieces, (list) => {
      const value = list.join("");
      expect(readBack(JSON.stringify(value))).toBe(`before ${Buffer.from(value).toString()} behind`);
    }),
    { numRuns: 2_000 },
  );
});

test("escapes that no printer writes are decoded as well", () => {
  expect(readBack('"\\u0061\\/\\ud83d\\ude00"')).toBe("before a/😀 behind");
});

test("a malformed escape and a control character are syntax errors", () => {
  for (const json of ['"\\x"', '"\\u12"', '"a\nb"']) expect(() => readBack(json)).toThrow(JsonSyntaxError);
});
