import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import {
  closingQuote,
  decodeUtf8,
  endOfNumber,
  fields,
  items,
  JsonBoundError,
  JsonSyntaxError,
  LEAF,
  marked,
  memberOf,
  numberOf,
  parseNode,
  scanCounting,
  scanJson,
  stringOf,
} from "../../../src/base/json/scan.ts";
import { appendMember, applySplices, removeMembers } from "../../../src/base/json/splice.ts";
import { BOUNDS } from "../../../src/base/numbers/bounds.ts";
import { shareOf } from "../../support/long-run.ts";

const latin1 = (text: string) => Buffer.from(text, "utf8").toString("latin1");
const DEEP = fields({ a: fields({ b: LEAF }), list: items(fields({ b: LEAF })) });

/** Objects with the members of the shape, other members, and strings that need escapes. */
const anyObject = fc.dictionary(
  fc.oneof(fc.constantFrom("a", "b", "list", "model"), fc.string({ unit: "grapheme" })),
  fc.jsonValue({ stringUnit: "grapheme" }),
  { maxKeys: 8 },
);

describe("the JSON scan", () => {
  test("finds the position of every named member of any JSON object", () => {
    fc.assert(
      fc.property(anyObject, fc.constantFrom(undefined, 2, "\t"), (value, indent) => {
        const text = latin1(JSON.stringify(value, null, indent));
        const root = scanJson(text, DEEP);
        for (const key of ["a", "list"] as const) {
          const node = memberOf(root, key);
          expect(node === undefined).toBe(!Object.hasOwn(value, key));
          if (node !== undefined)
            expect(parseNode(text, node)).toEqual(JSON.parse(JSON.stringify(value[key])));
        }
      }),
      { numRuns: shareOf(2_000, 1 / 5) },
    );
  });

  test("throws only syntax errors, whatever the text is", () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        let thrown: unknown = null;
        try {
          scanJson(text, DEEP);
        } catch (error) {
          thrown = error;
        }
        expect(thrown === null || thrown instanceof JsonSyntaxError).toBe(true);
      }),
      { numRuns: shareOf(5_000, 1 / 5) },
    );
  });

  test("rejects what a parser rejects, in the values that it does not skip", () => {
    const broken = [
      '{"a":}',
      '{"a" 1}',
      '{"a":1,}',
      "{a:1}",
      '{"a":01}',
      '{"list":[1,]}',
      '{"a":tru}',
      "",
      "{",
      "[1",
      '{"a":1}x',
    ];
    for (const text of broken) expect(() => scanJson(text, DEEP)).toThrow(JsonSyntaxError);
  });

  test("rejects a duplicate of a named member, because parsers disagree on which one counts", () => {
    expect(() => scanJson('{"a":1,"a":2}', DEEP)).toThrow('"a" stands twice');
    expect(() => scanJson('{"a":1,"\\u0061":2}', DEEP)).toThrow('"a" stands twice');
    expect(scanJson('{"x":1,"x":2}', DEEP).kind).toBe("object");
  });

  test("passes whitespace of any length and kind, between values and at the end", () => {
    for (const kind of [" ", "\n", " \t\r\n"]) {
      for (let length = 0; length < 200; length++) {
        const blanks = kind.repeat(length);
        const text = `${blanks}{${blanks}"a"${blanks}:${blanks}{"b":1}${blanks},"list"${blanks}:[]}${blanks}`;
        const root = scanJson(text, DEEP);
        expect([root.start, root.end]).toEqual([blanks.length, text.length - blanks.length]);
        expect(parseNode(text, memberOf(root, "a") as typeof root)).toEqual({ b: 1 });
        expect(() => scanJson(`{"a":${blanks}`, DEEP)).toThrow(JsonSyntaxError);
        expect(() => scanJson(`{}${blanks}x`, DEEP)).toThrow(JsonSyntaxError);
      }
    }
  });

  test("reads strings with escapes and other scripts", () => {
    const text = latin1(JSON.stringify({ a: 'quote " backslash \\ tab \t snow ☃ ' }));
    expect(stringOf(text, memberOf(scanJson(text, DEEP), "a"))).toBe('quote " backslash \\ tab \t snow ☃ ');
  });

  const nested = (depth: number, inner = "") => `${"[".repeat(depth)}${inner}${"]".repeat(depth)}`;

  test.each([
    ["a value that it skips", (depth: number) => `{"x":${nested(depth - 1)},"a":1}`],
    ["a value that it does not skip", (depth: number) => `{"list":[{"b":${nested(depth - 3)}}],"a":1}`],
  ])("accepts %s up to the bound of nesting, and rejects one level more", (_what, make) => {
    const { jsonDepth } = BOUNDS;
    expect(memberOf(scanJson(make(jsonDepth), DEEP), "a")?.kind).toBe("number");
    expect(() => scanJson(make(jsonDepth + 1), DEEP)).toThrow(JsonBoundError);
  });

  test("finds the end of a number where the grammar of JSON does, whatever follows it", () => {
    const grammar = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/;
    fc.assert(
      fc.property(fc.string({ unit: fc.constantFrom(..."0019-+.eE,} a"), maxLength: 12 }), (text) => {
        expect(endOfNumber(text, 0)).toBe(grammar.exec(text)?.[0].length ?? 0);
      }),
      { numRuns: shareOf(2_000, 1 / 5) },
    );
  });

  test("reads a number as the runtime does, with any number of digits", () => {
    const digits = fc.string({ unit: fc.constantFrom(..."0123456789"), minLength: 1, maxLength: 20 });
    const number = fc.oneof(fc.double({ noNaN: true, noDefaultInfinity: true }), fc.maxSafeInteger(), digits);
    fc.assert(
      fc.property(number, (value) => {
        const text = String(value).replace(/^0+(?=\d)/, "");
        expect(numberOf(text, scanJson(text, LEAF))).toBe(Number(text));
      }),
    );
  });

  test("reports the marks of the values that it finds, and of no others", () => {
    const shape = fields({ a: marked(1), b: marked(2, items(marked(4, fields({ c: marked(8) })))) });
    const marksOf = (value: unknown) => scanCounting(JSON.stringify(value), shape).marks;
    expect(marksOf({})).toBe(0);
    expect(marksOf({ x: { a: 1 } })).toBe(0);
    expect(marksOf({ a: null })).toBe(1);
    expect(marksOf({ b: [] })).toBe(2);
    expect(marksOf({ b: ["c", { a: 1 }] })).toBe(2 | 4);
    expect(marksOf({ b: [{ c: 1 }], a: 1 })).toBe(15);
  });

  test("rejects a text with 200,000 levels of nesting at the first level beyond the bound", () => {
    expect(() => scanJson(nested(200_000), DEEP)).toThrow(
      `more than ${BOUNDS.jsonDepth} levels of nesting at byte ${BOUNDS.jsonDepth}`,
    );
  });

  test("counts at least as many values as a text has, and at most twice as many", () => {
    const count = (value: unknown): number =>
      typeof value !== "object" || value === null
        ? 1
        : Object.values(value).reduce<number>((sum, inner) => sum + count(inner), 1);
    fc.assert(
      fc.property(anyObject, (value) => {
        const text = JSON.stringify(value);
        const { values } = scanCounting(latin1(text), DEEP);
        const actual = count(JSON.parse(text));
        expect(values).toBeGreaterThanOrEqual(actual);
        expect(values).toBeLessThanOrEqual(2 * actual);
      }),
      { numRuns: shareOf(500, 1 / 5) },
    );
  });

  test("rejects a text with more values than the bound, in skipped and in other values", () => {
    for (const text of ['{"x":[1,2,3,4]}', '{"list":[1,2,3,4]}', '{"p":1,"q":2,"r":3,"s":4}']) {
      expect(scanCounting(text, DEEP, 20).values).toBeLessThanOrEqual(8);
      expect(() => scanCounting(text, DEEP, 3)).toThrow("more than 3 values");
    }
  });

  test("rejects a backslash outside of a string in a skipped value", () => {
    expect(() => scanCounting('{"skipped":{\\"a":1},"a":{"b":2}}', DEEP)).toThrow(
      "a backslash outside of a string at byte 12",
    );
  });

  test("finds the end of any string, even if it contains many escaped quotes", () => {
    const escaped = fc.array(
      fc.constantFrom('\\"', "\\\\", "\\n", "a", "word", "a longer word", "word ".repeat(12)),
      {
        maxLength: 60,
      },
    );
    fc.assert(
      fc.property(escaped, (pieces) => {
        const inner = pieces.join("");
        expect(closingQuote(`"${inner}",\\"`, 1)).toBe(1 + inner.length);
        expect(closingQuote(`"${inner}`, 1)).toBe(-1);
      }),
      { numRuns: shareOf(3_000, 1 / 5) },
    );
  });
});

describe("splices", () => {
  const KEYS = ["k0", "k1", "k2", "k3", "k4", "k5"];
  const shape = fields(Object.fromEntries(KEYS.map((key) => [key, LEAF])));

  test("remove any members of an object that keeps one, with their commas", () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.constantFrom(...KEYS, "other", "more"), { minLength: 2 }),
        fc.func(fc.boolean()),
        fc.constantFrom(undefined, 1),
        (keys, choose, indent) => {
          const value = Object.fromEntries(keys.map((key, at) => [key, { at, text: "ü,}" }]));
          const removable = keys.slice(1).filter((key) => KEYS.includes(key));
          const removed = new Set(removable.filter((key) => choose(key)));
          const bytes = Buffer.from(JSON.stringify(value, null, indent), "utf8");
          const text = bytes.toString("latin1");
          const root = scanJson(text, shape);
          const result = applySplices(bytes, [
            ...removeMembers(text, root, removed),
            appendMember(root, "new", "[1]"),
          ]);
          const expected = Object.fromEntries(Object.entries(value).filter(([key]) => !removed.has(key)));
          expect(JSON.parse(result.toString("utf8"))).toEqual({ ...expected, new: [1] });
        },
      ),
      { numRuns: shareOf(2_000, 1 / 5) },
    );
  });

  test("return the same bytes if there are none", () => {
    const bytes = Buffer.from('{"a": 1}');
    expect(applySplices(bytes, [])).toBe(bytes);
    expect(decodeUtf8(latin1("☃"))).toBe("☃");
  });
});
