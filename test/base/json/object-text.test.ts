import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { isObjectText, parsesAsObject } from "../../../src/base/json/object-text.ts";
import { items, LEAF, scanJson } from "../../../src/base/json/scan.ts";
import { shareOf } from "../../support/long-run.ts";

/** Compares both ways for a JSON string, and returns what they say. */
function isObject(json: string): boolean {
  const text = `[${Buffer.from(json, "utf8").toString("latin1")}, "x"]`;
  const node = scanJson(text, items(LEAF)).items![0]!;
  const expected = parsesAsObject(text, node);
  expect([json, isObjectText(text, node)]).toEqual([json, expected]);
  return expected;
}

const anyObject = fc.dictionary(fc.string({ unit: "grapheme" }), fc.jsonValue({ stringUnit: "grapheme" }));

describe("JSON within a string", () => {
  test("is recognized as an object if it was printed from one", () => {
    fc.assert(
      fc.property(anyObject, fc.constantFrom(undefined, 2, "\t"), (value, indent) => {
        expect(isObject(JSON.stringify(JSON.stringify(value, null, indent)))).toBe(true);
      }),
      { numRuns: shareOf(2_000, 1 / 5) },
    );
  });

  test("is not recognized as an object if it is any other value", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const json = JSON.stringify(JSON.stringify(value));
        expect(isObject(json)).toBe(typeof value === "object" && value !== null && !Array.isArray(value));
      }),
      { numRuns: shareOf(1_000, 1 / 5) },
    );
  });

  test("is classified as a parser does after any change of a character", () => {
    const change = fc.constantFrom(
      ...'{}[]:,0 1e.-tn"\\',
      '\\"',
      "\\\\",
      "\\n",
      "\\u0020",
      "\u0001",
      "é",
      "",
    );
    fc.assert(
      fc.property(anyObject, fc.nat(), fc.nat(3), change, (value, place, removed, insert) => {
        const json = JSON.stringify(JSON.stringify(value));
        const at = 1 + (place % (json.length - 1));
        const changed = `${json.slice(0, at)}${insert}${json.slice(at + removed, -1)}"`;
        fc.pre(isString(changed));
        isObject(changed);
      }),
      { numRuns: shareOf(10_000, 1 / 10) },
    );
  });

  test("is classified as a parser does for any sequence of its tokens", () => {
    const token = fc.constantFrom(
      ...["{", "}", "[", "]", ":", ",", " ", "\\n", "\\f", '\\"', "\\\\", "\\/", "\\u0041", "\\u007b"],
      ...[
        "\\\\u0041",
        "\\\\ud8",
        '\\\\\\"',
        "\\\\\\\\",
        "\\\\n",
        "\\\\x",
        '\\"a\\"',
        "1",
        "-",
        "01",
        "1e5",
        "true",
        "null",
      ],
    );
    fc.assert(
      fc.property(fc.array(token, { maxLength: 12 }), fc.boolean(), (tokens, isMember) => {
        const inner = tokens.join("");
        isObject(isMember ? `"{\\"a\\":${inner}}"` : `"{${inner}}"`);
      }),
      { numRuns: shareOf(20_000, 1 / 5) },
    );
  });

  test("is classified as a parser does where it is empty, nested deep or ends early", () => {
    const nested = (depth: number) => JSON.stringify(`${'{"a":['.repeat(depth)}1${"]}".repeat(depth)}`);
    for (const depth of [1, 15, 16, 17, 500]) expect(isObject(nested(depth))).toBe(true);
    for (const json of ['""', '" "', '"{"', '"{\\"a"', '"{\\"a\\":"', '"{\\"a\\":1"', '"{} {}"', '"{},"'])
      expect(isObject(json)).toBe(false);
    expect(isObject('"{}"')).toBe(true);
    expect(isObject('" {} \\n"')).toBe(true);
  });
});

/** Whether the text is one string for a scan, which does not check escapes. */
function isString(json: string): boolean {
  return /^"(?:[^"\\]|\\[\s\S])*"$/.test(json);
}
