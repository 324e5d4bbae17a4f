import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { fields, items, LEAF, memberOf, scanJson } from "../../../src/base/json/scan.ts";
import { replaceLongStrings } from "../../../src/wire/fast/placeholders.ts";

const SHAPE = fields({ texts: items(LEAF) });

/** Replaces the long strings of `texts` by placeholders. */
function shorten(json: string) {
  const bytes = Buffer.from(json);
  const text = bytes.toString("latin1");
  return {
    bytes,
    short: replaceLongStrings({ bytes, text }, memberOf(scanJson(text, SHAPE), "texts")?.items ?? []),
  };
}

function parseShort(text: string): { texts: string[]; rest?: unknown } {
  return JSON.parse(Buffer.from(text, "latin1").toString("utf8"));
}

const long = (text: string) => text.repeat(Math.ceil(300 / text.length));

describe("the replacement of long strings by placeholders", () => {
  test("shortens the JSON, and printing restores every string even if it was moved", () => {
    const body = {
      texts: [long('Größe "x"\n\\'), "short", long("b"), long("→ not ASCII")],
      rest: { naïve: 1 },
    };
    const { short } = shorten(JSON.stringify(body));
    expect(short?.text.length).toBeLessThan(600);
    const read = parseShort(short!.text);
    expect(read.texts[1]).toBe("short");
    const moved = { list: [read.texts[2], `<a>\\${read.texts[0]}</a>`, read.texts[3]], rest: read.rest };
    expect(JSON.parse(short!.print(moved)!.toString())).toEqual({
      list: [body.texts[2], `<a>\\${body.texts[0]}</a>`, body.texts[3]],
      rest: body.rest,
    });
  });

  test("keeps the meaning of the JSON through parsing and printing, whatever the strings are", () => {
    const text = fc.string({ unit: "grapheme", maxLength: 12 }).map((word) => `x${word}`.repeat(60));
    fc.assert(
      fc.property(fc.array(text, { maxLength: 5 }), (texts) => {
        const { bytes, short } = shorten(JSON.stringify({ texts }));
        if (short === null) return;
        const before = bytes.toString();
        const printed = short.print(parseShort(short.text))!;
        expect(JSON.parse(printed.toString())).toEqual({ texts });
        expect(bytes.toString()).toBe(before);
      }),
      { numRuns: 300 },
    );
  });

  test.each([
    ["no string is long", ["a", "b"]],
    ["the only long string is blank", [" ".repeat(400)]],
    ["the only long string may be blank", [long("\n")]],
    ["the rest of the body contains the mark of the placeholders", [long("a"), "\u0001"]],
  ])("is not done if %s", (_, texts) => {
    expect(shorten(JSON.stringify({ texts })).short).toBeNull();
  });

  test("keeps a long string that contains the mark of the placeholders", () => {
    const body = { texts: [long("a \u0001"), "b", long("c \\u0001 \u00010\u0001")] };
    const { short } = shorten(JSON.stringify(body));
    expect(JSON.parse(short!.print(parseShort(short!.text))!.toString())).toEqual(body);
  });

  test("cannot be printed if a placeholder is in JSON within a string, or is unknown", () => {
    const { short } = shorten(JSON.stringify({ texts: [long("a")] }));
    const [placeholder] = parseShort(short!.text).texts;
    expect(short!.print({ inner: JSON.stringify({ placeholder }) })).toBeNull();
    expect(short!.print({ inner: JSON.stringify(JSON.stringify({ placeholder })) })).toBeNull();
    expect(short!.print({ inner: "\u00017\u0001" })).toBeNull();
    expect(short!.print({ inner: "\u00010" })).toBeNull();
    expect(short!.print({ inner: "\u0001\u0001" })).toBeNull();
    expect(short!.print({ inner: "\u0001x\u0001" })).toBeNull();
  });
});
