import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { fields, items, LEAF, memberOf, scanJson } from "../../src/wire/json/scan.ts";
import { setAside } from "../../src/wire/json/set-aside.ts";

const SHAPE = fields({ texts: items(LEAF) });

/** Sets the strings of `texts` aside. */
function shorten(json: string) {
  const bytes = Buffer.from(json);
  const text = bytes.toString("latin1");
  return { bytes, short: setAside(bytes, text, memberOf(scanJson(text, SHAPE), "texts")?.items ?? []) };
}

function parseShort(text: string): { texts: string[]; rest?: unknown } {
  return JSON.parse(Buffer.from(text, "latin1").toString("utf8"));
}

const long = (text: string) => text.repeat(Math.ceil(300 / text.length));

describe("setting strings aside", () => {
  test("gives a text that is as short as what is left, and prints all again", () => {
    const body = {
      texts: [long('Größe "x"\n\\'), "short", long("b"), long("→ not ASCII")],
      rest: { naïve: 1 },
    };
    const { short } = shorten(JSON.stringify(body));
    expect(short?.text.length).toBeLessThan(600);
    const read = parseShort(short!.text);
    expect(read.texts[1]).toBe("short");
    const moved = { said: [read.texts[2], `<a>\\${read.texts[0]}</a>`, read.texts[3]], rest: read.rest };
    expect(JSON.parse(short!.print(moved, false)!.toString())).toEqual({
      said: [body.texts[2], `<a>\\${body.texts[0]}</a>`, body.texts[3]],
      rest: body.rest,
    });
  });

  test("prints what any texts are, as JSON that says the same, into the client's bytes or its own", () => {
    const text = fc.string({ unit: "grapheme", maxLength: 12 }).map((word) => `x${word}`.repeat(60));
    fc.assert(
      fc.property(fc.array(text, { maxLength: 5 }), fc.boolean(), (texts, mayOverwrite) => {
        const { bytes, short } = shorten(JSON.stringify({ texts }));
        if (short === null) return;
        const printed = short.print(parseShort(short.text), mayOverwrite)!;
        expect(JSON.parse(printed.toString())).toEqual({ texts });
        expect(printed.buffer === bytes.buffer && printed.byteOffset === bytes.byteOffset).toBe(mayOverwrite);
      }),
      { numRuns: 300 },
    );
  });

  test.each([
    ["nothing is long", ["a", "b"]],
    ["a long one is blank", [" ".repeat(400)]],
    ["a long one might be blank", [long("\n")]],
    ["the character of the stand-ins is in it", [long("a"), "\u0001"]],
  ])("does nothing where %s", (_, texts) => {
    expect(shorten(JSON.stringify({ texts })).short).toBeNull();
  });

  test("prints nothing where a stand-in went into JSON within JSON, or is none of its own", () => {
    const { short } = shorten(JSON.stringify({ texts: [long("a")] }));
    const [standIn] = parseShort(short!.text).texts;
    expect(short!.print({ inner: JSON.stringify({ standIn }) }, false)).toBeNull();
    expect(short!.print({ inner: JSON.stringify(JSON.stringify({ standIn })) }, false)).toBeNull();
    expect(short!.print({ inner: "\u00017\u0001" }, false)).toBeNull();
    expect(short!.print({ inner: "\u00010" }, false)).toBeNull();
  });

  test("leaves the client's bytes alone where the print does not fit into them", () => {
    const { bytes, short } = shorten(JSON.stringify({ texts: [long("a")] }));
    const before = bytes.toString();
    const [standIn] = parseShort(short!.text).texts;
    const printed = short!.print({ twice: [standIn, standIn] }, true)!;
    expect(JSON.parse(printed.toString())).toEqual({ twice: [long("a"), long("a")] });
    expect(bytes.toString()).toBe(before);
  });
});
